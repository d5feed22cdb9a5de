//! Frames of `chat` to events, on both channels.

use alloc::format;
use alloc::string::String;

use super::part::{Calls, Pair};
use super::{CONNECTED, DELTA_HEAD, RESYNC, SETTLED, STARTED};
use crate::dialect::Decode;
use crate::dialect::fields::{Fields, Joiner, LastId, Slot, numbered, read, slots};
use crate::dialect::said::{Rest, Said};
use crate::error::{Code, Diagnostics};
use crate::event::{
    Channel, Compacted, Done, DoneStatus, Envelope, Error, Event, Notice, Phase, PlanProposed,
    PlanResolved, Progress, Queue, ReasoningDelta, Resync, State, Str, TextDelta, TurnStarted,
    Unknown,
};
use crate::text::is_blank;
use crate::wire::Frame;
use crate::wire::json::{Kind, Usual, Value};

pub(super) struct Decoder {
    channel: Channel,
    text: Joiner,
    calls: Calls,
    /// The phase that was presented last, and the steps' words.
    phase: String,
    steps: Said,
    last_id: LastId,
}

impl Decoder {
    pub(super) fn new(channel: Channel) -> Self {
        Self {
            channel,
            text: Joiner::default(),
            calls: Calls::default(),
            phase: String::new(),
            steps: Said::default(),
            last_id: LastId::default(),
        }
    }
}

const NAMES: [&str; 5] = ["type", "text", "messageId", "sessionId", "frame"];

