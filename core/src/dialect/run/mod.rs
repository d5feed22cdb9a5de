//! `run`: named events of a session over GET …/events, or one JSON object for a run without a
//! session (seed of `run`; `run` 1 to 4).
//!
//! Decided where the documents are silent or disagree:
//!
//! - Frames hold what the seed shows: the name stands in `event:`, not in the data. A `type` in the
//!   data is read where a frame has no name. `id` in `tool_call` and `tool_result` is a field of
//!   ours, so that calls of one name need not be paired by their order.
//! - The user's message is where a turn begins. One that comes before the turn has ended is a
//!   message that opened none.
//! - `plan_resolved {approved, edits?, reason?}` is an event of ours: a second reader would else
//!   keep the plan open (A15).
//! - `usage` is written once, before `done`; what several of them say is summed.
//! - A turn that was stopped is `done` with the reason `Cancelled`, in either spelling (A11).
//! - Messages on this wire name no step: see `decode::Decoder::step_of`.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;

use self::blocks::{read_content, write_message};
use super::client::{Answer, ClientSpec};
use super::fields::Fields;
use super::{Carriage, ChannelSpec, Dialect, Disconnect, JsonFailure, JsonForm, JsonTurn, Spec};
use crate::error::Diagnostics;
use crate::event::{
    Authoritative, Channel, Eof, EventKind, OnResync, Orphan, Pairing, Rules, Severities, Severity,
    SideChannel,
};
use crate::request::{FieldType, RequestError, RequestSpec, RouteSpec, SSE_HEADERS, Streams};
use crate::wire::Framing;
use crate::wire::json::{ObjectWriter, RawJson, Value, read_object};

mod blocks;
mod decode;
mod encode;
mod usage;

const RULES: Rules = Rules {
    pairing: Pairing::FifoOfName,
    orphan: Orphan::FindThenNewCard,
    authoritative: Authoritative::PatchSegment,
    eof_turn: Eof::Lost,
    eof_events: Eof::NotATurn,
    side_channel: SideChannel::None,
    resync: OnResync::Turn,
    question_outlives_turn: false,
    keep_pending_on_end: false,
    makes_call_ids: false,
    trailer: false,
    severities: Severities {
        before_start: Severity::Allowed,
        orphan: Severity::Warning,
        // An interrupted call has no word here.
        open_at_end: Severity::Allowed,
        // A failed turn of the first server says nothing at all (`run` 1).
        no_terminal: Severity::Warning,
    },
};

/// The options of a run (`run` 2). `max_steps` 0 is no limit (A14).
const OPTIONS: &[(&str, FieldType)] = &[
    ("max_steps", FieldType::Count),
    ("system_prompt", FieldType::Text),
    ("append_system_prompt", FieldType::Text),
    ("thinking_budget", FieldType::Count),
    ("permission_mode", FieldType::Word(&["default", "auto", "strict", "bypass"])),
    ("max_budget_usd", FieldType::Amount),
];

/// The event of a text delta, and the start of its data as most servers write it.
const PREVIEW: &str = "partial_message";
const PREVIEW_HEAD: &str = r#"{"text":"#;

/// The status of a body that lacks its text (`run` 2).
const MISSING_STATUS: u16 = 422;

const ROUTES: &[RouteSpec] = &[
    RouteSpec { missing_status: MISSING_STATUS, fields: OPTIONS, ..RouteSpec::new("turn", "goal") },
    RouteSpec { missing_status: MISSING_STATUS, ..RouteSpec::new("messages", "content") },
    RouteSpec { fields: OPTIONS, ..RouteSpec::without_prompt("session") },
    RouteSpec {
        fields: &[("edits", FieldType::Text)],
        ..RouteSpec::without_prompt("plan_confirm")
    },
    RouteSpec {
        fields: &[("reason", FieldType::Text)],
        ..RouteSpec::without_prompt("plan_reject")
    },
    RouteSpec::without_prompt("interrupt"),
];

pub(super) static SPEC: Spec = Spec {
    name: "run",
    rules: RULES,
    channels: &[ChannelSpec {
        channel: Channel::Events,
        framing: Framing::Sse,
        headers: SSE_HEADERS,
        lenient_eof: false,
    }],
    requests: RequestSpec::new(Streams::IfAskedFor, ROUTES, "error"),
    client: ClientSpec {
        watch: Some("/sessions/{session}/events"),
        cancel: Some("/sessions/{session}/interrupt"),
        plan: Some(["/sessions/{session}/plan/confirm", "/sessions/{session}/plan/reject"]),
        load: Some("/sessions/{session}"),
        turn_body: |ask, body| {
            body.str("goal", ask.prompt);
        },
        answer_body: |ask, body| {
            if let Some(plan) = ask.plan {
                body.opt_str("edits", plan.edits.as_deref().filter(|_| plan.approved));
                body.opt_str("reason", plan.reason.as_deref().filter(|_| !plan.approved));
            }
        },
        read: |body| Some(read_answer(body)),
        ..ClientSpec::new("/sessions/{session}/run")
    },
    json_answer: Some(JsonForm { answer: json_answer, has_messages: true }),
    disconnect: Disconnect::Detach,
    numbers_events: false,
    greeting: None,
    carriage,
    encoder: |_| Box::<encode::Encoder>::default(),
    decoder: |_| Box::<decode::Decoder>::default(),
};

/// The events of the wire.
const EVENTS: [&str; 13] = [
    "message",
    "partial_message",
    "tool_call",
    "tool_result",
    "tool_progress",
    "plan_proposed",
    "plan_resolved",
    "goal_continuing",
    "goal_achieved",
    "usage",
    "done",
    "error",
    "resync",
];

