//! `workspace`: enveloped events of a persisted log (seed of `workspace`; `workspace` 2).
//!
//! The envelope is flat and the payload is nested under `payload`, with the vocabulary's own field
//! names (X9); a flat payload is read too. `token` and `output` are live only: they carry no id and
//! no number, and a later `hop` or `tool_result` repeats what they said (A2, A3).

use alloc::boxed::Box;
use alloc::string::String;

use super::client::{Answer, ClientSpec};
use super::fields::{Fields, Joiner, plain_summary, read};
use super::{Carriage, ChannelSpec, Decode, Disconnect, Encode, Spec, Stamp, Written};
use crate::error::{Code, Diagnostics};
use crate::event::{
    Authoritative, Cancelled, Channel, Done, DoneStatus, Envelope, Eof, Error, Event, EventKind,
    Message, OnResync, Orphan, OutputStream, Pairing, Role, Rules, Severities, Severity,
    SideChannel, Str, TextDelta, ToolOutput, ToolResult, ToolStart, ToolUse, TurnStarted, Unknown,
};
use crate::ids::EventId;
use crate::request::{RequestSpec, RouteSpec, SSE_HEADERS, Streams};
use crate::wire::json::{ObjectWriter, RawJson, Value, read_object};
use crate::wire::{Frame, FrameWriter, Framing};

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

