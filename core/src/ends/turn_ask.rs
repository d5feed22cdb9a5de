//! [`Turn`]'s calls for what waits for a person: questions, approvals and plans.

use alloc::vec::Vec;

use super::Turn;
use crate::error::CallerError;
use crate::event::{Answer, Decision, Effect, QuestionItem};
use crate::time::Millis;
use crate::turn::{ApprovalOptions, Settled};

impl Turn {
    /// The agent asks the user, for at most `timeout_ms`;
    /// [`QUESTION_TIMEOUT_MS`](crate::limits::QUESTION_TIMEOUT_MS) where nothing else is wanted.
    ///
    /// # Errors
    ///
    /// As [`Emitter::ask`](crate::turn::Emitter::ask).
    pub fn ask(
        &mut self,
        now: Millis,
        question_id: &str,
        questions: &[QuestionItem<'_>],
        timeout_ms: u64,
        out: &mut Vec<u8>,
    ) -> Result<(), CallerError> {
        self.say(now, out, |emitter, sink| {
            emitter.ask(question_id, questions, timeout_ms, now, sink)
        })
    }

    /// The user answered. An answer counts once; a late one is refused, after the end too.
    ///
    /// # Errors
    ///
    /// As [`Emitter::answer`](crate::turn::Emitter::answer).
    pub fn answer(
        &mut self,
        now: Millis,
        question_id: &str,
        answers: &[Answer<'_>],
        out: &mut Vec<u8>,
    ) -> Result<(), CallerError> {
        self.say(now, out, |emitter, sink| emitter.answer(question_id, answers, sink))
    }

    /// Something needs consent before it is done.
    ///
    /// # Errors
    ///
    /// As [`Emitter::require_approval`](crate::turn::Emitter::require_approval).
    pub fn require_approval(
        &mut self,
        now: Millis,
        approval_id: &str,
        effects: &[Effect<'_>],
        options: ApprovalOptions<'_>,
        out: &mut Vec<u8>,
    ) -> Result<(), CallerError> {
        self.say(now, out, |emitter, sink| {
            emitter.require_approval(approval_id, effects, options, now, sink)
        })
    }

    /// Somebody decided an approval. A late decision is refused, after the end too.
    ///
    /// # Errors
    ///
    /// As [`Emitter::resolve_approval`](crate::turn::Emitter::resolve_approval).
    pub fn resolve_approval(
        &mut self,
        now: Millis,
        approval_id: &str,
        decision: Decision,
        by: &str,
        out: &mut Vec<u8>,
    ) -> Result<(), CallerError> {
        self.say(now, out, |emitter, sink| {
            emitter.resolve_approval(approval_id, decision, by, sink)
        })
    }

    /// The agent proposes a plan and waits.
    ///
    /// # Errors
    ///
    /// As [`Emitter::propose_plan`](crate::turn::Emitter::propose_plan).
    pub fn propose_plan(
        &mut self,
        now: Millis,
        plan: &str,
        out: &mut Vec<u8>,
    ) -> Result<(), CallerError> {
        self.say(now, out, |emitter, sink| emitter.propose_plan(plan, sink))
    }

    /// Somebody decided the plan. A late decision is refused, after the end too.
    ///
    /// # Errors
    ///
    /// As [`Emitter::resolve_plan`](crate::turn::Emitter::resolve_plan).
    pub fn resolve_plan(
        &mut self,
        now: Millis,
        approved: bool,
        edits: Option<&str>,
        reason: Option<&str>,
        out: &mut Vec<u8>,
    ) -> Result<(), CallerError> {
        self.say(now, out, |emitter, sink| emitter.resolve_plan(approved, edits, reason, sink))
    }

    /// The server stops: what waits is settled as that, and the turn is cancelled by `shutdown`.
    ///
    /// # Errors
    ///
    /// As [`Emitter::shutdown`](crate::turn::Emitter::shutdown).
    pub fn shutdown(&mut self, now: Millis, out: &mut Vec<u8>) -> Result<(), CallerError> {
        self.say(now, out, |emitter, sink| emitter.shutdown(sink))
    }

    /// Questions, approvals and plans settled by any cause since last asked, in their order: what
    /// wakes the code that waits for them. Ask after every call, [`handle_timeout`] included.
    ///
    /// [`handle_timeout`]: Self::handle_timeout
    #[must_use]
    pub fn settled(&mut self) -> Vec<Settled> {
        self.take_settled()
    }
}
