//! `agent`: one JSON object a frame over the answer of `POST /api/agent` (seed of `agent`;
//! `agent` 1 and 2).

use alloc::boxed::Box;
use alloc::vec::Vec;

use super::client::{Answer, ClientSpec};
use super::fields::{Fields, Joiner, Spoken, read};
use super::{
    Carriage, ChannelSpec, Decode, Dialect, Disconnect, Encode, JsonFailure, JsonForm, JsonTurn,
    Spec, Stamp, Written,
};
use crate::error::{Code, Diagnostics};
use crate::event::{
    Authoritative, Channel, Done, Envelope, Eof, Error, Event, EventKind, OnResync, Orphan,
    Pairing, ReasoningDelta, Rules, Severities, Severity, SideChannel, TextDelta, ToolResult,
    ToolStart, TraceEntry, Unknown,
};
use crate::request::{EVENT_STREAM, RequestError, RequestSpec, RouteSpec, SSE_HEADERS, Streams};
use crate::text::is_blank;
use crate::wire::json::{ObjectWriter, RawJson, read_after, read_object};
use crate::wire::{Frame, FrameWriter, Framing};

const RULES: Rules = Rules {
    pairing: Pairing::IdThenLastOfName,
    orphan: Orphan::NewCard,
    authoritative: Authoritative::OpenTail,
    eof_turn: Eof::Agent,
    eof_events: Eof::NotATurn,
    side_channel: SideChannel::None,
    resync: OnResync::Rebuild,
    question_outlives_turn: false,
    keep_pending_on_end: true,
    makes_call_ids: false,
    trailer: false,
    severities: Severities {
        before_start: Severity::Allowed,
        orphan: Severity::Warning,
        open_at_end: Severity::Allowed,
        no_terminal: Severity::Warning,
    },
};

pub(super) static SPEC: Spec = Spec {
    name: "agent",
    rules: RULES,
    channels: &[ChannelSpec {
        channel: Channel::Turn,
        framing: Framing::Sse,
        headers: SSE_HEADERS,
        lenient_eof: true,
    }],
    requests: RequestSpec::new(
        Streams::IfAskedFor,
        &[RouteSpec {
            model: Some("modelId"),
            cwd: Some("cwd"),
            ..RouteSpec::new("turn", "prompt")
        }],
        "error",
    ),
    client: ClientSpec {
        turn_accept: EVENT_STREAM,
        folds_history: true,
        turn_body: |ask, body| {
            body.str("prompt", ask.prompt).opt_str("modelId", unless_blank(ask.model_id));
            body.opt_str("cwd", unless_blank(ask.cwd));
        },
        read: read_answer,
        refusal: |status| (status == 404).then_some("Agent API not available."),
        ..ClientSpec::new("/api/agent")
    },
    json_answer: Some(JsonForm { answer: json_answer, has_messages: false }),
    disconnect: Disconnect::Cancel,
    numbers_events: false,
    greeting: None,
    carriage,
    encoder: |_| Box::new(Encoder),
    decoder: |_| Box::<Decoder>::default(),
};

/// The status and the sentence of a turn that was stopped (`agent` 1, *Abort*).
const STOPPED_STATUS: u16 = 499;
const STOPPED: &str = "Request cancelled.";

/// The statuses that an error of a stream carries; the JSON answer says the others (`agent` 1).
const STREAM_STATUSES: [u16; 2] = [STOPPED_STATUS, 426];

/// The status and the sentence of a turn in which the model said nothing (`agent` 1).
const EMPTY_STATUS: u16 = 502;
const EMPTY: &str = "Empty model response.";

/// The status of a turn that failed without one of its own, in the JSON answer.
const FAILED_STATUS: u16 = 500;

/// What a result is called that names no tool (`agent` 2).
const NAMELESS_TOOL: &str = "tool";

const fn carriage(kind: EventKind) -> Carriage {
    match kind {
        EventKind::TextDelta
        | EventKind::ReasoningDelta
        | EventKind::ToolStart
        | EventKind::ToolResult
        | EventKind::Done
        | EventKind::Error => Carriage::Carried,
        // The client knows that it asked; its deltas are the message.
        EventKind::TurnStarted | EventKind::Message => Carriage::Derived,
        EventKind::Cancelled => Carriage::Degraded("error with status 499"),
        EventKind::UserMessage
        | EventKind::Progress
        | EventKind::ToolCall
        | EventKind::ToolArgsDelta
        | EventKind::ToolArgs
        | EventKind::ToolOutput
        | EventKind::ToolProgress
        | EventKind::Question
        | EventKind::QuestionResolved
        | EventKind::ApprovalRequired
        | EventKind::ApprovalResolved
        | EventKind::PlanProposed
        | EventKind::PlanResolved
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
        | EventKind::Compacted
        | EventKind::Title
        | EventKind::Queue
        | EventKind::State
        | EventKind::Resync
        | EventKind::Unknown => Carriage::Dropped,
    }
}

struct Encoder;