pub(super) static SPEC: Spec = Spec {
    name: "workspace",
    rules: RULES,
    channels: &[ChannelSpec {
        channel: Channel::Events,
        framing: Framing::Sse,
        headers: SSE_HEADERS,
        lenient_eof: false,
    }],
    requests: RequestSpec::new(Streams::Always, &[RouteSpec::new("turn", "text")], "error"),
    client: ClientSpec {
        watch: Some("/workspaces/{ws}/sessions/{session}/stream"),
        cancel: Some("/workspaces/{ws}/sessions/{session}/cancel"),
        turn_body: |ask, body| {
            body.str("text", ask.prompt).opt_str("client_id", ask.client_id);
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
    carriage,
    encoder: |_| Box::<Encoder>::default(),
    decoder: |_| Box::<Decoder>::default(),
};

const fn carriage(kind: EventKind) -> Carriage {
    match wire_type(kind) {
        Some(_) => Carriage::Carried,
        None => Carriage::Dropped,
    }
}

/// The word for an event on this wire.
const fn wire_type(kind: EventKind) -> Option<&'static str> {
    match kind {
        EventKind::TurnStarted => Some("turn_started"),
        EventKind::TextDelta => Some("token"),
        EventKind::Message => Some("hop"),
        EventKind::ToolStart => Some("tool_started"),
        EventKind::ToolOutput => Some("output"),
        EventKind::ToolResult => Some("tool_result"),
        EventKind::Done => Some("done"),
        EventKind::Error => Some("error"),
        EventKind::Cancelled => Some("cancelled"),
        EventKind::UserMessage
        | EventKind::Progress
        | EventKind::ReasoningDelta
        | EventKind::ToolCall
        | EventKind::ToolArgsDelta
        | EventKind::ToolArgs
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
        | EventKind::Unknown => None,
    }
}

const fn is_transient(kind: EventKind) -> bool {
    matches!(kind, EventKind::TextDelta | EventKind::ToolOutput)
}

/// Remembers the ids that the turn's start named, since every envelope repeats them.
#[derive(Default)]
struct Encoder {
    workspace_id: Option<String>,
    session_id: Option<String>,
    turn_id: Option<String>,
}

impl Encode for Encoder {
    fn encode(
        &mut self,
        stamp: &Stamp<'_>,
        event: &Event<'_>,
        frames: &mut FrameWriter<'_>,
    ) -> Written {
        let Some(word) = wire_type(event.kind()) else {
            return Written::stored(Carriage::Dropped);
        };
        if let Event::TurnStarted(start) = event {
            let own = |id: &Option<Str<'_>>| id.as_deref().map(String::from);
            self.workspace_id = own(&start.workspace_id);
            self.session_id = own(&start.session_id);
            self.turn_id = own(&start.turn_id);
        }
        let transient = is_transient(event.kind());
        let mut frame = frames.object(None);
        frame.opt_u64("seq", stamp.seq.filter(|_| !transient)).opt_u64("ts", stamp.ts_ms);
        frame.str("type", word);
        frame.opt_str("workspace_id", self.workspace_id.as_deref());
        frame.opt_str("session_id", self.session_id.as_deref());
        frame.opt_str("turn_id", self.turn_id.as_deref());
        payload(&mut frame.object("payload"), event);
        if transient { Written::TRANSIENT } else { Written::stored(Carriage::Carried) }
    }
}

fn payload(p: &mut ObjectWriter<'_>, event: &Event<'_>) {
    match event {
        Event::TurnStarted(e) => {
            p.opt_str("text", e.user_text.as_deref());
            p.opt_str("message_id", e.message_id.as_deref());
            p.opt_str("user_message_id", e.user_message_id.as_deref());
            p.opt_str("client_id", e.client_id.as_deref());
        }
        Event::TextDelta(e) => {
            p.str("text", &e.text).opt_u64("step", e.step);
        }
        Event::Message(e) => {
            p.str("role", e.role.as_str()).str("text", &e.text).opt_u64("step", e.step);
            p.opt_str("message_id", e.message_id.as_deref());
            if !e.tool_uses.is_empty() {
                let mut list = p.array("tool_uses");
                for call in &e.tool_uses {
                    let mut item = list.object();
                    item.str("call_id", &call.call_id).str("name", &call.name);
                    item.opt_str("args", call.args.as_deref());
                }
            }
        }
        Event::ToolStart(e) => {
            p.opt_str("call_id", e.call_id.as_deref()).str("name", &e.name);
            p.opt_str("args", e.args.as_deref()).opt_u64("step", e.step);
        }
        Event::ToolOutput(e) => {
            p.str("call_id", &e.call_id).str("stream", e.stream.as_str()).str("text", &e.text);
        }
        Event::ToolResult(e) => {
            p.opt_str("call_id", e.call_id.as_deref()).str("name", &e.name).bool("ok", e.ok);
            let word = if e.ok { "ok" } else { "failed" };
            p.str("status", e.status.as_deref().unwrap_or(word)).str("summary", &e.summary);
            if let Some(code) = e.exit_code {
                p.i64("exit_code", code);
            }
            if !e.files_changed.is_empty() {
                let mut list = p.array("files_changed");
                for path in &e.files_changed {
                    list.str(path);
                }
            }
            p.opt_str("preview", e.preview.as_deref()).opt_str("output", e.output.as_deref());
        }
        Event::Done(e) => {
            p.str("status", e.status.map_or("completed", DoneStatus::as_str));
            p.opt_str("text", e.text.as_deref());
            if !e.tool_trace.is_empty() {
                let mut list = p.array("tool_trace");
                for entry in &e.tool_trace {
                    let mut item = list.object();
                    item.str("name", &entry.name).bool("ok", entry.ok);
                    item.str("summary", &entry.summary);
                }
            }
            p.opt_str("cwd", e.cwd.as_deref());
            p.opt_str("finish_reason", e.finish_reason.as_deref()).opt_u64("steps", e.steps);
            if let Some(Ok(usage)) = e.usage.as_ref().map(|usage| RawJson::check(usage.text())) {
                p.raw("usage", &usage);
            }
            p.opt_str("message_id", e.message_id.as_deref());
        }
        Event::Error(e) => {
            p.str("message", &e.message).bool("recoverable", e.recoverable);
            p.opt_u64("status", e.status.map(u64::from)).opt_str("code", e.code.as_deref());
            p.opt_str("remedy", e.remedy.as_deref());
        }
        Event::Cancelled(e) => {
            p.str("by", &e.by);
        }
        // `wire_type` has no word for the others, so they do not come here.
        _ => {}
    }
}

#[derive(Default)]
struct Decoder {
    token: Joiner,
}

const ENVELOPE: [&str; 7] =
    ["seq", "ts", "type", "workspace_id", "session_id", "turn_id", "payload"];

impl Decode for Decoder {
    fn decode(
        &mut self,
        frame: &Frame<'_>,
        diagnostics: &mut Diagnostics,
        sink: &mut dyn FnMut(&Envelope<'_>),
    ) {
        let Some(slots) = read(frame, &ENVELOPE, diagnostics) else { return };
        let mut f = Fields { at: frame.at, diagnostics };
        let [seq, ts, kind, workspace_id, session_id, turn_id, payload] = slots;
        let Some(kind) = f.need_text(kind, "type") else { return };
        // A flat envelope holds the payload's fields itself.
        let payload = f.object(payload, "payload").map_or(&*frame.data, |value| value.raw());
        let turn_id = f.text(turn_id, "turn_id");
        let Some(event) = self.event(&kind, turn_id.as_deref(), payload, frame, &mut f) else {
            return;
        };
        if event.is_terminal() {
            self.finish(sink);
        }
        let mut envelope = Envelope::new(event);
        if !is_transient(envelope.event.kind()) {
            envelope.seq = f.u64(seq, "seq");
            let id = EventId::parse(frame.id).filter(|id| Some(id.seq) == envelope.seq);
            envelope.epoch = id.and_then(|id| id.epoch).map(Str::Borrowed);
        }
        envelope.ts_ms = f.moment(ts, "ts");
        envelope.turn_id = turn_id;
        envelope.session_id = f.text(session_id, "session_id");
        envelope.workspace_id = f.text(workspace_id, "workspace_id");
        sink(&envelope);
    }

    fn finish(&mut self, sink: &mut dyn FnMut(&Envelope<'_>)) {
        if let Some(rest) = self.token.rest() {
            sink(&Envelope::new(TextDelta::new(rest)));
        }
    }
}

impl Decoder {
    fn event<'a>(
        &mut self,
        kind: &str,
        turn_id: Option<&str>,
        payload: &'a str,
        frame: &'a Frame<'_>,
        f: &mut Fields<'_>,
    ) -> Option<Event<'a>> {
        Some(match kind {
            "turn_started" => {
                let [text, message, user_message, client] =
                    slots(payload, &["text", "message_id", "user_message_id", "client_id"])?;
                TurnStarted {
                    turn_id: turn_id.map(|id| Str::Owned(id.into())),
                    user_text: f.text(text, "text"),
                    message_id: f.text(message, "message_id"),
                    user_message_id: f.text(user_message, "user_message_id"),
                    client_id: f.text(client, "client_id"),
                    ..TurnStarted::new()
                }
                .into()
            }
            "token" => {
                let [text, step] = slots(payload, &["text", "step"])?;
                let Some(text) = text.and_then(|value| self.token.text(value)) else {
                    f.diagnostics.push_with(Code::MissingField, f.at, "text");
                    return None;
                };
                TextDelta { step: f.u64(step, "step"), ..TextDelta::new(text) }.into()
            }
            "hop" => {
                let [role, text, step, message_id, uses] =
                    slots(payload, &["role", "text", "step", "message_id", "tool_uses"])?;
                let role = f.text(role, "role");
                Message {
                    step: f.u64(step, "step"),
                    message_id: f.text(message_id, "message_id"),
                    tool_uses: tool_uses(uses, f),
                    ..Message::new(
                        role.and_then(|word| Role::parse(&word)).unwrap_or_default(),
                        f.need_text(text, "text")?,
                    )
                }
                .into()
            }
            "tool_started" => {
                let [id, name, args, step] = slots(payload, &["call_id", "name", "args", "step"])?;
                ToolStart {
                    call_id: f.text(id, "call_id"),
                    args: f.text(args, "args"),
                    step: f.u64(step, "step"),
                    ..ToolStart::new(f.need_text(name, "name").unwrap_or("tool".into()))
                }
                .into()
            }
            "output" => {
                let [id, stream, text] = slots(payload, &["call_id", "stream", "text"])?;
                let stream = f.text(stream, "stream");
                let stream = stream.and_then(|word| OutputStream::parse(&word));
                ToolOutput::new(
                    f.need_text(id, "call_id")?,
                    stream.unwrap_or_default(),
                    f.need_text(text, "text")?,
                )
                .into()
            }
            "tool_result" => tool_result(payload, f)?.into(),
            "done" => done(payload, f)?.into(),
            "error" => {
                let [message, recoverable, status, code, remedy] =
                    slots(payload, &["message", "recoverable", "status", "code", "remedy"])?;
                Error {
                    recoverable: f.bool(recoverable, "recoverable").unwrap_or(false),
                    status: f.status(status, "status"),
                    code: f.text(code, "code"),
                    remedy: f.text(remedy, "remedy"),
                    ..Error::new(f.need_text(message, "message").unwrap_or("Error.".into()))
                }
                .into()
            }
            "cancelled" => {
                let [by] = slots(payload, &["by"])?;
                Cancelled::new(f.text(by, "by").unwrap_or("user".into())).into()
            }
            other => {
                f.diagnostics.push_with(Code::UnknownEvent, f.at, other);
                Unknown::new(String::from(other), &*frame.data).into()
            }
        })
    }
}

fn tool_result<'a>(payload: &'a str, f: &mut Fields<'_>) -> Option<ToolResult<'a>> {
    let [id, name, ok, status, summary, exit_code, files, preview, output] = slots(
        payload,
        &[
            "call_id",
            "name",
            "ok",
            "status",
            "summary",
            "exit_code",
            "files_changed",
            "preview",
            "output",
        ],
    )?;
    let name = f.need_text(name, "name").unwrap_or("tool".into());
    let status = f.text(status, "status");
    // The seed's own word is the status; `ok` is ours and finer where both are there.
    let good = |word: &str| matches!(word, "ok" | "success" | "succeeded" | "completed");
    let ok = f.bool(ok, "ok").unwrap_or_else(|| status.as_deref().is_none_or(good));
    let summary = f.text(summary, "summary").unwrap_or_else(|| plain_summary(&name, ok));
    Some(ToolResult {
        call_id: f.text(id, "call_id"),
        exit_code: f.i64(exit_code, "exit_code"),
        files_changed: f.texts(files, "files_changed"),
        preview: f.text(preview, "preview"),
        output: f.text(output, "output"),
        // What `ok` says already is no finer word.
        status: status.filter(|word| word != if ok { "ok" } else { "failed" }),
        ..ToolResult::new(name, ok, summary)
    })
}

fn done<'a>(payload: &'a str, f: &mut Fields<'_>) -> Option<Done<'a>> {
    let [status, text, trace, cwd, reason, stop_reason, steps, usage, message_id] = slots(
        payload,
        &[
            "status",
            "text",
            "tool_trace",
            "cwd",
            "finish_reason",
            "stop_reason",
            "steps",
            "usage",
            "message_id",
        ],
    )?;
    Some(Done {
        status: f.text(status, "status").and_then(|word| DoneStatus::parse(&word)),
        text: f.text(text, "text"),
        tool_trace: f.trace(trace, "tool_trace"),
        cwd: f.text(cwd, "cwd"),
        finish_reason: f
            .text(reason, "finish_reason")
            .or_else(|| f.text(stop_reason, "stop_reason")),
        steps: f.u64(steps, "steps"),
        usage: f.object(usage, "usage").map(|value| value.raw().into()),
        message_id: f.text(message_id, "message_id"),
        ..Done::new()
    })
}

fn tool_uses<'a>(list: Option<Value<'a>>, f: &mut Fields<'_>) -> alloc::vec::Vec<ToolUse<'a>> {
    let mut uses = alloc::vec::Vec::new();
    for entry in list.into_iter().flat_map(|value| value.elements()) {
        let Some([id, name, args]) = slots(entry.raw(), &["call_id", "name", "args"]) else {
            f.diagnostics.push_with(Code::WrongType, f.at, "tool_uses");
            continue;
        };
        let (Some(id), Some(name)) = (f.need_text(id, "call_id"), f.need_text(name, "name")) else {
            continue;
        };
        uses.push(ToolUse { args: f.text(args, "args"), ..ToolUse::new(id, name) });
    }
    uses
}

/// The fields of an object that the reader has checked before.
fn slots<'a, const N: usize>(
    payload: &'a str,
    names: &[&str; N],
) -> Option<[Option<Value<'a>>; N]> {
    read_object(payload, names).ok()
}
