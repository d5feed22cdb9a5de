//! `workspace`: enveloped events of a persisted log (seed of `workspace`; `workspace` 2).
//!
//! The envelope is flat and the payload is nested under `payload`, with the vocabulary's own field
//! names (X9); a flat payload is read too. Decided where the documents are silent:
//!
//! - What the seed's table lacks is said under the vocabulary's own name, since readers ignore what
//!   they do not know. All of it is stored: the seed lets a replay leave out `token` and `output`
//!   alone, whose content a later `hop` and `tool_result` repeat (A2, A3). They carry no id and no
//!   number, and neither does `resync`, which is of one reader and not of the log.
//! - `session_created {actor, mode, title}` is the state of that name and, if it has one, a title;
//!   the number is that of the title, so that a replay does not bring back an older one (A25).
//! - `turn_id` stands on what happens from a turn's start to its `done`, but on nothing that is
//!   plainly of the session (A28).
//! - A decision that cannot be read is no consent.

use alloc::boxed::Box;

use super::client::{Answer, ClientSpec};
use super::{Carriage, ChannelSpec, Disconnect, Spec};
use crate::event::{
    Authoritative, Channel, Eof, EventKind, OnResync, Orphan, Pairing, Rules, Severities, Severity,
    SideChannel,
};
use crate::request::{FieldType, RequestSpec, RouteSpec, SSE_HEADERS, Streams};
use crate::wire::Framing;
use crate::wire::json::read_object;

mod ask;
mod decode;
mod encode;
mod session;
mod turn;
mod work;

/// The type of a text delta, and the start of its payload as most servers write it.
const TOKEN: &str = "token";
const PAYLOAD_HEAD: &str = r#""payload":{"text":"#;

const RULES: Rules = Rules {
    pairing: Pairing::Id,
    orphan: Orphan::FindThenNewCard,
    authoritative: Authoritative::PatchSegment,
    eof_turn: Eof::Lost,
    eof_events: Eof::NotATurn,
    side_channel: SideChannel::None,
    resync: OnResync::Rebuild,
    question_outlives_turn: false,
    keep_pending_on_end: false,
    makes_call_ids: true,
    trailer: true,
    severities: Severities {
        before_start: Severity::Warning,
        orphan: Severity::Warning,
        open_at_end: Severity::Warning,
        no_terminal: Severity::Error,
    },
};

const ROUTES: &[RouteSpec] = &[
    RouteSpec { fields: &[("client_id", FieldType::Text)], ..RouteSpec::new("turn", "text") },
    RouteSpec {
        fields: &[
            ("approval_id", FieldType::Text),
            ("decision", FieldType::Word(&["allow", "deny"])),
            ("ask_id", FieldType::Text),
            ("answers", FieldType::List),
        ],
        one_of: &[&["approval_id", "decision"], &["ask_id", "answers"]],
        ..RouteSpec::without_prompt("resume")
    },
    RouteSpec::without_prompt("cancel"),
    RouteSpec { fields: &[("title", FieldType::Text)], ..RouteSpec::without_prompt("session") },
];

pub(super) static SPEC: Spec = Spec {
    name: "workspace",
    rules: RULES,
    channels: &[ChannelSpec {
        channel: Channel::Events,
        framing: Framing::Sse,
        headers: SSE_HEADERS,
        lenient_eof: false,
    }],
    requests: RequestSpec::new(Streams::Always, ROUTES, "error"),
    client: ClientSpec {
        watch: Some("/workspaces/{ws}/sessions/{session}/stream"),
        cancel: Some("/workspaces/{ws}/sessions/{session}/cancel"),
        answer: Some("/workspaces/{ws}/sessions/{session}/resume"),
        approval: Some("/workspaces/{ws}/sessions/{session}/resume"),
        load: Some("/workspaces/{ws}/sessions/{session}/events"),
        turn_body: |ask, body| {
            body.str("text", ask.prompt).opt_str("client_id", ask.client_id);
        },
        answer_body: |ask, body| {
            if let Some((id, decision)) = ask.approval {
                body.str("approval_id", id).str("decision", decision.as_str());
            } else {
                body.str("ask_id", ask.question_id);
                ask::write_answers(&mut body.array("answers"), ask.answers);
            }
        },
        read: |body| {
            let [turn_id] = read_object(body, &["turn_id"]).ok()?;
            let turn_id = turn_id.and_then(|id| id.str()).map(|id| id.into_owned());
            Some(Answer::Started { turn_id })
        },
        ..ClientSpec::new("/workspaces/{ws}/sessions/{session}/turns")
    },
    json_answer: None,
    disconnect: Disconnect::Detach,
    numbers_events: true,
    greeting: None,
    carriage,
    encoder: |_| Box::<encode::Encoder>::default(),
    decoder: |_| Box::<decode::Decoder>::default(),
};

const fn carriage(kind: EventKind) -> Carriage {
    match wire_type(kind) {
        Some(_) => Carriage::Carried,
        None => Carriage::Dropped,
    }
}

/// The word for an event on this wire: the seed's where it has one, else the vocabulary's. An event
/// that the vocabulary has no name for has its own.
const fn wire_type(kind: EventKind) -> Option<&'static str> {
    Some(match kind {
        EventKind::TextDelta => TOKEN,
        EventKind::Message => "hop",
        EventKind::ToolStart => "tool_started",
        EventKind::ToolOutput => "output",
        EventKind::Question => "ask_user",
        EventKind::SubagentStarted => "child_started",
        EventKind::SubagentFinished => "child_done",
        EventKind::Unknown => return None,
        EventKind::TurnStarted
        | EventKind::UserMessage
        | EventKind::Progress
        | EventKind::ReasoningDelta
        | EventKind::ToolCall
        | EventKind::ToolArgsDelta
        | EventKind::ToolArgs
        | EventKind::ToolProgress
        | EventKind::ToolResult
        | EventKind::QuestionResolved
        | EventKind::ApprovalRequired
        | EventKind::ApprovalResolved
        | EventKind::PlanProposed
        | EventKind::PlanResolved
        | EventKind::SubagentText
        | EventKind::SubagentTool
        | EventKind::ImageStarted
        | EventKind::ImageFinished
        | EventKind::Media
        | EventKind::Todo
        | EventKind::Context
        | EventKind::Fallback
        | EventKind::Continuation
        | EventKind::Notice
        | EventKind::Compacted
        | EventKind::Title
        | EventKind::Queue
        | EventKind::State
        | EventKind::Resync
        | EventKind::Done
        | EventKind::Error
        | EventKind::Cancelled => kind.name(),
    })
}

/// Whether an event is of one reader's connection alone: no id, no number, no replay.
const fn is_transient(kind: EventKind) -> bool {
    matches!(kind, EventKind::TextDelta | EventKind::ToolOutput | EventKind::Resync)
}
