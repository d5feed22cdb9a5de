//! `chat`: frames as lines over the answer of `POST /api/chat`, and the same frames as an event
//! stream for what happens outside a run (seed of `chat`; `chat` 1 to 6).
//!
//! Decided where the documents are silent:
//!
//! - A call is a part of a run when it begins to run; what its model writes before that is its
//!   input. Live output is not sent, since a part holds all of it each time.
//! - A stopped run ends with `done` of status `cancelled`, a field of ours; an error is the last
//!   frame, without a trailer.
//! - `done.message` repeats all text and every settled part. Where that outgrows its bound the
//!   message is empty, and readers keep what they have.
//! - Beside the fields of `chat` 1 stand some of ours that its clients ignore: `toolName` where the
//!   type of a part leads to another name, `summary` and more of a result, what a dialog cannot say.
//! - Raw thinking of old servers (`thinking`) is read; it is never written.

use alloc::boxed::Box;
use alloc::string::String;

use super::client::ClientSpec;
use super::{Carriage, ChannelSpec, Disconnect, Spec};
use crate::event::{
    Authoritative, Channel, Eof, Event, EventKind, OnResync, Orphan, Pairing, Rules, Severities,
    Severity, SideChannel, State,
};
use crate::request::{FieldType, Headers, RequestSpec, RouteSpec, SSE_HEADERS, Streams};
use crate::text::is_blank;
use crate::wire::Framing;

mod decode;
mod dialog;
mod encode;
mod names;
mod part;
mod run;
mod session;

const RULES: Rules = Rules {
    pairing: Pairing::IdThenLastOfName,
    orphan: Orphan::FindThenNewCard,
    authoritative: Authoritative::PatchSegment,
    eof_turn: Eof::Lost,
    eof_events: Eof::NotATurn,
    side_channel: SideChannel::MutedWhileBusy,
    resync: OnResync::Load,
    question_outlives_turn: false,
    keep_pending_on_end: false,
    makes_call_ids: true,
    trailer: false,
    severities: Severities {
        before_start: Severity::Warning,
        orphan: Severity::Warning,
        open_at_end: Severity::Warning,
        no_terminal: Severity::Warning,
    },
};

/// States that mean something to a client (`chat` 1 and 3).
/// The start of a delta's frame, as most servers write it.
const DELTA_HEAD: &str = r#"{"type":"delta","text":"#;

const STARTED: &str = "agent_start";
const SETTLED: &str = "agent_settled";
/// The message, or the name, of the state that tells a client to load the session again (A2).
const RESYNC: &str = "resync-required";
/// The first frame of a watching channel.
const CONNECTED: &str = "connected";

/// The media type of the answer to a turn (`chat` 2).
const NDJSON: &str = "application/x-ndjson";

/// Headers of that answer.
const NDJSON_HEADERS: Headers = &[
    ("content-type", "application/x-ndjson; charset=utf-8"),
    ("cache-control", "no-store"),
    ("connection", "keep-alive"),
    ("x-accel-buffering", "no"),
];

pub(super) static SPEC: Spec = Spec {
    name: "chat",
    rules: RULES,
    channels: &[
        ChannelSpec {
            channel: Channel::Turn,
            framing: Framing::Ndjson,
            headers: NDJSON_HEADERS,
            lenient_eof: false,
        },
        ChannelSpec {
            channel: Channel::Events,
            framing: Framing::Sse,
            headers: SSE_HEADERS,
            lenient_eof: false,
        },
    ],
    requests: RequestSpec::new(
        Streams::Always,
        &[
            RouteSpec {
                model: Some("modelId"),
                fields: &[
                    ("mode", FieldType::Text),
                    ("planAction", FieldType::Text),
                    ("streamingBehavior", FieldType::Text),
                ],
                ..in_session(RouteSpec::new("turn", "message"))
            },
            in_session(RouteSpec::without_prompt("abort")),
            RouteSpec {
                fields: &[("toolCallId", FieldType::Text), ("answer", FieldType::Object)],
                needs: &["toolCallId", "answer"],
                ..in_session(RouteSpec::without_prompt("question"))
            },
            RouteSpec::without_prompt("session"),
        ],
        "message",
    ),
    client: ClientSpec {
        watch: Some("/api/chat/events?sessionId={session}"),
        cancel: Some("/api/chat/abort"),
        answer: Some("/api/chat/question"),
        load: Some("/api/chat/session?sessionId={session}"),
        turn_accept: NDJSON,
        turn_body: |ask, body| {
            body.str("sessionId", ask.session_id).str("message", ask.prompt);
            body.opt_str("modelId", Some(ask.model_id).filter(|id| !is_blank(id)));
        },
        cancel_body: |ask, body| _ = body.str("sessionId", ask.session_id),
        answer_body: |ask, body| {
            body.str("sessionId", ask.session_id).str("toolCallId", ask.question_id);
            dialog::write_answer(&mut body.object("answer"), ask.answers);
        },
        ..ClientSpec::new("/api/chat")
    },
    json_answer: None,
    disconnect: Disconnect::Detach,
    numbers_events: false,
    greeting: Some(greeting),
    carriage,
    encoder: |channel| Box::new(encode::Encoder::new(channel)),
    decoder: |channel| Box::new(decode::Decoder::new(channel)),
};

/// A route whose body must name the session (`chat` 2, *Checks*).
const fn in_session(route: RouteSpec) -> RouteSpec {
    RouteSpec { session: Some("sessionId"), session_required: true, ..route }
}

/// The first frame of the channel that watches (`chat` 1, *connected*).
fn greeting(session_id: &str) -> Event<'static> {
    let mut state = State::new(CONNECTED);
    state.message = Some(String::from(session_id).into());
    state.into()
}

const fn carriage(kind: EventKind) -> Carriage {
    match kind {
        EventKind::TurnStarted
        | EventKind::TextDelta
        | EventKind::ToolStart
        | EventKind::ToolResult
        | EventKind::Question
        | EventKind::QuestionResolved
        | EventKind::PlanProposed
        | EventKind::PlanResolved
        | EventKind::Notice
        | EventKind::Compacted
        | EventKind::Queue
        | EventKind::State
        | EventKind::Resync
        | EventKind::Done
        | EventKind::Error => Carriage::Carried,
        // Deltas are the message; a part's input and output are whole.
        EventKind::Message
        | EventKind::ToolCall
        | EventKind::ToolArgsDelta
        | EventKind::ToolArgs
        | EventKind::ToolOutput => Carriage::Derived,
        EventKind::ReasoningDelta => Carriage::Degraded("reasoning of its phase alone"),
        EventKind::Progress => Carriage::Degraded("reasoning"),
        EventKind::Cancelled => Carriage::Degraded("done with status cancelled"),
        EventKind::UserMessage
        | EventKind::ToolProgress
        | EventKind::ApprovalRequired
        | EventKind::ApprovalResolved
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
        | EventKind::Title
        | EventKind::Unknown => Carriage::Dropped,
    }
}