impl Encode for Encoder {
    fn encode(
        &mut self,
        _: &Stamp<'_>,
        event: &Event<'_>,
        frames: &mut FrameWriter<'_>,
    ) -> Written {
        match event {
            Event::TextDelta(e) => frames.text_object(None, TEXT_HEAD, &e.text).end(),
            Event::ReasoningDelta(e) => {
                frames.text_object(None, REASONING_HEAD, &e.text).end();
            }
            Event::ToolStart(e) => {
                let mut frame = frames.object(None);
                frame.str("type", "tool_start").str("name", &e.name);
                frame.opt_str("id", e.call_id.as_deref());
            }
            // A client of the seed has no word for a call that was cut: it would paint a failure.
            Event::ToolResult(e) if e.status.as_deref() == Some("interrupted") => {
                return Written::stored(Carriage::Dropped);
            }
            Event::ToolResult(e) => {
                let mut frame = frames.object(None);
                frame.str("type", "tool_result").str("name", &e.name).bool("ok", e.ok);
                frame.str("summary", &e.summary).opt_str("preview", e.preview.as_deref());
                frame.opt_str("id", e.call_id.as_deref());
            }
            // The trailer: its error is the terminal here.
            Event::Done(e) if e.status.is_some() => return Written::stored(Carriage::Derived),
            Event::Done(e) => {
                let mut frame = frames.object(None);
                frame.str("type", "done").opt_str("text", e.text.as_deref());
                trace(&mut frame, &e.tool_trace);
                frame.opt_str("cwd", e.cwd.as_deref());
            }
            // An error ends the turn of every client of the seed.
            Event::Error(e) if e.recoverable => return Written::stored(Carriage::Dropped),
            Event::Error(e) => {
                let told = e.status.filter(|status| STREAM_STATUSES.contains(status));
                error(frames, &e.message, told);
            }
            Event::Cancelled(_) => error(frames, STOPPED, Some(STOPPED_STATUS)),
            Event::Unknown(e) => {
                // What was this dialect's before is passed on as it came; but nothing that a client
                // knows, since no order was kept for it.
                let Some(raw) = RawJson::check(&e.raw).ok().filter(|_| is_unknown(&e.raw)) else {
                    return Written::stored(Carriage::Dropped);
                };
                frames.raw(None, &raw);
                return Written::stored(Carriage::Carried);
            }
            _ => {}
        }
        Written::stored(carriage(event.kind()))
    }
}

/// Whether this is an object whose type is none of the seed's.
fn is_unknown(raw: &str) -> bool {
    let Ok([kind]) = read_object(raw, &["type"]) else { return false };
    !kind.and_then(|kind| kind.str()).is_some_and(|word| WORDS.contains(&&*word))
}

fn error(frames: &mut FrameWriter<'_>, message: &str, status: Option<u16>) {
    let mut frame = frames.object(None);
    frame.str("type", "error").str("error", message);
    frame.opt_u64("status", status.map(u64::from));
}

fn trace(frame: &mut ObjectWriter<'_>, entries: &[TraceEntry<'_>]) {
    if entries.is_empty() {
        return;
    }
    let mut list = frame.array("toolTrace");
    for entry in entries {
        let mut item = list.object();
        item.str("name", &entry.name).bool("ok", entry.ok).str("summary", &entry.summary);
    }
}

/// Whether an answer with this status says that something went wrong.
fn is_failure(status: &u16) -> bool {
    (400..600).contains(status)
}

/// The answer to a client that did not ask for a stream (`agent` 1, *JSON-only statuses*).
fn json_answer(turn: &JsonTurn<'_>) -> (u16, Vec<u8>) {
    let refuse = |status, message: &str| {
        let spec = Dialect::AGENT.requests();
        let error = RequestError::new(spec, status, message);
        (error.status, error.body)
    };
    match turn.failure {
        Some(JsonFailure::Cancelled) => refuse(STOPPED_STATUS, STOPPED),
        Some(JsonFailure::Error { message, status }) => {
            refuse(status.filter(is_failure).unwrap_or(FAILED_STATUS), message)
        }
        None if is_blank(turn.text) => refuse(EMPTY_STATUS, EMPTY),
        None => {
            let mut body = Vec::new();
            let mut answer = ObjectWriter::begin(&mut body);
            answer.str("text", turn.text);
            trace(&mut answer, turn.trace);
            answer.opt_str("cwd", turn.cwd);
            answer.end();
            (200, body)
        }
    }
}

fn unless_blank(text: &str) -> Option<&str> {
    (!is_blank(text)).then_some(text)
}

/// The answer of a server that did not stream.
fn read_answer(body: &str) -> Option<Answer> {
    let [text, tool_trace, cwd] = read_object(body, &["text", "toolTrace", "cwd"]).ok()?;
    let mut unheard = Diagnostics::default();
    let mut f = Fields { at: 0, diagnostics: &mut unheard };
    let trace = f.trace(tool_trace, "toolTrace");
    Some(Answer::Whole {
        text: text?.str()?.into_owned(),
        trace: trace.into_iter().map(TraceEntry::into_owned).collect(),
        cwd: f.text(cwd, "cwd").map(|cwd| cwd.into_owned()),
    })
}

