//! Events to envelopes.

use super::session::CREATED;
use super::{PAYLOAD_HEAD, TOKEN, ask, is_transient, session, turn, wire_type, work};
use crate::dialect::{Carriage, Encode, Stamp, Written};
use crate::event::{Event, EventKind, State, TextDelta, TurnStarted, Unknown};
use crate::text::is_blank;
use crate::wire::FrameWriter;
use crate::wire::json::{FieldsJson, Kind, ObjectWriter, RawJson, Value, read_object};

/// Remembers the ids that the turn's start named, since every envelope repeats them.
pub(super) struct Encoder {
    /// Those of the workspace and the session, as they are written.
    of_session: FieldsJson,
    /// The same with that of the turn.
    of_turn: FieldsJson,
    /// The same behind the type of the one event that comes by the thousand.
    of_token: FieldsJson,
}

impl Default for Encoder {
    fn default() -> Self {
        Self::new(&TurnStarted::new())
    }
}

impl Encode for Encoder {
    fn encode(
        &mut self,
        stamp: &Stamp<'_>,
        event: &Event<'_>,
        frames: &mut FrameWriter<'_>,
    ) -> Written {
        let word = match event {
            Event::TextDelta(e) => return self.token(stamp, e, frames),
            Event::State(State { name, .. }) if name == CREATED => CREATED,
            Event::Unknown(e) => return self.unknown(stamp, e, frames),
            _ => match wire_type(event.kind()) {
                Some(word) => word,
                None => return Written::stored(Carriage::Dropped),
            },
        };
        if let Event::TurnStarted(start) = event {
            *self = Self::new(start);
        }
        let transient = is_transient(event.kind());
        let mut frame = frames.object(None);
        frame.opt_u64("seq", stamp.seq.filter(|_| !transient)).opt_u64("ts", stamp.ts_ms);
        self.names(&mut frame, word, is_of_turn(event.kind(), word));
        payload(&mut frame.object("payload"), event);
        if event.kind() == EventKind::Done {
            self.of_turn.clone_from(&self.of_session);
            self.of_token = with_type(TOKEN, &self.of_turn);
        }
        if transient { Written::TRANSIENT } else { Written::stored(Carriage::Carried) }
    }
}

fn with_type(word: &str, ids: &FieldsJson) -> FieldsJson {
    FieldsJson::new(|fields| _ = fields.str("type", word).fields(ids))
}

/// Whether the envelope names the turn that runs.
fn is_of_turn(kind: EventKind, word: &str) -> bool {
    let of_session = matches!(kind, EventKind::Title | EventKind::Queue | EventKind::Resync);
    !of_session && word != CREATED
}

impl Encoder {
    fn new(start: &TurnStarted<'_>) -> Self {
        let ids = |turn_id: Option<&str>| {
            FieldsJson::new(|fields| {
                fields.opt_str("workspace_id", start.workspace_id.as_deref());
                fields.opt_str("session_id", start.session_id.as_deref());
                fields.opt_str("turn_id", turn_id);
            })
        };
        let of_turn = ids(start.turn_id.as_deref());
        Self { of_session: ids(None), of_token: with_type(TOKEN, &of_turn), of_turn }
    }

    fn token(&self, stamp: &Stamp<'_>, e: &TextDelta<'_>, frames: &mut FrameWriter<'_>) -> Written {
        let mut frame = frames.object(None);
        frame.opt_u64("ts", stamp.ts_ms).fields(&self.of_token);
        let mut payload = frame.text_object(PAYLOAD_HEAD, &e.text);
        payload.opt_u64("step", e.step).opt_str("message_id", e.message_id.as_deref());
        Written::TRANSIENT
    }

    fn names(&self, frame: &mut ObjectWriter<'_>, word: &str, of_turn: bool) {
        let ids = if of_turn { &self.of_turn } else { &self.of_session };
        frame.str("type", word).fields(ids);
    }

