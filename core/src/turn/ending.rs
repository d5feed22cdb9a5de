//! How a turn ends: by finishing, failing or being cancelled; and what is settled before.

use alloc::borrow::Cow;
use alloc::format;
use alloc::string::String;

use serde::de::IgnoredAny;

use super::emitter::{Emitter, Sink};
use super::fit::{ESCAPED_BYTES_MAX, escaped_len, short};
use super::order::{Phase, Thing};
use crate::error::{CallerError, Code};
use crate::event::{
    ApprovalResolved, Cancelled, Decision, Done, DoneStatus, Error, Event, ImageFinished,
    PlanResolved, QuestionOutcome, QuestionResolved, RawJson, SubagentFinished, ToolResult,
    TraceEntry,
};
use crate::limits::{
    DONE_TEXT_MAX_ESCAPED_BYTES, DONE_TRACE_MAX_ESCAPED_BYTES, ENDING_TEXT_MAX_CHARS,
    USAGE_MAX_BYTES,
};
use crate::text::{clip_chars, is_blank};

/// The word for what the end of a turn cut off (X4).
const INTERRUPTED: &str = "interrupted";

/// How a turn ended.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Ending {
    /// By finishing.
    Finished,
    /// By an error.
    Failed {
        /// What went wrong, for people.
        message: String,
        /// An HTTP status that says it.
        status: Option<u16>,
        /// What went wrong, as a code.
        code: Option<String>,
    },
    /// By a cancel.
    Cancelled {
        /// Who cancelled.
        by: String,
    },
}

/// What a turn that finishes says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Finish<'a> {
    /// The final text, if it is not what was streamed. A blank one says nothing (X2).
    pub text: Option<&'a str>,
    /// Why the model stopped, in its provider's word.
    pub finish_reason: Option<&'a str>,
    /// What the turn cost, as JSON; if absent, the sum of the steps' usage.
    pub usage: Option<&'a str>,
    /// The assistant message that was stored.
    pub message_id: Option<&'a str>,
    /// How long it took, in words.
    pub generation_time: Option<&'a str>,
}

/// What a turn that fails says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Failure<'a> {
    /// What went wrong, for people. A blank one becomes `Stream error.` (`agent` 2).
    pub message: &'a str,
    /// An HTTP status that says it.
    pub status: Option<u16>,
    /// What went wrong, as a code.
    pub code: Option<&'a str>,
    /// What the user can do.
    pub remedy: Option<&'a str>,
    /// Why an external agent cannot be used (`respond`).
    pub unavailable_reason: Option<&'a str>,
    /// The version of an external agent that is needed (`respond`).
    pub required_version: Option<&'a str>,
}

impl<'a> Failure<'a> {
    /// A failure that says this.
    #[must_use]
    pub fn new(message: &'a str) -> Self {
        Self { message, ..Self::default() }
    }
}