#[derive(Default)]
struct Decoder {
    text: Joiner,
    reasoning: Joiner,
    last: Spoken,
}

const TEXT_HEAD: &str = r#"{"type":"text_delta","text":"#;
const REASONING_HEAD: &str = r#"{"type":"reasoning_delta","text":"#;

/// What a client of the seed knows.
const WORDS: [&str; 6] =
    ["text_delta", "reasoning_delta", "tool_start", "tool_result", "done", "error"];

const NAMES: [&str; 13] = [
    "type",
    "text",
    "name",
    "id",
    "ok",
    "summary",
    "preview",
    "toolTrace",
    "cwd",
    "error",
    "status",
    "finishReason",
    "usage",
];

impl Decode for Decoder {
    fn decode(
        &mut self,
        frame: &Frame<'_>,
        diagnostics: &mut Diagnostics,
        sink: &mut dyn FnMut(&Envelope<'_>),
    ) {
        // The two common frames as most servers write them; the rest of the function says the same
        // at greater length.
        if let Some(value) = read_after(&frame.data, TEXT_HEAD) {
            self.last = Spoken::Text;
            if let Some(text) = self.text.lend(value) {
                sink(&Envelope::new(TextDelta::new(text)));
            }
            return;
        }
        if let Some(value) = read_after(&frame.data, REASONING_HEAD) {
            self.last = Spoken::Reasoning;
            if let Some(text) = self.reasoning.lend(value) {
                sink(&Envelope::new(ReasoningDelta::new(text)));
            }
            return;
        }
        let Some(slots) = read(frame, &NAMES, diagnostics) else { return };
        let mut f = Fields { at: frame.at, diagnostics };
        let [
            kind,
            text,
            name,
            id,
            ok,
            summary,
            preview,
            tool_trace,
            cwd,
            message,
            status,
            finish_reason,
            usage,
        ] = slots;
        let Some(kind) = f.need_text(kind, "type") else { return };
        match &*kind {
            "text_delta" => self.last = Spoken::Text,
            "reasoning_delta" => self.last = Spoken::Reasoning,
            "tool_start" | "tool_result" | "done" | "error" if self.settle_halves(sink) => {
                f.diagnostics.push(Code::LoneSurrogate, f.at);
            }
            _ => {}
        }
        let event: Event<'_> = match &*kind {
            "text_delta" => match text.and_then(|value| self.text.text(value)) {
                Some(text) => TextDelta::new(text).into(),
                None => return f.diagnostics.push_with(Code::MissingField, f.at, "text"),
            },
            "reasoning_delta" => match text.and_then(|value| self.reasoning.text(value)) {
                Some(text) => ReasoningDelta::new(text).into(),
                None => return f.diagnostics.push_with(Code::MissingField, f.at, "text"),
            },
            "tool_start" => {
                let name = f.need_text(name, "name").unwrap_or(NAMELESS_TOOL.into());
                ToolStart { call_id: f.text(id, "id"), ..ToolStart::new(name) }.into()
            }
            "tool_result" => {
                let name = f.need_text(name, "name").unwrap_or(NAMELESS_TOOL.into());
                let (ok, summary) = f.outcome(&name, ok, summary);
                ToolResult {
                    call_id: f.text(id, "id"),
                    preview: f.text(preview, "preview"),
                    ..ToolResult::new(name, ok, summary)
                }
                .into()
            }
            "done" => Done {
                text: f.text(text, "text"),
                tool_trace: f.trace(tool_trace, "toolTrace"),
                cwd: f.text(cwd, "cwd"),
                finish_reason: f.text(finish_reason, "finishReason"),
                usage: f.object(usage, "usage").map(|value| value.raw().into()),
                ..Done::new()
            }
            .into(),
            "error" => {
                let message = f.need_text(message, "error").unwrap_or("Stream error.".into());
                Error { status: f.status(status, "status"), ..Error::new(message) }.into()
            }
            other => {
                f.diagnostics.push_with(Code::UnknownEvent, f.at, other);
                Unknown::new(kind.clone(), &*frame.data).into()
            }
        };
        sink(&Envelope::new(event));
    }

    fn finish(&mut self, sink: &mut dyn FnMut(&Envelope<'_>)) {
        self.settle_halves(sink);
    }
}

impl Decoder {
    /// Gives a half that stays alone. One that the other channel has spoken after has no place any
    /// more, where it would be a row of its own; whether there was one.
    fn settle_halves(&mut self, sink: &mut dyn FnMut(&Envelope<'_>)) -> bool {
        match (self.last, self.text.rest(), self.reasoning.rest()) {
            (Spoken::Text, Some(rest), lost) => {
                sink(&Envelope::new(TextDelta::new(rest)));
                lost.is_some()
            }
            (Spoken::Reasoning, lost, Some(rest)) => {
                sink(&Envelope::new(ReasoningDelta::new(rest)));
                lost.is_some()
            }
            (_, text, reasoning) => text.or(reasoning).is_some(),
        }
    }
}
