//! Envelopes to events.

use alloc::string::String;

use super::session::CREATED;
use super::{ask, is_transient, session, turn, work};
use crate::dialect::Decode;
use crate::dialect::fields::{Fields, Joiner, Spoken, read};
use crate::error::{Code, Diagnostics};
use crate::event::{Envelope, Event, ReasoningDelta, Str, TextDelta, Title, Unknown};
use crate::ids::EventId;
use crate::wire::Frame;

#[derive(Default)]
pub(super) struct Decoder {
    token: Joiner,
    reasoning: Joiner,
    last: Spoken,
}

const ENVELOPE: [&str; 7] =
    ["seq", "ts", "type", "workspace_id", "session_id", "turn_id", "payload"];

/// The payload of an envelope.
#[derive(Clone, Copy)]
struct Payload<'a> {
    text: &'a str,
    /// It has an object of its own; else the envelope's fields are its fields.
    nested: bool,
}

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
        let payload = f.object(payload, "payload");
        let payload = Payload {
            text: payload.map_or(&*frame.data, |value| value.raw()),
            nested: payload.is_some(),
        };
        let turn_id = f.text(turn_id, "turn_id");
        let mut title = None;
        let event = if *kind == *CREATED {
            session::read_created(payload.text, &mut f).map(|(state, of)| {
                title = of;
                Event::State(state)
            })
        } else {
            self.event(&kind, turn_id.as_deref(), payload, frame, &mut f)
        };
        let Some(event) = event else { return };
        if self.settle_halves(&event, sink) {
            f.diagnostics.push(Code::LoneSurrogate, f.at);
        }
        let mut envelope = Envelope::new(event);
        envelope.ts_ms = f.moment(ts, "ts");
        envelope.turn_id = turn_id;
        envelope.session_id = f.text(session_id, "session_id");
        envelope.workspace_id = f.text(workspace_id, "workspace_id");
        if let Some(title) = title {
            sink(&envelope);
            envelope.event = Title::new(title).into();
        }
        if !is_transient(envelope.event.kind()) {
            number(&mut envelope, f.u64(seq, "seq"), frame);
        }
        sink(&envelope);
    }

    fn finish(&mut self, sink: &mut dyn FnMut(&Envelope<'_>)) {
        self.give_halves(sink);
    }
}

/// The number stands in the envelope; the epoch in the frame's id, which is of the same event only
/// if it has the same number.
fn number<'a>(envelope: &mut Envelope<'a>, seq: Option<u64>, frame: &Frame<'a>) {
    let id = EventId::parse(frame.id).filter(|id| Some(id.seq) == seq);
    envelope.seq = seq;
    envelope.epoch = id.and_then(|id| id.epoch).map(Str::Borrowed);
}

impl Decoder {
    /// Gives halves that stay alone before what ends their text; a hop says its text whole. Whether
    /// one was lost.
    fn settle_halves(&mut self, event: &Event<'_>, sink: &mut dyn FnMut(&Envelope<'_>)) -> bool {
        match event {
            Event::TextDelta(_) => self.last = Spoken::Text,
            Event::ReasoningDelta(_) => self.last = Spoken::Reasoning,
            Event::Message(_) => _ = self.token.rest(),
            Event::ToolStart(_) | Event::ToolCall(_) => return self.give_halves(sink),
            event if event.is_terminal() => return self.give_halves(sink),
            _ => {}
        }
        false
    }

    /// Gives a half that stays alone. One that the other channel has spoken after has no place any
    /// more, where it would be a row of its own; whether there was one.
    fn give_halves(&mut self, sink: &mut dyn FnMut(&Envelope<'_>)) -> bool {
        match (self.last, self.token.rest(), self.reasoning.rest()) {
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

    fn event<'a>(
        &mut self,
        kind: &str,
        turn_id: Option<&str>,
        payload: Payload<'a>,
        frame: &'a Frame<'_>,
        f: &mut Fields<'_>,
    ) -> Option<Event<'a>> {
        let p = payload.text;
        match kind {
            "turn_started" => turn::read_start(p, turn_id, f),
            "user_message" => turn::read_user_message(p, f),
            "progress" => turn::read_progress(p, f),
            "reasoning_delta" => turn::read_reasoning(p, &mut self.reasoning, f),
            super::TOKEN => turn::read_token(p, &mut self.token, f),
            "hop" => turn::read_hop(p, f),
            "tool_call" => work::read_call(p, f),
            "tool_args_delta" => work::read_args_delta(p, f),
            "tool_args" => work::read_args(p, f),
            "tool_started" => work::read_start(p, f),
            "output" => work::read_output(p, f),
            "tool_progress" => work::read_progress(p, f),
            "tool_result" => work::read_result(p, f),
            "ask_user" => ask::read_question(p, f),
            "question_resolved" => ask::read_question_resolved(p, f),
            "approval_required" => ask::read_approval(p, f),
            "approval_resolved" => ask::read_approval_resolved(p, f),
            "plan_proposed" => ask::read_plan(p, f),
            "plan_resolved" => ask::read_plan_resolved(p, f),
            "child_started" => work::read_child_started(p, payload.nested, f),
            "subagent_text" => work::read_child_text(p, f),
            "subagent_tool" => work::read_child_tool(p, f),
            "child_done" => work::read_child_done(p, f),
            "image_started" => work::read_image_started(p, f),
            "image_finished" => work::read_image_finished(p, f),
            "media" => work::read_media(p, f),
            "todo" => session::read_todo(p, f),
            "context" => session::read_context(p, f),
            "fallback" => session::read_fallback(p, f),
            "continuation" => session::read_continuation(p, f),
            "notice" => session::read_notice(p, f),
            "compacted" => session::read_compacted(p, f),
            "title" => session::read_title(p, f),
            "queue" => session::read_queue(p, f),
            "state" => session::read_state(p, f),
            "resync" => session::read_resync(p, f),
            "done" => turn::read_done(p, f),
            "error" => turn::read_error(p, f),
            "cancelled" => turn::read_cancelled(p, f),
            other => {
                f.diagnostics.push_with(Code::UnknownEvent, f.at, other);
                Some(Unknown::new(String::from(other), &*frame.data).into())
            }
        }
    }
}