    /// What was this dialect's before is put into an envelope of this log, its payload as it came.
    fn unknown(
        &self,
        stamp: &Stamp<'_>,
        event: &Unknown<'_>,
        frames: &mut FrameWriter<'_>,
    ) -> Written {
        let known = |word: &str| {
            let mut words = EventKind::ALL.iter().filter_map(|kind| wire_type(*kind));
            word == CREATED || words.any(|known| known == word)
        };
        let inner = read_object(&event.raw, &["payload"]).map(|[payload]| payload);
        let (Ok(inner), false, false) = (inner, is_blank(&event.name), known(&event.name)) else {
            return Written::stored(Carriage::Dropped);
        };
        let inner = inner.filter(|value: &Value<'_>| value.kind() == Kind::Object);
        let inner = inner.or_else(|| Value::parse(&event.raw).ok());
        let mut frame = frames.object(None);
        frame.opt_u64("seq", stamp.seq).opt_u64("ts", stamp.ts_ms);
        self.names(&mut frame, &event.name, true);
        if let Some(inner) = inner {
            frame.raw("payload", &RawJson::from(inner));
        }
        Written::stored(Carriage::Carried)
    }
}

fn payload(p: &mut ObjectWriter<'_>, event: &Event<'_>) {
    match event {
        Event::TurnStarted(e) => turn::write_start(p, e),
        Event::UserMessage(e) => turn::write_user_message(p, e),
        Event::Progress(e) => {
            p.str("phase", &e.phase);
        }
        Event::ReasoningDelta(e) => {
            p.str("text", &e.text).opt_u64("step", e.step);
            p.opt_str("message_id", e.message_id.as_deref());
        }
        Event::Message(e) => turn::write_hop(p, e),
        Event::ToolCall(e) => work::write_call(p, e),
        Event::ToolArgsDelta(e) => {
            p.str("call_id", &e.call_id).str("delta", &e.delta);
        }
        Event::ToolArgs(e) => {
            p.str("call_id", &e.call_id).str("name", &e.name).str("args", &e.args);
        }
        Event::ToolStart(e) => work::write_start(p, e),
        Event::ToolOutput(e) => {
            p.str("call_id", &e.call_id).str("stream", e.stream.as_str()).str("text", &e.text);
        }
        Event::ToolProgress(e) => work::write_progress(p, e),
        Event::ToolResult(e) => work::write_result(p, e),
        Event::Question(e) => ask::write_question(p, e),
        Event::QuestionResolved(e) => ask::write_question_resolved(p, e),
        Event::ApprovalRequired(e) => ask::write_approval(p, e),
        Event::ApprovalResolved(e) => ask::write_approval_resolved(p, e),
        Event::PlanProposed(e) => {
            p.str("plan", &e.plan);
        }
        Event::PlanResolved(e) => ask::write_plan_resolved(p, e),
        Event::SubagentStarted(e) => work::write_child_started(p, e),
        Event::SubagentText(e) => work::write_child_text(p, e),
        Event::SubagentTool(e) => work::write_child_tool(p, e),
        Event::SubagentFinished(e) => work::write_child_done(p, e),
        Event::ImageStarted(e) => work::write_image_started(p, e),
        Event::ImageFinished(e) => work::write_image_finished(p, e),
        Event::Media(e) => work::write_media(p, e),
        Event::Todo(e) => session::write_todo(p, e),
        Event::Context(e) => session::write_context(p, e),
        Event::Fallback(e) => session::write_fallback(p, e),
        Event::Continuation(e) => session::write_continuation(p, e),
        Event::Notice(e) => session::write_notice(p, e),
        Event::Compacted(e) => session::write_compacted(p, e),
        Event::Title(e) => {
            p.str("title", &e.title);
        }
        Event::Queue(e) => session::write_queue(p, e),
        Event::State(e) => session::write_state(p, e),
        Event::Resync(e) => session::write_resync(p, e),
        Event::Done(e) => turn::write_done(p, e),
        Event::Error(e) => turn::write_error(p, e),
        Event::Cancelled(e) => {
            p.str("by", &e.by);
        }
        // `Encoder::token` and `Encoder::unknown` have written them.
        Event::TextDelta(_) | Event::Unknown(_) => {}
    }
}