/// Why a turn ends that nothing cut short (seed of `run`).
const NATURAL_END: &str = "NoMoreToolCalls";

/// Why a turn ends that was stopped, in the seed's spelling.
const CANCELLED: &str = "Cancelled";

/// What the end of a turn says of which nothing is known but that it failed.
const FAILED: &str = "The run failed.";

/// What becomes of a result.
const RESULT: &str = "tool_result with name and success alone";

const fn carriage(kind: EventKind) -> Carriage {
    match kind {
        EventKind::UserMessage
        | EventKind::TextDelta
        | EventKind::Message
        | EventKind::ToolStart
        | EventKind::ToolProgress
        | EventKind::PlanProposed
        | EventKind::PlanResolved
        | EventKind::Resync
        | EventKind::Error => Carriage::Carried,
        // The user's message begins the turn, `tool_call` is said when the tool runs; text and
        // tools of a `done` were told before it.
        EventKind::TurnStarted | EventKind::ToolCall | EventKind::Done => Carriage::Derived,
        EventKind::ToolResult => Carriage::Degraded(RESULT),
        EventKind::Cancelled => Carriage::Degraded("done with the reason Cancelled"),
        // Of notices, those of a goal have events: `goal_continuing`, `goal_achieved`.
        EventKind::Notice
        | EventKind::Progress
        | EventKind::ReasoningDelta
        | EventKind::ToolArgsDelta
        | EventKind::ToolArgs
        | EventKind::ToolOutput
        | EventKind::Question
        | EventKind::QuestionResolved
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
        | EventKind::Compacted
        | EventKind::Title
        | EventKind::Queue
        | EventKind::State
        | EventKind::Unknown => Carriage::Dropped,
    }
}

/// Whether two words are the same but for their spelling: `NoMoreToolCalls` and
/// `no_more_tool_calls` (A11).
fn same_word(a: &str, b: &str) -> bool {
    let folded = |word: &str| {
        let letters = word.chars().filter(|c| !matches!(c, '_' | '-' | ' '));
        letters.flat_map(char::to_lowercase).collect::<String>()
    };
    folded(a) == folded(b)
}

/// The status of a run that was stopped, and its sentence (`run` 2).
const CANCELLED_STATUS: u16 = 503;
const CANCELLED_TEXT: &str = "The run was cancelled.";

/// The status of a run that failed without one of its own (`run` 2).
const FAILED_STATUS: u16 = 500;

/// The result of a run without a session (seed of `run`).
fn json_answer(turn: &JsonTurn<'_>) -> (u16, Vec<u8>) {
    let refuse = |status, message: &str| {
        let error = RequestError::new(Dialect::RUN.requests(), status, message);
        (error.status, error.body)
    };
    match turn.failure {
        Some(JsonFailure::Cancelled) => return refuse(CANCELLED_STATUS, CANCELLED_TEXT),
        Some(JsonFailure::Error { message, status }) => {
            return refuse(status.unwrap_or(FAILED_STATUS), message);
        }
        None => {}
    }
    let reason = turn.done.and_then(|done| done.finish_reason.as_deref());
    let mut body = Vec::new();
    let mut answer = ObjectWriter::begin(&mut body);
    answer.str("status", "finished").str("finish_reason", reason.unwrap_or(NATURAL_END));
    let mut messages = answer.array("messages");
    for message in turn.messages {
        let text = &message.text;
        write_message(&mut messages.object(), message.role, text, &message.tool_uses);
    }
    messages.end();
    let usage = turn.done.and_then(|done| done.usage.as_ref());
    let usage = usage.and_then(|usage| Value::parse(usage.text()).ok());
    let steps = turn.done.and_then(|done| done.steps).unwrap_or(0);
    write_usage(&mut answer.object("usage"), steps, usage);
    answer.end();
    (200, body)
}

/// Steps and tokens first, as the seed has them, then what else the caller said.
fn write_usage(object: &mut ObjectWriter<'_>, steps: u64, usage: Option<Value<'_>>) {
    object.u64("total_steps", steps);
    let names =
        ["total_tokens", "input_tokens", "output_tokens", "prompt_tokens", "completion_tokens"];
    let slots = usage.and_then(|usage| read_object(usage.raw(), &names).ok()).unwrap_or_default();
    let [total, input, output, prompt, completion] = slots.map(|slot| slot.and_then(|v| v.u64()));
    let parts = [input.or(prompt), output.or(completion)];
    let sum = parts.iter().flatten().fold(0_u64, |sum, part| sum.saturating_add(*part));
    object.u64("total_tokens", total.unwrap_or(sum));
    for (name, value) in usage.into_iter().flat_map(|usage| usage.fields()) {
        if !matches!(&*name, "total_steps" | "total_tokens") {
            object.raw(&name, &RawJson::from(value));
        }
    }
}

/// A finished run is an answer; what else a good status brings says that the turn was taken.
fn read_answer(body: &str) -> Answer {
    let names = ["finish_reason", "messages", "turn_id"];
    let [reason, messages, turn_id] = read_object(body, &names).unwrap_or_default();
    let mut unheard = Diagnostics::default();
    let mut f = Fields { at: 0, diagnostics: &mut unheard };
    if reason.is_none() || messages.is_none() {
        return Answer::Started { turn_id: f.text(turn_id, "turn_id").map(|id| id.into_owned()) };
    }
    let mut text = String::new();
    for message in f.elements(messages, "messages") {
        let Ok([role, content]) = read_object(message.raw(), &["role", "content"]) else {
            continue;
        };
        if f.text(role, "role").as_deref() == Some("assistant") {
            text.push_str(&read_content(content, &mut f).0);
        }
    }
    Answer::Whole { text, trace: Vec::new(), cwd: None }
}