impl Decode for Decoder {
    fn decode(
        &mut self,
        frame: &Frame<'_>,
        diagnostics: &mut Diagnostics,
        sink: &mut dyn FnMut(&Envelope<'_>),
    ) {
        let id = self.last_id.own(frame);
        // The common frame as most servers write it; the rest says the same at greater length.
        if let Some((text, message_id)) = usual_delta(&frame.data) {
            let message_id = message_id.and_then(|id| id.str());
            if let Some(text) = self.text.lend(text) {
                let delta = TextDelta { message_id, ..TextDelta::new(text) };
                sink(&numbered(delta.into(), id));
            }
            return;
        }
        let Some(mut fields) = read(frame, &NAMES, diagnostics) else { return };
        let mut f = Fields { at: frame.at, diagnostics };
        let mut data = &*frame.data;
        let mut session_id = f.text(fields[3], "sessionId");
        // A wrapper around the frame proper (A1).
        if let (None, Some(inner)) = (fields[0], f.object(fields[4], "frame")) {
            data = inner.raw();
            fields = slots(data, &NAMES).unwrap_or_default();
            session_id = f.text(fields[3], "sessionId").or(session_id);
        }
        let [kind, text, message_id, ..] = fields;
        let Some(kind) = f.need_text(kind, "type") else { return };
        let pair = match &*kind {
            "delta" => [self.delta(text, message_id, &mut f), None],
            "tool" => self.tool(data, &mut f).unwrap_or_default(),
            "reasoning" => self.reasoning(data, message_id, &mut f).unwrap_or_default(),
            other => [self.event(other, data, &mut f), None],
        };
        if matches!(&pair, [Some(event), _] if event.is_terminal()) {
            self.finish(sink);
            self.begin();
        }
        let last = usize::from(pair[1].is_some());
        for (at, event) in pair.into_iter().enumerate() {
            let Some(event) = event else { continue };
            // A reader that saw only a part of a frame asks for it again.
            let mut envelope = numbered(event, id.filter(|_| at == last));
            envelope.session_id.clone_from(&session_id);
            sink(&envelope);
        }
    }

    fn finish(&mut self, sink: &mut dyn FnMut(&Envelope<'_>)) {
        if let Some(rest) = self.text.rest() {
            sink(&Envelope::new(TextDelta::new(rest)));
        }
    }
}

/// Text and message of a delta.
#[inline]
fn usual_delta(data: &str) -> Option<(Value<'_>, Option<Value<'_>>)> {
    let mut usual = Usual::new(data);
    let text = if usual.skip(DELTA_HEAD) { usual.string()? } else { return None };
    let message_id = usual.opt_string(r#","messageId":"#)?;
    usual.is_end("}").then_some((text, message_id))
}

impl Decoder {
    /// Forgets the run before.
    fn begin(&mut self) {
        self.calls.clear();
        self.phase.clear();
        self.steps = Said::default();
    }

    fn delta<'a>(
        &mut self,
        text: Slot<'a>,
        message_id: Slot<'a>,
        f: &mut Fields<'_>,
    ) -> Option<Event<'a>> {
        let Some(text) = text.and_then(|value| self.text.text(value)) else {
            f.missing("text");
            return None;
        };
        let message_id = f.text(message_id, "messageId");
        Some(TextDelta { message_id, ..TextDelta::new(text) }.into())
    }

    fn tool<'a>(&mut self, data: &'a str, f: &mut Fields<'_>) -> Option<Pair<'a>> {
        let [part] = slots(data, &["part"])?;
        let Some(part) = f.object(part, "part") else {
            f.missing("part");
            return None;
        };
        self.calls.part(part, f)
    }

    /// A presentation is whole each time: its phase is progress, what is new of its steps is
    /// reasoning. Outside a run it must say which message it belongs to (A17).
    fn reasoning<'a>(
        &mut self,
        data: &'a str,
        message_id: Slot<'a>,
        f: &mut Fields<'_>,
    ) -> Option<Pair<'a>> {
        let message_id = f.text(message_id, "messageId");
        if self.channel == Channel::Events && message_id.is_none() {
            return None;
        }
        let [presentation] = slots(data, &["presentation"])?;
        let [phase, steps] =
            slots(f.object(presentation, "presentation")?.raw(), &["phase", "steps"])?;
        let phase = f.text(phase, "phase").filter(|phase| **phase != *self.phase);
        if let Some(phase) = &phase {
            self.phase = String::from(&**phase);
        }
        let words = self
            .words(steps, f)
            .map(|text| Event::from(ReasoningDelta { message_id, ..ReasoningDelta::new(text) }));
        let phase = phase.map(|phase| Event::from(Progress::new(phase)));
        Some(if phase.is_some() { [phase, words] } else { [words, None] })
    }

    /// What the steps say beyond what they said before; all of it where they say something else.
    fn words(&mut self, steps: Slot<'_>, f: &mut Fields<'_>) -> Option<String> {
        let mut whole = String::new();
        for step in f.elements(steps, "steps") {
            let Some([title, body]) = slots(step.raw(), &["title", "body"]) else { continue };
            for text in [f.text(title, "title"), f.text(body, "body")].into_iter().flatten() {
                if !is_blank(&text) {
                    whole.push_str(if whole.is_empty() { "" } else { "\n\n" });
                    whole.push_str(&text);
                }
            }
        }
        let rest = match self.steps.rest_of(&whole) {
            Rest::More(rest) => String::from(rest),
            Rest::Other if !whole.is_empty() => {
                self.steps = Said::default();
                self.steps.push(&whole);
                return Some(format!("\n\n{whole}"));
            }
            _ => return None,
        };
        self.steps.push(&rest);
        Some(rest)
    }

    fn event<'a>(&mut self, kind: &str, data: &'a str, f: &mut Fields<'_>) -> Option<Event<'a>> {
        Some(match kind {
            "start" => {
                self.begin();
                start(data, f)?.into()
            }
            CONNECTED => {
                let [session] = slots(data, &["sessionId"])?;
                let message = f.text(session, "sessionId");
                State { message, ..State::new(CONNECTED) }.into()
            }
            "thinking" => {
                let [text] = slots(data, &["text"])?;
                ReasoningDelta::new(f.need_text(text, "text")?).into()
            }
            "plan" => plan(data, f)?,
            "state" => state(data, f)?,
            "queue" => {
                let [steering, follow_up] = slots(data, &["steering", "followUp"])?;
                Queue::new(f.texts(steering, "steering"), f.texts(follow_up, "followUp")).into()
            }
            "compaction" => {
                let [phase, reason, aborted, error] =
                    slots(data, &["phase", "reason", "aborted", "errorMessage"])?;
                let phase = f.text(phase, "phase").and_then(|word| Phase::parse(&word));
                Compacted {
                    phase,
                    reason: f.text(reason, "reason").or_else(|| f.text(error, "errorMessage")),
                    aborted: f.bool(aborted, "aborted").unwrap_or(false),
                    ..Compacted::new()
                }
                .into()
            }
            "retry" => retry(data, f)?,
            "done" => done(data, f)?.into(),
            "error" => error(data, f)?.into(),
            other => {
                f.diagnostics.push_with(Code::UnknownEvent, f.at, other);
                Unknown::new(String::from(other), data).into()
            }
        })
    }
}