impl Emitter {
    /// The turn is over: `done`, with the given text or else all that was streamed.
    ///
    /// A text over the bound of [`DONE_TEXT_MAX_ESCAPED_BYTES`] is left out, with a diagnostic.
    ///
    /// # Errors
    ///
    /// [`Code::BadJson`] if the usage is not JSON, [`Code::EventTooLarge`] if it is over
    /// [`USAGE_MAX_BYTES`], [`Code::BadField`] for another word that is too long.
    pub fn finish(&mut self, finish: Finish<'_>, sink: &mut Sink<'_>) -> Result<(), CallerError> {
        if self.is_late() {
            return Ok(());
        }
        if finish.usage.is_some_and(|json| serde_json::from_str::<IgnoredAny>(json).is_err()) {
            return Err(CallerError::new(Code::BadJson).with("usage"));
        }
        if finish.usage.is_some_and(|json| json.len() > USAGE_MAX_BYTES) {
            return Err(CallerError::new(Code::EventTooLarge).with("usage"));
        }
        short(finish.finish_reason.unwrap_or_default(), "finish_reason")?;
        short(finish.message_id.unwrap_or_default(), "message_id")?;
        short(finish.generation_time.unwrap_or_default(), "generation_time")?;
        self.begin(sink);
        self.final_text(finish.text, sink);
        self.settle_open(Keep::OutlivingQuestions, "system", sink);

        let mut done = Done::default();
        // Counted once, and only where it can matter.
        let all = &self.text.all;
        let may_be_long = all.len().saturating_mul(ESCAPED_BYTES_MAX) > DONE_TEXT_MAX_ESCAPED_BYTES;
        if may_be_long && escaped_len(all) > DONE_TEXT_MAX_ESCAPED_BYTES {
            self.diagnostics.push(Code::DoneTextLeftOut, self.calls);
        } else if !self.text.all.is_empty() {
            done.text = Some(Cow::Borrowed(&self.text.all));
        }
        let fitting = fitting_trace(&self.trace);
        if fitting.len() < self.trace.len() {
            self.diagnostics.push(Code::DoneTraceCut, self.calls);
        }
        done.tool_trace = fitting.iter().map(borrow_entry).collect();
        done.cwd = self.fs_ran.then_some(Cow::Borrowed(self.cwd.as_str()));
        done.finish_reason = finish.finish_reason.map(Cow::Borrowed);
        done.steps = (self.step > 0).then_some(self.step);
        done.usage =
            finish.usage.map(RawJson::from).or_else(|| self.usage.json().map(RawJson::from));
        done.message_id = finish.message_id.map(Cow::Borrowed);
        done.generation_time = finish.generation_time.map(Cow::Borrowed);
        let event = Event::Done(done);
        self.order.apply(&event);
        sink(&event);
        self.ending = Some(Ending::Finished);
        Ok(())
    }

    /// The turn failed: `error`, then the trailer.
    ///
    /// # Errors
    ///
    /// None; the result is that of every verb.
    pub fn fail(&mut self, failure: Failure<'_>, sink: &mut Sink<'_>) -> Result<(), CallerError> {
        if self.is_late() {
            return Ok(());
        }
        self.begin(sink);
        self.cover(sink);
        self.settle_open(Keep::Nothing(QuestionOutcome::Cancelled), "system", sink);
        let clip = |text| clip_chars(text, ENDING_TEXT_MAX_CHARS);
        let message = if is_blank(failure.message) { "Stream error." } else { failure.message };
        let message = &*clip(message);
        let mut error = Error::new(message);
        error.status = failure.status;
        error.code = failure.code.map(clip);
        error.remedy = failure.remedy.map(clip);
        error.unavailable_reason = failure.unavailable_reason.map(clip);
        error.required_version = failure.required_version.map(clip);
        self.give(error.into(), sink);
        self.give_trailer(DoneStatus::Failed, sink);
        self.ending = Some(Ending::Failed {
            message: message.into(),
            status: failure.status,
            code: failure.code.map(String::from),
        });
        Ok(())
    }

    /// Somebody stopped the turn: `cancelled`, then the trailer.
    ///
    /// # Errors
    ///
    /// None; the result is that of every verb.
    pub fn cancel(&mut self, by: &str, sink: &mut Sink<'_>) -> Result<(), CallerError> {
        self.cancel_as(by, QuestionOutcome::Cancelled, sink)
    }

    pub(super) fn cancel_as(
        &mut self,
        by: &str,
        questions: QuestionOutcome,
        sink: &mut Sink<'_>,
    ) -> Result<(), CallerError> {
        if self.is_late() {
            return Ok(());
        }
        let by = &*clip_chars(by, ENDING_TEXT_MAX_CHARS);
        self.begin(sink);
        self.cover(sink);
        self.settle_open(Keep::Nothing(questions), by, sink);
        self.give(Cancelled::new(by).into(), sink);
        self.give_trailer(DoneStatus::Cancelled, sink);
        self.ending = Some(Ending::Cancelled { by: by.into() });
        Ok(())
    }

