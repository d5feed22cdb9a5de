//! Requests beside the streams: what a user decides, and loading the session.
//!
//! Their answers come in by the channels `answer` and `load`, in the order of the requests; with
//! no answer to a turn awaited, those of the channel of a turn are theirs too.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;

use serde_json::Value;

use super::conn::Conn;
use super::{Host, OpSink};
use crate::dialect::{Answer as HttpAnswer, Ask, HttpCall, Role};
use crate::error::{CallerError, Code};
use crate::event::{
    Answer, ApprovalResolved, Channel, Decision, Event, PlanResolved, QuestionOutcome,
    QuestionResolved,
};
use crate::host::Asked;
use crate::time::Millis;

/// Statuses that say that what was answered waits no more (`chat` 4; `workspace` A17).
const GONE: [u16; 3] = [404, 409, 410];

/// One request and what is known of its answer.
pub(super) struct Side {
    purpose: Purpose,
    status: Option<u16>,
    bytes: Vec<u8>,
}

enum Purpose {
    /// This holds once the server agrees.
    Settle(Box<Event<'static>>),
    Load,
}

impl Side {
    const fn channel(&self) -> Channel {
        match self.purpose {
            Purpose::Settle(_) => Channel::Answer,
            Purpose::Load => Channel::Load,
        }
    }
}

/// What a resolving event settles.
pub(super) fn asked<'e>(event: &'e Event<'_>) -> Asked<'e> {
    match event {
        Event::QuestionResolved(e) => Asked::Question(&e.question_id),
        Event::ApprovalResolved(e) => Asked::Approval(&e.approval_id),
        _ => Asked::Plan,
    }
}

impl Host {
    /// The user answers a question. Its row shows the answers once the server or the stream agrees;
    /// a refusal is a row of its own, and if the question waits no more its row is settled.
    ///
    /// Without a route for answers they are the next message of the user, where the dialect lets
    /// a question outlive its turn (X4). A question that is settled, answered already or unknown:
    /// nothing and a diagnostic.
    ///
    /// # Errors
    ///
    /// [`Code::NoRoute`] if the dialect takes no answers; [`Code::Busy`] while a turn runs, where
    /// they are the next message.
    pub fn answer(
        &mut self,
        now: Millis,
        question_id: &str,
        answers: &[Answer<'_>],
        sink: &mut OpSink<'_>,
    ) -> Result<(), CallerError> {
        if !self.may_settle(Asked::Question(question_id)) {
            return Ok(());
        }
        let mut resolved =
            QuestionResolved::new(question_id, QuestionOutcome::Answered).into_owned();
        resolved.answers = answers.iter().map(|answer| answer.clone().into_owned()).collect();
        let ask = Ask { question_id, answers, ..self.about() };
        match self.dialect.http_call(Role::Answer, &ask) {
            Ok(call) => self.settle_by(resolved.into(), call, sink),
            Err(error)
                if error.code == Code::NoRoute && self.dialect.rules().question_outlives_turn =>
            {
                let prompt = self.fold.answer_text(question_id, answers);
                self.submit(now, &prompt, None, &[], sink)?;
                if self.fold.is_busy() {
                    self.said_by_turn = Some(resolved.into());
                }
            }
            Err(error) => return Err(error),
        }
        Ok(())
    }

    /// The user decides an approval; as [`answer`](Self::answer). Silence is no consent: until the
    /// server or the stream agrees, the row waits.
    ///
    /// # Errors
    ///
    /// [`Code::NoRoute`] if the dialect has no approvals.
    pub fn resolve_approval(
        &mut self,
        approval_id: &str,
        decision: Decision,
        sink: &mut OpSink<'_>,
    ) -> Result<(), CallerError> {
        if !self.may_settle(Asked::Approval(approval_id)) {
            return Ok(());
        }
        let ask = Ask { approval: Some((approval_id, decision)), ..self.about() };
        let call = self.dialect.http_call(Role::Answer, &ask)?;
        let resolved = ApprovalResolved::new(approval_id, decision, "user").into_owned();
        self.settle_by(resolved.into(), call, sink);
        Ok(())
    }

    /// The user decides the plan that waits; as [`answer`](Self::answer).
    ///
    /// # Errors
    ///
    /// [`Code::NoRoute`] if the dialect has no route for plans.
    pub fn resolve_plan(
        &mut self,
        approved: bool,
        edits: Option<&str>,
        reason: Option<&str>,
        sink: &mut OpSink<'_>,
    ) -> Result<(), CallerError> {
        if !self.may_settle(Asked::Plan) {
            return Ok(());
        }
        let mut resolved = PlanResolved::new(approved);
        resolved.edits = edits.map(Into::into);
        resolved.reason = reason.map(Into::into);
        let ask = Ask { plan: Some(&resolved), ..self.about() };
        let call = self.dialect.http_call(Role::Answer, &ask)?;
        let resolved = resolved.into_owned();
        self.settle_by(resolved.into(), call, sink);
        Ok(())
    }

    /// Whether this waits and was not answered from here; what is not is noted.
    fn may_settle(&mut self, what: Asked<'_>) -> bool {
        let settling =
            |side: &Side| matches!(&side.purpose, Purpose::Settle(e) if asked(e) == what);
        let sent = self.sides.iter().any(settling)
            || self.said_by_turn.as_ref().is_some_and(|event| asked(event) == what);
        let code = match self.fold.asked_status(what) {
            None => Code::UnknownId,
            Some(status) if sent || !status.is_open() => Code::AlreadySettled,
            Some(_) => return true,
        };
        self.diagnostics.push_with(code, 0, what.id());
        false
    }

    fn settle_by(&mut self, event: Event<'static>, call: HttpCall, sink: &mut OpSink<'_>) {
        self.ask(Role::Answer, call);
        self.sides.push(Side {
            purpose: Purpose::Settle(Box::new(event)),
            status: None,
            bytes: Vec::new(),
        });
        self.flush(sink);
    }

    /// Asks for the session, if one is wanted and no turn runs.
    pub(super) fn load_if_due(&mut self) {
        if !self.fold.take_load() {
            return;
        }
        match self.dialect.http_call(Role::Load, &self.about()) {
            Ok(call) => {
                self.ask(Role::Load, call);
                let side = Side { purpose: Purpose::Load, status: None, bytes: Vec::new() };
                self.sides.push(side);
            }
            Err(_) => self.fold.reload_failed("this session cannot be loaded", 0),
        }
    }

    /// The request that something on this channel is about: the oldest that is at this point.
    fn side(&self, channel: Channel, answered: bool) -> Option<usize> {
        let any = channel == Channel::Turn && self.turn.is_none();
        let of = |side: &Side| any || side.channel() == channel;
        let at_point = |side: &Side| of(side) && side.status.is_some() == answered;
        self.sides.iter().position(at_point).or_else(|| self.sides.iter().position(of))
    }

    /// Whether the answer is to one of these requests.
    pub(super) fn side_response(&mut self, channel: Channel, status: u16) -> bool {
        let side = self.side(channel, false).and_then(|at| self.sides.get_mut(at));
        match side {
            Some(side) => side.status = Some(status),
            None => return is_side(channel),
        }
        true
    }

    /// Whether the bytes are of one of these answers.
    pub(super) fn side_feed(&mut self, channel: Channel, chunk: &[u8]) -> bool {
        let side = self.side(channel, true).and_then(|at| self.sides.get_mut(at));
        match side {
            Some(side) => Conn::keep(&mut side.bytes, chunk),
            None => return is_side(channel),
        }
        true
    }

    /// Whether one of these answers is complete now, or failed with `message`.
    pub(super) fn side_end(&mut self, now: Millis, channel: Channel, failed: Option<&str>) -> bool {
        let Some(at) = self.side(channel, true) else { return is_side(channel) };
        let side = self.sides.remove(at);
        let at_ms = self.at(now);
        let status = side.status.unwrap_or(200);
        let body = String::from_utf8_lossy(&side.bytes);
        let good = failed.is_none() && (200..300).contains(&status);
        let said = match (failed, self.dialect.http_answer(status, &body)) {
            (Some(message), _) => String::from(message),
            (None, HttpAnswer::Refused { message, .. }) => message,
            (None, _) => String::new(),
        };
        match &side.purpose {
            Purpose::Settle(event) if good => self.fold.agreed(event),
            Purpose::Settle(event) => {
                let gone = failed.is_none() && GONE.contains(&status);
                self.fold.refuse_answer(asked(event), gone, &said, at_ms);
            }
            Purpose::Load => match serde_json::from_str::<Value>(&body).ok().filter(|_| good) {
                Some(session) => {
                    if let Err(error) = self.fold.reload(&session) {
                        self.fold.reload_failed(error.code.message(), at_ms);
                    }
                }
                None => self.fold.reload_failed(&said, at_ms),
            },
        }
        true
    }

    /// The turn that carried an answer was taken, or refused.
    pub(super) fn turn_taken(&mut self, taken: bool) {
        if let Some(event) = self.said_by_turn.take().filter(|_| taken) {
            self.fold.agreed(&event);
        }
    }
}

/// Whether the channel is of these requests alone. What comes for a request that is not awaited,
/// such as the answer to a cancel, says nothing.
const fn is_side(channel: Channel) -> bool {
    matches!(channel, Channel::Answer | Channel::Cancel | Channel::Load)
}
