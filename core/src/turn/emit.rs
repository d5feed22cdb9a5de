//! Any canonical event into an emitter: as the verb of its name, or through the order.

use alloc::borrow::Cow;

use super::emitter::{Emitter, Sink, named};
use super::ending::{Failure, Finish};
use super::fit::{fits, short};
use super::order::{Irregular, Order, Orphan, effect};
use super::outcome::{Output, ToolOutcome};
use crate::error::CallerError;
use crate::event::{
    Done, DoneStatus, Error, Event, ImageFinished, ImageStarted, Message, Role, SubagentStarted,
    ToolCall, ToolResult,
};
use crate::text::is_blank;
use crate::time::Millis;

impl Emitter {
    /// Any event of the vocabulary. One that has a verb behaves as that verb; a `message` takes
    /// the place of its step's text (X2); the rest passes as it is, if the order allows it. A
    /// question or approval waits for as long as its `timeout_ms` says from `now` on, and without
    /// one until the turn ends; for other events `now` does not matter.
    ///
    /// # Errors
    ///
    /// Those of the verb; for the others [`DuplicateId`](crate::error::Code::DuplicateId),
    /// [`UnknownId`](crate::error::Code::UnknownId),
    /// [`AlreadySettled`](crate::error::Code::AlreadySettled) with the outcome,
    /// [`TooManyOpen`](crate::error::Code::TooManyOpen), and
    /// [`EventTooLarge`](crate::error::Code::EventTooLarge) if its JSON is over
    /// [`EVENT_GIVEN_MAX_BYTES`](crate::limits::EVENT_GIVEN_MAX_BYTES).
    pub fn emit(
        &mut self,
        event: &Event<'_>,
        now: Millis,
        sink: &mut Sink<'_>,
    ) -> Result<(), CallerError> {
        match event {
            Event::TurnStarted(e) => self.start(e.clone(), sink),
            Event::ReasoningDelta(e) => {
                self.follow_step(e.step, &e.text, e.message_id.as_deref(), sink)?;
                self.reasoning_of(&e.text, e.message_id.as_deref(), sink)
            }
            Event::TextDelta(e) => {
                self.follow_step(e.step, &e.text, e.message_id.as_deref(), sink)?;
                self.text_of(&e.text, e.message_id.as_deref(), sink)
            }
            Event::Message(e) if e.role == Role::Assistant => self.message(e, sink),
            Event::ToolCall(e) => self.tool_call_of(&e.call_id, &e.name, e.step, sink),
            Event::ToolArgsDelta(e) => self.tool_args_delta(&e.call_id, &e.delta, sink),
            Event::ToolArgs(e) => {
                self.imply_call(event, sink)?;
                self.tool_args(&e.call_id, &e.args, sink)
            }
            Event::ToolStart(e) => self.tool_start(e.clone(), sink),
            Event::ToolOutput(e) => self.tool_sign(event.clone(), &e.call_id, sink),
            Event::ToolProgress(e) => self.tool_sign(event.clone(), &e.call_id, sink),
            Event::ToolResult(e) => self.tool_result(outcome(e), sink),
            Event::Done(e) => self.done(e, sink),
            Event::Error(e) if !e.recoverable => self.fail(failure(e), sink),
            Event::Cancelled(e) => self.cancel(&e.by, sink),
            Event::Question(e) => self.pass(event, &e.question_id, now, sink),
            Event::QuestionResolved(e) => self.resolve(event, &e.question_id, sink),
            Event::ApprovalRequired(e) => self.pass(event, &e.approval_id, now, sink),
            Event::ApprovalResolved(e) => self.resolve(event, &e.approval_id, sink),
            Event::PlanResolved(_) => self.resolve(event, "plan", sink),
            Event::SubagentStarted(e) => self.pass(event, &e.call_id, now, sink),
            Event::SubagentText(e) => self.pass(event, &e.call_id, now, sink),
            Event::SubagentTool(e) => self.pass(event, &e.call_id, now, sink),
            Event::SubagentFinished(e) => self.pass(event, &e.call_id, now, sink),
            Event::ImageStarted(e) => self.pass(event, &e.image_id, now, sink),
            Event::ImageFinished(e) => self.pass(event, &e.image_id, now, sink),
            Event::UserMessage(_)
            | Event::Progress(_)
            | Event::Message(_)
            | Event::PlanProposed(_)
            | Event::Media(_)
            | Event::Todo(_)
            | Event::Context(_)
            | Event::Fallback(_)
            | Event::Continuation(_)
            | Event::Notice(_)
            | Event::Compacted(_)
            | Event::Title(_)
            | Event::Queue(_)
            | Event::State(_)
            | Event::Resync(_)
            | Event::Error(_)
            | Event::Unknown(_) => self.pass(event, event.kind().name(), now, sink),
        }
    }

    /// Gives an event that has no verb. `id` is what it speaks of.
    pub(super) fn pass(
        &mut self,
        event: &Event<'_>,
        id: &str,
        now: Millis,
        sink: &mut Sink<'_>,
    ) -> Result<(), CallerError> {
        if self.is_late() {
            return Ok(());
        }
        named(id, "id")?;
        fits(event)?;
        let implied = effect(event.kind()).orphan == Orphan::Implied;
        match self.order.judge_touch(event) {
            Err(Irregular::Unknown) if implied => {
                if let Some(opening) = opening(event) {
                    self.check(&opening, id)?;
                    self.begin(sink);
                    self.give(opening, sink);
                }
            }
            _ => self.check(event, id)?,
        }
        self.begin(sink);
        self.give(event.clone(), sink);
        self.waits.begin(event, now);
        Ok(())
    }