fn start<'a>(data: &'a str, f: &mut Fields<'_>) -> Option<TurnStarted<'a>> {
    let [id, run, session, user_message, capabilities] =
        slots(data, &["id", "runId", "sessionId", "userMessageId", "adapterCapabilities"])?;
    Some(TurnStarted {
        message_id: f.text(id, "id"),
        run_id: f.text(run, "runId").filter(|id| id != "pending"),
        session_id: f.text(session, "sessionId"),
        user_message_id: f.text(user_message, "userMessageId"),
        capabilities: f.object(capabilities, "adapterCapabilities").map(|v| v.raw().into()),
        ..TurnStarted::new()
    })
}

/// A plan that waits, one that was decided, or how far one has come.
fn plan<'a>(data: &'a str, f: &mut Fields<'_>) -> Option<Event<'a>> {
    let [mode, executing, completed, total, message, state, reason] =
        slots(data, &["mode", "executing", "completed", "total", "message", "state", "reason"])?;
    let (mode, message) = (f.text(mode, "mode"), f.text(message, "message"));
    // What `state` holds is not told; only our own words are looked for.
    let state = state.and_then(|value| value.str());
    if let Some("approved" | "rejected") = state.as_deref() {
        return Some(
            PlanResolved {
                edits: message,
                reason: f.text(reason, "reason"),
                ..PlanResolved::new(state.as_deref() == Some("approved"))
            }
            .into(),
        );
    }
    let executing = f.bool(executing, "executing").unwrap_or(false);
    Some(match message {
        Some(plan) if mode.as_deref() == Some("plan") && !executing => {
            PlanProposed::new(plan).into()
        }
        _ => {
            let completed = f.u64(completed, "completed").unwrap_or_default();
            let total = f.u64(total, "total").unwrap_or_default();
            Progress::new(format!("plan {completed}/{total}")).into()
        }
    })
}

fn state<'a>(data: &'a str, f: &mut Fields<'_>) -> Option<Event<'a>> {
    let [state] = slots(data, &["state"])?;
    let Some(state) = f.object(state, "state") else {
        f.missing("state");
        return None;
    };
    let [name, message, reason, oldest, head] =
        slots(state.raw(), &["name", "message", "reason", "oldestSeq", "headSeq"])?;
    let (name, message) = (f.need_text(name, "name")?, f.text(message, "message"));
    if name == RESYNC || (name == SETTLED && message.as_deref() == Some(RESYNC)) {
        let reason = f.text(reason, "reason").unwrap_or("overflow".into());
        return Some(
            Resync {
                oldest_seq: f.u64(oldest, "oldestSeq"),
                head_seq: f.u64(head, "headSeq"),
                ..Resync::new(reason)
            }
            .into(),
        );
    }
    Some(match message {
        Some(text) if name == STARTED => notice(&text).into(),
        message => State { message, ..State::new(name) }.into(),
    })
}

