//! Events to envelopes.

use alloc::string::String;

use super::session::CREATED;
use super::{ask, is_transient, session, turn, wire_type, work};
use crate::dialect::{Carriage, Encode, Stamp, Written};
use crate::event::{Event, EventKind, State, Str, Unknown};
use crate::text::is_blank;
use crate::wire::FrameWriter;
use crate::wire::json::{Kind, ObjectWriter, RawJson, Value, read_object};

/// Remembers the ids that the turn's start named, since every envelope repeats them.
#[derive(Default)]
pub(super) struct Encoder {
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
        let word = match event {
            Event::State(State { name, .. }) if name == CREATED => CREATED,
            Event::Unknown(e) => return self.unknown(stamp, e, frames),
            _ => match wire_type(event.kind()) {
                Some(word) => word,
                None => return Written::stored(Carriage::Dropped),
            },
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
        self.names(&mut frame, word, is_of_turn(event.kind(), word));
        payload(&mut frame.object("payload"), event);
        if event.kind() == EventKind::Done {
            self.turn_id = None;
        }
        if transient { Written::TRANSIENT } else { Written::stored(Carriage::Carried) }
    }
}

/// Whether the envelope names the turn that runs.
fn is_of_turn(kind: EventKind, word: &str) -> bool {
    let of_session = matches!(kind, EventKind::Title | EventKind::Queue | EventKind::Resync);
    !of_session && word != CREATED
}

impl Encoder {
    fn names(&self, frame: &mut ObjectWriter<'_>, word: &str, of_turn: bool) {
        frame.str("type", word);
        frame.opt_str("workspace_id", self.workspace_id.as_deref());
        frame.opt_str("session_id", self.session_id.as_deref());
        frame.opt_str("turn_id", self.turn_id.as_deref().filter(|_| of_turn));
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
            turn::write_delta(p, &e.text, e.step, e.message_id.as_deref());
        }
        Event::TextDelta(e) => turn::write_delta(p, &e.text, e.step, e.message_id.as_deref()),
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
        // `Encoder::unknown` has written it.
        Event::Unknown(_) => {}
    }
}