    /// Authoritative text of the running step.
    fn message(&mut self, message: &Message<'_>, sink: &mut Sink<'_>) -> Result<(), CallerError> {
        if self.is_late() {
            return Ok(());
        }
        let event = Event::Message(message.clone());
        fits(&event)?;
        self.begin(sink);
        self.advance(message.step, sink);
        self.step = self.step.max(1);
        let of_this_step = message.step.is_none_or(|step| step == self.step);
        if of_this_step && !is_blank(&message.text) {
            let open = !self.text.open().is_empty();
            if open || self.text.step_start == self.text.all.len() {
                self.text.replace(self.text.covered, &message.text);
            }
        }
        self.give(event, sink);
        Ok(())
    }

    /// Goes on to the step that a delta names, if that is a later one and the delta is not refused.
    fn follow_step(
        &mut self,
        step: Option<u64>,
        text: &str,
        message_id: Option<&str>,
        sink: &mut Sink<'_>,
    ) -> Result<(), CallerError> {
        if !self.is_finished() && !text.is_empty() {
            short(message_id.unwrap_or_default(), "message_id")?;
            self.begin(sink);
            self.advance(step, sink);
        }
        Ok(())
    }

    /// Gives the `tool_call` that arguments without one imply.
    fn imply_call(&mut self, event: &Event<'_>, sink: &mut Sink<'_>) -> Result<(), CallerError> {
        if self.is_finished() || self.order.judge_touch(event) != Err(Irregular::Unknown) {
            return Ok(());
        }
        let id = Order::id_of(event);
        named(id, "call_id")?;
        fits(event)?;
        if let Some(Event::ToolCall(mut call)) = opening(event) {
            short(&call.name, "name")?;
            call.step = Some(self.step.max(1));
            let opening = Event::ToolCall(call);
            self.check(&opening, id)?;
            self.begin_step(sink);
            self.cover(sink);
            self.give(opening, sink);
        }
        Ok(())
    }

    /// A `done` finishes the turn, or, with a status, ends it as a trailer says that it ended. The
    /// trailer of a turn whose terminal was given is the one that was given with it.
    fn done(&mut self, done: &Done<'_>, sink: &mut Sink<'_>) -> Result<(), CallerError> {
        match done.status {
            Some(_) if self.is_finished() => Ok(()),
            Some(DoneStatus::Cancelled) => self.cancel("unknown", sink),
            Some(DoneStatus::Failed) => self.fail(Failure::default(), sink),
            None => {
                let finish = Finish {
                    text: done.text.as_deref(),
                    finish_reason: done.finish_reason.as_deref(),
                    usage: done.usage.as_ref().map(|usage| usage.text()),
                    message_id: done.message_id.as_deref(),
                    generation_time: done.generation_time.as_deref(),
                };
                self.finish(finish, sink)
            }
        }
    }
}

/// The event that begins what `event` goes on with.
fn opening<'e>(event: &'e Event<'_>) -> Option<Event<'e>> {
    Some(match event {
        Event::ToolArgs(e) => ToolCall::new(&*e.call_id, &*e.name).into(),
        Event::SubagentText(e) => subagent(&e.call_id, e.agent_id.as_deref(), None),
        Event::SubagentTool(e) => subagent(&e.call_id, e.agent_id.as_deref(), None),
        Event::SubagentFinished(e) => {
            subagent(&e.call_id, e.agent_id.as_deref(), e.name.as_deref())
        }
        Event::ImageFinished(e) => image(e).into(),
        _ => return None,
    })
}

fn subagent<'e>(call_id: &'e str, agent_id: Option<&'e str>, name: Option<&'e str>) -> Event<'e> {
    let mut started = SubagentStarted::new(call_id);
    started.agent_id = agent_id.map(Cow::Borrowed);
    started.name = name.map(Cow::Borrowed);
    started.into()
}

fn image<'e>(finished: &'e ImageFinished<'_>) -> ImageStarted<'e> {
    let prompt = finished.prompt.as_deref().unwrap_or_default();
    ImageStarted::new(&*finished.image_id, &*finished.call_id, prompt)
}

fn outcome<'e>(result: &'e ToolResult<'_>) -> ToolOutcome<'e> {
    let output = Output::Text(result.output.as_deref().unwrap_or_default());
    let mut outcome = ToolOutcome::new(&result.name, output);
    outcome.call_id = result.call_id.as_deref();
    outcome.ok = Some(result.ok);
    outcome.status = result.status.as_deref();
    outcome.exit_code = result.exit_code;
    outcome.files_changed = result.files_changed.clone();
    outcome.summary = (!is_blank(&result.summary)).then_some(&*result.summary);
    outcome.preview = result.preview.as_deref();
    outcome
}

fn failure<'e>(error: &'e Error<'_>) -> Failure<'e> {
    let mut failure = Failure::new(&error.message);
    failure.status = error.status;
    failure.code = error.code.as_deref();
    failure.remedy = error.remedy.as_deref();
    failure.unavailable_reason = error.unavailable_reason.as_deref();
    failure.required_version = error.required_version.as_deref();
    failure
}
