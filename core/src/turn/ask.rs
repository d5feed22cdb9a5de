//! The emitter's verbs of what waits for a person: questions, approvals, plans, and their time.
//!
//! Nothing but a person's word is consent: a time-out, a cancel, a shutdown and the turn's end
//! settle a thing as what they are, and an answer that comes after is refused with how it was
//! settled. What was settled, by whatever cause, [`Emitter::settled`] tells once. A deadline takes
//! effect in [`Emitter::handle_timeout`]: until that is called, an answer is in time.

use alloc::borrow::Cow;
use alloc::vec::Vec;

use super::emitter::{Emitter, Sink};
use super::fit::fits;
use super::order::Thing;
use super::waits::Settled;
use crate::error::CallerError;
use crate::event::{
    Answer, ApprovalRequired, ApprovalResolved, Decision, Effect, Event, PlanProposed,
    PlanResolved, Question, QuestionItem, QuestionOutcome, QuestionResolved,
};
use crate::time::{Millis, TimeoutReason};

/// Who decides when nobody does in time (`workspace`, decision A18).
const BY_TIMEOUT: &str = "timeout";

impl Emitter {
    /// The agent asks the user, and waits for at most `timeout_ms` from `now` on;
    /// [`QUESTION_TIMEOUT_MS`](crate::limits::QUESTION_TIMEOUT_MS) where nothing else is wanted.
    ///
    /// # Errors
    ///
    /// [`BadField`](crate::error::Code::BadField) for an empty id,
    /// [`DuplicateId`](crate::error::Code::DuplicateId) for one that is open,
    /// [`TooManyOpen`](crate::error::Code::TooManyOpen),
    /// [`EventTooLarge`](crate::error::Code::EventTooLarge).
    pub fn ask(
        &mut self,
        question_id: &str,
        questions: &[QuestionItem<'_>],
        timeout_ms: u64,
        now: Millis,
        sink: &mut Sink<'_>,
    ) -> Result<(), CallerError> {
        let mut question = Question::new(question_id, questions);
        question.timeout_ms = Some(timeout_ms);
        self.pass(&question.into(), question_id, now, sink)
    }

    /// The user answered. An answer counts once, and only while its question waits. The answers
    /// must fit the question: see [`Code::BadOption`](crate::error::Code::BadOption) below. An item
    /// without an answer was skipped.
    ///
    /// # Errors
    ///
    /// [`AlreadySettled`](crate::error::Code::AlreadySettled) with the outcome, which the turn's
    /// end may have brought, and [`UnknownId`](crate::error::Code::UnknownId);
    /// [`BadOption`](crate::error::Code::BadOption) for an item that the question does not have or
    /// that is answered twice, an option that its item does not list, and several options where one
    /// may be chosen: the question then still waits.
    pub fn answer(
        &mut self,
        question_id: &str,
        answers: &[Answer<'_>],
        sink: &mut Sink<'_>,
    ) -> Result<(), CallerError> {
        let mut resolved = QuestionResolved::new(question_id, QuestionOutcome::Answered);
        resolved.answers = answers.to_vec();
        self.resolve(&resolved.into(), question_id, sink)
    }

    /// Something needs consent before it is done, for the `effects` that it would have. With a
    /// time-out it waits for that long from `now` on, else until it is decided or the turn ends.
    ///
    /// # Errors
    ///
    /// Those of [`ask`](Self::ask).
    pub fn require_approval(
        &mut self,
        approval_id: &str,
        effects: &[Effect<'_>],
        options: ApprovalOptions<'_>,
        now: Millis,
        sink: &mut Sink<'_>,
    ) -> Result<(), CallerError> {
        let mut required = ApprovalRequired::new(approval_id, effects);
        required.call_id = options.call_id.map(Cow::Borrowed);
        required.name = options.name.map(Cow::Borrowed);
        required.timeout_ms = options.timeout_ms;
        self.pass(&required.into(), approval_id, now, sink)
    }

    /// Somebody decided an approval. Only [`Decision::Allow`] is consent; after a denial the call
    /// that waited gets its result, with the status `denied`, from its caller (`workspace`,
    /// decision A19).
    ///
    /// # Errors
    ///
    /// [`AlreadySettled`](crate::error::Code::AlreadySettled) with the decision,
    /// [`UnknownId`](crate::error::Code::UnknownId).
    pub fn resolve_approval(
        &mut self,
        approval_id: &str,
        decision: Decision,
        by: &str,
        sink: &mut Sink<'_>,
    ) -> Result<(), CallerError> {
        self.resolve(&ApprovalResolved::new(approval_id, decision, by).into(), approval_id, sink)
    }

    /// The agent proposes a plan and waits, without a time-out. A turn has one plan at a time.
    ///
    /// # Errors
    ///
    /// [`DuplicateId`](crate::error::Code::DuplicateId) while another waits,
    /// [`EventTooLarge`](crate::error::Code::EventTooLarge).
    pub fn propose_plan(&mut self, plan: &str, sink: &mut Sink<'_>) -> Result<(), CallerError> {
        // A plan has no deadline, so the moment does not matter.
        self.pass(&PlanProposed::new(plan).into(), "plan", Millis::default(), sink)
    }

    /// Somebody decided the plan: approved, perhaps as changed in `edits`, or not, for a `reason`.
    ///
    /// # Errors
    ///
    /// [`AlreadySettled`](crate::error::Code::AlreadySettled) with the outcome `approved`,
    /// `rejected` or `interrupted`, [`UnknownId`](crate::error::Code::UnknownId) if none was
    /// proposed.
    pub fn resolve_plan(
        &mut self,
        approved: bool,
        edits: Option<&str>,
        reason: Option<&str>,
        sink: &mut Sink<'_>,
    ) -> Result<(), CallerError> {
        let mut resolved = PlanResolved::new(approved);
        resolved.edits = edits.map(Cow::Borrowed);
        resolved.reason = reason.map(Cow::Borrowed);
        self.resolve(&resolved.into(), "plan", sink)
    }

    /// The server stops: questions that wait end as `shutdown`, then the turn is cancelled by
    /// `shutdown`.
    ///
    /// # Errors
    ///
    /// None; the result is that of every verb.
    pub fn shutdown(&mut self, sink: &mut Sink<'_>) -> Result<(), CallerError> {
        self.cancel_as("shutdown", QuestionOutcome::Shutdown, sink)
    }

    /// Time has passed: settles what is due, by deadline and then in the order of opening. A
    /// spurious wake-up does nothing.
    pub fn handle_timeout(&mut self, now: Millis, sink: &mut Sink<'_>) {
        if self.is_finished() {
            return;
        }
        for (thing, id) in self.waits.due(now) {
            let event: Event<'_> = match thing {
                Thing::Question => QuestionResolved::new(id, QuestionOutcome::Timeout).into(),
                _ => ApprovalResolved::new(id, Decision::Timeout, BY_TIMEOUT).into(),
            };
            self.give(event, sink);
        }
    }

    /// When to call [`handle_timeout`](Self::handle_timeout), and why. `None` if nothing has a
    /// deadline, and after the end: a question that outlives its turn (`respond`) waits for the
    /// user's next turn, however late.
    #[must_use]
    pub fn poll_timeout(&self) -> Option<(Millis, TimeoutReason)> {
        let deadline = self.waits.deadline().filter(|_| !self.is_finished())?;
        Some((deadline, TimeoutReason::Expiry))
    }

    /// Questions, approvals and plans that were settled since last asked, in their order: by an
    /// answer, a time-out, a cancel, a shutdown or the turn's end.
    ///
    /// More than [`SETTLED_UNREAD_MAX`](crate::limits::SETTLED_UNREAD_MAX) are not kept; the
    /// oldest are then forgotten, with a diagnostic.
    #[must_use]
    pub fn settled(&mut self) -> Vec<Settled> {
        self.waits.take_settled()
    }

    /// Settles what waits as `event` says, at any time.
    pub(super) fn resolve(
        &mut self,
        event: &Event<'_>,
        id: &str,
        sink: &mut Sink<'_>,
    ) -> Result<(), CallerError> {
        self.calls = self.calls.saturating_add(1);
        self.check(event, id)?;
        if let Event::QuestionResolved(resolved) = event {
            self.waits.check_answers(id, &resolved.answers)?;
        }
        fits(event)?;
        self.give(event.clone(), sink);
        Ok(())
    }
}

/// What an approval says besides its effects.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ApprovalOptions<'a> {
    /// The call that waits for it.
    pub call_id: Option<&'a str>,
    /// The tool.
    pub name: Option<&'a str>,
    /// Milliseconds until it times out; none by default.
    pub timeout_ms: Option<u64>,
}