    fn give_trailer(&mut self, status: DoneStatus, sink: &mut Sink<'_>) {
        debug_assert_eq!(self.order.phase(), Phase::Ended);
        let usage = self.usage.json().map(RawJson::from);
        let done = Done { status: Some(status), usage, ..Done::new() };
        self.give(done.into(), sink);
    }

    /// Covers what was streamed and takes the given text over it. Where nothing but blanks was
    /// streamed the given text is the message, so that readers without a final text see it.
    fn final_text(&mut self, given: Option<&str>, sink: &mut Sink<'_>) {
        let given = given.filter(|text| !is_blank(text));
        match given {
            Some(text) if is_blank(&self.text.all) => {
                self.step = self.step.max(1);
                self.text.replace(0, text);
                self.text.uncover();
                self.cover(sink);
            }
            Some(text) => {
                self.cover(sink);
                if text != self.text.all {
                    self.text.replace(0, text);
                }
            }
            None => self.cover(sink),
        }
    }

    /// Settles what is open, as interrupted (X4), in the order of [`Thing::ALL`].
    fn settle_open(&mut self, keep: Keep, by: &str, sink: &mut Sink<'_>) {
        let questions = match keep {
            Keep::Nothing(outcome) => outcome,
            Keep::OutlivingQuestions => QuestionOutcome::Cancelled,
        };
        for thing in Thing::ALL {
            let outlives = keep == Keep::OutlivingQuestions && self.rules.question_outlives_turn;
            if thing == Thing::Question && outlives {
                continue;
            }
            let word = match thing {
                Thing::Question => questions.as_str(),
                Thing::Approval => Decision::Cancelled.as_str(),
                Thing::Plan | Thing::Call | Thing::Subagent | Thing::Image => INTERRUPTED,
            };
            for open in self.order.interrupt(thing, word) {
                let (id, label) = (open.id.as_str(), open.label.as_str());
                let event: Event<'_> = match thing {
                    Thing::Question => QuestionResolved::new(id, questions).into(),
                    Thing::Approval => ApprovalResolved::new(id, Decision::Cancelled, by).into(),
                    Thing::Plan => {
                        let mut plan = PlanResolved::new(false);
                        plan.reason = Some(INTERRUPTED.into());
                        plan.into()
                    }
                    Thing::Image => {
                        let mut image = ImageFinished::new(id, label, false);
                        image.error = Some(INTERRUPTED.into());
                        image.into()
                    }
                    Thing::Subagent => {
                        let mut subagent = SubagentFinished::new(id, false);
                        subagent.error = Some(INTERRUPTED.into());
                        subagent.into()
                    }
                    Thing::Call => {
                        let summary = format!("{label} · ✗ failed · {INTERRUPTED}");
                        let mut result = ToolResult::new(label, false, summary);
                        result.call_id = (!id.is_empty()).then_some(Cow::Borrowed(id));
                        result.status = Some(INTERRUPTED.into());
                        result.into()
                    }
                };
                self.hand(&event, sink);
            }
        }
    }
}

/// What an ending leaves open.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Keep {
    /// Nothing: questions end in this way.
    Nothing(QuestionOutcome),
    /// Questions, where the dialect lets them be answered after `done`.
    OutlivingQuestions,
}

/// The first entries of a trace, as many as fit into a `done`.
fn fitting_trace<'e>(trace: &'e [TraceEntry<'static>]) -> &'e [TraceEntry<'static>] {
    /// Keys and punctuation of an entry.
    const AROUND_BYTES: usize = 64;
    let mut taken = 0;
    let fits = |entry: &&TraceEntry<'_>| {
        taken += AROUND_BYTES + escaped_len(&entry.name) + escaped_len(&entry.summary);
        taken <= DONE_TRACE_MAX_ESCAPED_BYTES
    };
    let count = trace.iter().take_while(fits).count();
    trace.get(..count).unwrap_or_default()
}

fn borrow_entry<'e>(entry: &'e TraceEntry<'static>) -> TraceEntry<'e> {
    TraceEntry::new(&*entry.name, entry.ok, &*entry.summary)
}
