//! `respond`: one chunk a frame over the answer of `POST /api/respond/stream`, each with a `done`
//! flag (seed of `respond`; `respond` 1, 2 and 5).
//!
//! Decided where the documents are silent:
//!
//! - Text that was never streamed is said as `text` when its message comes, since no chunk holds
//!   authoritative text; where another text was streamed, `done` carries `text` (a field of ours).
//! - `tool_start` is said by `tool_call_started` and `tool_call_completed`, unless the model's own
//!   events did so.
//! - A stopped turn has no chunk: the stream closes (`respond` 2, *Abort*). A host that stopped it
//!   knows; every other reader takes the end of the stream as a loss (A5).
//! - `assistant_message_id`, `tool_execution` and the deltas that only the lifecycle draws (A3) are
//!   data without effect.

use alloc::boxed::Box;

use super::client::ClientSpec;
use super::{Carriage, ChannelSpec, Disconnect, Spec};
use crate::event::{
    Authoritative, Channel, Eof, EventKind, OnResync, Orphan, Pairing, Rules, Severities, Severity,
    SideChannel,
};
use crate::request::{EVENT_STREAM, FieldType, Headers, RequestSpec, RouteSpec, Streams};
use crate::text::is_blank;
use crate::wire::Framing;

mod decode;
mod encode;

/// The starts of the chunks that stream text, as most servers write them.
const TEXT_HEAD: &str = r#"{"type":"text","text":"#;
const THINKING_HEAD: &str = r#"{"type":"thinking","text":"#;

const RULES: Rules = Rules {
    pairing: Pairing::Id,
    orphan: Orphan::FindThenNewCard,
    authoritative: Authoritative::PatchSegment,
    eof_turn: Eof::Lost,
    eof_events: Eof::NotATurn,
    side_channel: SideChannel::None,
    resync: OnResync::Rebuild,
    question_outlives_turn: true,
    keep_pending_on_end: false,
    makes_call_ids: true,
    trailer: false,
    severities: Severities {
        before_start: Severity::Allowed,
        orphan: Severity::Warning,
        open_at_end: Severity::Warning,
        no_terminal: Severity::Warning,
    },
};

/// The headers of the seed, and one that keeps a proxy from holding events back.
const HEADERS: Headers = &[
    ("content-type", EVENT_STREAM),
    ("cache-control", "no-cache"),
    ("connection", "keep-alive"),
    ("x-accel-buffering", "no"),
];

pub(super) static SPEC: Spec = Spec {
    name: "respond",
    rules: RULES,
    channels: &[ChannelSpec {
        channel: Channel::Turn,
        framing: Framing::Sse,
        headers: HEADERS,
        lenient_eof: false,
    }],
    requests: RequestSpec {
        codes: CODES,
        ..RequestSpec::new(
            Streams::Always,
            &[RouteSpec {
                model: Some("modelId"),
                session: Some("chatId"),
                session_required: true,
                fields: &[
                    ("thinkingEnabled", FieldType::Bool),
                    ("reasoningEffort", FieldType::Text),
                    ("toolIntent", FieldType::Bool),
                    ("attachmentIds", FieldType::Texts),
                ],
                ..RouteSpec::new("turn", "prompt")
            }],
            "error",
        )
    },
    client: ClientSpec {
        turn_accept: EVENT_STREAM,
        turn_body: |ask, body| {
            body.str("chatId", ask.session_id).str("prompt", ask.prompt);
            body.opt_str("modelId", Some(ask.model_id).filter(|id| !is_blank(id)));
        },
        ..ClientSpec::new("/api/respond/stream")
    },
    json_answer: None,
    disconnect: Disconnect::Cancel,
    numbers_events: false,
    greeting: None,
    carriage,
    encoder: |_| Box::<encode::Encoder>::default(),
    decoder: |_| Box::<decode::Decoder>::default(),
};

/// The code of a refusal with this status, where the refusal names no other (`respond` 2). A model
/// that no provider serves is 400 with `PROVIDER_ERROR` (A6).
const CODES: &[(u16, &str)] = &[
    (400, "VALIDATION"),
    (401, "UNAUTHORIZED"),
    (403, "OWNERSHIP"),
    (404, "NOT_FOUND"),
    (413, "VALIDATION"),
    (415, "VALIDATION"),
    (503, "PROVIDER_ERROR"),
    (500, "INTERNAL"),
];

const fn carriage(kind: EventKind) -> Carriage {
    match kind {
        EventKind::TurnStarted
        | EventKind::ReasoningDelta
        | EventKind::TextDelta
        | EventKind::ToolCall
        | EventKind::ToolArgs
        | EventKind::ToolResult
        | EventKind::Question
        | EventKind::SubagentStarted
        | EventKind::SubagentText
        | EventKind::SubagentTool
        | EventKind::SubagentFinished
        | EventKind::ImageStarted
        | EventKind::ImageFinished
        | EventKind::Media
        | EventKind::Todo
        | EventKind::Context
        | EventKind::Fallback
        | EventKind::Continuation
        | EventKind::Notice
        | EventKind::Done
        | EventKind::Error => Carriage::Carried,
        // Arguments and output come whole; a call that is complete runs; deltas are the message.
        EventKind::Message
        | EventKind::ToolArgsDelta
        | EventKind::ToolStart
        | EventKind::ToolOutput => Carriage::Derived,
        EventKind::Compacted => Carriage::Degraded("system_event"),
        EventKind::UserMessage
        | EventKind::Progress
        | EventKind::ToolProgress
        | EventKind::QuestionResolved
        | EventKind::ApprovalRequired
        | EventKind::ApprovalResolved
        | EventKind::PlanProposed
        | EventKind::PlanResolved
        | EventKind::Title
        | EventKind::Queue
        | EventKind::State
        | EventKind::Resync
        | EventKind::Cancelled
        | EventKind::Unknown => Carriage::Dropped,
    }
}