/// What the engine's `notify` and `setStatus` said (`chat` 4).
fn notice(text: &str) -> Notice<'static> {
    let (code, detail) = if let Some(rest) = text.strip_prefix("WARNING: ") {
        ("warning", Some(rest))
    } else if let Some(rest) = text.strip_prefix("ERROR: ") {
        ("error", Some(rest))
    } else {
        match text.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
            Some((code, "")) => (code, None),
            Some((code, rest)) => (code, Some(rest.strip_prefix(' ').unwrap_or(rest))),
            None => ("notify", Some(text)),
        }
    };
    let mut notice = Notice::new(String::from(code));
    notice.detail = detail.map(|detail| Str::Owned(detail.into()));
    notice
}

/// Another try begins, which the run survives; or the tries are over.
fn retry<'a>(data: &'a str, f: &mut Fields<'_>) -> Option<Event<'a>> {
    let [phase, message, success, last, status, code, remedy] = slots(
        data,
        &["phase", "errorMessage", "success", "finalError", "status", "code", "remedy"],
    )?;
    if f.text(phase, "phase").as_deref() == Some("end") {
        let success = f.bool(success, "success").unwrap_or(true);
        let code = if success { "retry_succeeded" } else { "retry_failed" };
        return Some(Notice { detail: f.text(last, "finalError"), ..Notice::new(code) }.into());
    }
    Some(
        Error {
            recoverable: true,
            status: f.status(status, "status"),
            code: f.text(code, "code"),
            remedy: f.text(remedy, "remedy"),
            ..Error::new(f.text(message, "errorMessage").unwrap_or("Trying again.".into()))
        }
        .into(),
    )
}

/// The text of the final message; an empty message leaves what was streamed (`chat` 2).
fn done<'a>(data: &'a str, f: &mut Fields<'_>) -> Option<Done<'a>> {
    let [message, status, cwd, reason, steps, usage, time] = slots(
        data,
        &["message", "status", "cwd", "finishReason", "steps", "usage", "generationTime"],
    )?;
    let message = f.object(message, "message").map_or("{}", |value| value.raw());
    let [id, parts] = slots(message, &["id", "parts"])?;
    let mut texts = f.elements(parts, "parts").filter_map(text_part);
    let mut text = texts.next();
    for more in texts {
        text.get_or_insert_default().to_mut().push_str(&more);
    }
    Some(Done {
        message_id: f.text(id, "id"),
        text: text.filter(|text| !is_blank(text)),
        status: f.text(status, "status").and_then(|word| DoneStatus::parse(&word)),
        cwd: f.text(cwd, "cwd"),
        finish_reason: f.text(reason, "finishReason"),
        steps: f.u64(steps, "steps"),
        usage: f.object(usage, "usage").map(|value| value.raw().into()),
        generation_time: f.text(time, "generationTime"),
        ..Done::new()
    })
}

fn text_part(part: Value<'_>) -> Option<Str<'_>> {
    let part = Some(part).filter(|part| part.kind() == Kind::Object)?;
    let [kind, text] = slots(part.raw(), &["type", "text"])?;
    (kind?.str()? == "text").then_some(text?.str()?)
}

fn error<'a>(data: &'a str, f: &mut Fields<'_>) -> Option<Error<'a>> {
    let [message, status, code, remedy, unavailable, version] = slots(
        data,
        &["message", "status", "code", "remedy", "unavailableReason", "requiredVersion"],
    )?;
    Some(Error {
        status: f.status(status, "status"),
        code: f.text(code, "code"),
        remedy: f.text(remedy, "remedy"),
        unavailable_reason: f.text(unavailable, "unavailableReason"),
        required_version: f.text(version, "requiredVersion"),
        ..Error::new(f.need_text(message, "message").unwrap_or("Stream error.".into()))
    })
}
