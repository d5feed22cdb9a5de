//! Events to named frames.

use super::blocks::write_message;
use super::{CANCELLED, EVENTS, FAILED, NATURAL_END, PREVIEW, PREVIEW_HEAD, carriage};
use crate::dialect::fields::plain_summary;
use crate::dialect::said::{Rest, Said};
use crate::dialect::{Carriage, Encode, Stamp, Written};
use crate::event::{Done, DoneStatus, Error, Event, Message, Notice, Role, ToolResult};
use crate::text::is_blank;
use crate::wire::json::RawJson;
use crate::wire::{FrameWriter, json::ObjectWriter};

/// What of the turn the frames to come depend on.
#[derive(Default)]
pub(super) struct Encoder {
    /// The text of the messages, so that the final text can be held against it.
    said: Said,
    /// The highest step that was named.
    steps: u64,
    /// The turn was ended by an error or a cancel.
    ended: bool,
}

impl Encode for Encoder {
    fn encode(
        &mut self,
        _: &Stamp<'_>,
        event: &Event<'_>,
        frames: &mut FrameWriter<'_>,
    ) -> Written {
        let carriage = match event {
            Event::TurnStarted(e) => {
                *self = Self::default();
                if let Some(text) = e.user_text.as_deref().filter(|text| !is_blank(text)) {
                    write_message(&mut frames.object(Some("message")), Role::User, text, &[]);
                }
                Carriage::Derived
            }
            Event::UserMessage(e) => {
                write_message(&mut frames.object(Some("message")), Role::User, &e.text, &[]);
                Carriage::Carried
            }
            Event::TextDelta(e) => {
                self.step(e.step);
                let mut frame = frames.text_object(Some(PREVIEW), PREVIEW_HEAD, &e.text);
                frame.opt_u64("step", e.step);
                Carriage::Carried
            }
            Event::Message(e) => self.message(e, frames),
            Event::ToolStart(e) => {
                self.step(e.step);
                let mut frame = frames.object(Some("tool_call"));
                frame.str("name", &e.name).opt_u64("step", e.step);
                frame.opt_str("id", e.call_id.as_deref());
                unless(e.args.is_some(), "tool_call without arguments")
            }
            // Nobody here knows a call that was cut: it would count as one that failed.
            Event::ToolResult(e) if e.status.as_deref() == Some("interrupted") => Carriage::Dropped,
            Event::ToolResult(e) => tool_result(e, frames),
            Event::ToolProgress(e) => {
                let mut frame = frames.object(Some("tool_progress"));
                frame.str("tool_use_id", &e.call_id).opt_str("tool_name", e.name.as_deref());
                frame.u64("elapsed_ms", e.elapsed_ms);
                Carriage::Carried
            }
            Event::PlanProposed(e) => {
                frames.object(Some("plan_proposed")).str("plan", &e.plan);
                Carriage::Carried
            }
            Event::PlanResolved(e) => {
                let mut frame = frames.object(Some("plan_resolved"));
                frame.bool("approved", e.approved).opt_str("edits", e.edits.as_deref());
                frame.opt_str("reason", e.reason.as_deref());
                Carriage::Carried
            }
            Event::Notice(e) => notice(e, frames),
            Event::Resync(e) => {
                let mut frame = frames.object(Some("resync"));
                frame.str("reason", &e.reason).opt_u64("oldest_seq", e.oldest_seq);
                frame.opt_u64("head_seq", e.head_seq);
                drop(frame);
                // It is of one reader, not of the log, and has no id (`server`, Ids).
                return Written::TRANSIENT;
            }
            Event::Done(e) => self.done(e, frames),
            // An error ends the turn here (A8).
            Event::Error(e) if e.recoverable => Carriage::Dropped,
            Event::Error(e) => {
                self.ended = true;
                error(&e.message, frames);
                unless(has_more(e), "error with its message alone")
            }
            Event::Cancelled(_) => {
                self.ended = true;
                self.write_done(CANCELLED, None, frames);
                carriage(event.kind())
            }
            Event::Unknown(e) => match RawJson::check(&e.raw) {
                // A name of this dialect with data of another would be taken for what it is not.
                Ok(raw) if !is_blank(&e.name) && !EVENTS.contains(&&*e.name) => {
                    frames.raw(Some(&e.name), &raw);
                    Carriage::Carried
                }
                _ => Carriage::Dropped,
            },
            _ => carriage(event.kind()),
        };
        Written::stored(carriage)
    }
}

impl Encoder {
    fn step(&mut self, step: Option<u64>) {
        self.steps = self.steps.max(step.unwrap_or(0));
        self.ended = false;
    }

    fn message(&mut self, message: &Message<'_>, frames: &mut FrameWriter<'_>) -> Carriage {
        if message.role == Role::Assistant {
            self.step(message.step);
            self.said.push(&message.text);
        }
        let mut frame = frames.object(Some("message"));
        let whole = write_message(&mut frame, message.role, &message.text, &message.tool_uses);
        unless(!whole, "message with input as text")
    }

    /// The end, or the trailer of one that was not said yet.
    fn done(&mut self, done: &Done<'_>, frames: &mut FrameWriter<'_>) -> Carriage {
        match done.status {
            Some(_) if self.ended => return Carriage::Derived,
            Some(DoneStatus::Failed) => {
                self.ended = true;
                error(FAILED, frames);
                return Carriage::Degraded("error");
            }
            Some(_) => self.ended = true,
            None => {}
        }
        if let Some(Ok(usage)) = done.usage.as_ref().map(|usage| RawJson::check(usage.text())) {
            frames.raw(Some("usage"), &usage);
        }
        let word = if done.status.is_some() { CANCELLED } else { NATURAL_END };
        let reason = done.finish_reason.as_deref();
        self.write_done(reason.unwrap_or(word), done.steps, frames);
        let text = done.text.as_deref().filter(|text| !is_blank(text));
        let retold = text.is_some_and(|text| self.said.rest_of(text) != Rest::Same);
        if retold || done.cwd.is_some() {
            return Carriage::Degraded("done with its reason and steps alone");
        }
        let bare = done.text.is_none() && done.tool_trace.is_empty() && done.message_id.is_none();
        let exact = bare && reason.is_some() && done.steps.is_some() && done.usage.is_none();
        // Text and tools were told before.
        if exact { Carriage::Carried } else { Carriage::Derived }
    }

    fn write_done(&self, reason: &str, steps: Option<u64>, frames: &mut FrameWriter<'_>) {
        let mut frame = frames.object(Some("done"));
        frame.str("finish_reason", reason).u64("total_steps", steps.unwrap_or(self.steps));
    }
}

fn tool_result(result: &ToolResult<'_>, frames: &mut FrameWriter<'_>) -> Carriage {
    let mut frame = frames.object(Some("tool_result"));
    frame.str("name", &result.name).bool("success", result.ok);
    frame.opt_str("id", result.call_id.as_deref());
    let more = result.preview.is_some()
        || result.output.is_some()
        || result.status.is_some()
        || result.exit_code.is_some()
        || !result.files_changed.is_empty()
        || result.summary != plain_summary(&result.name, result.ok);
    unless(more, super::RESULT)
}

fn notice(notice: &Notice<'_>, frames: &mut FrameWriter<'_>) -> Carriage {
    let mut write = |name: &'static str, detail: &'static str| {
        let mut frame: ObjectWriter<'_> = frames.object(Some(name));
        frame.opt_str(detail, notice.detail.as_deref()).opt_u64("turns", notice.turns);
        Carriage::Carried
    };
    match &*notice.code {
        "goal_continuing" => write("goal_continuing", "reason"),
        "goal_achieved" => write("goal_achieved", "condition"),
        _ => Carriage::Dropped,
    }
}

fn error(message: &str, frames: &mut FrameWriter<'_>) {
    frames.object(Some("error")).str("message", message);
}

fn has_more(error: &Error<'_>) -> bool {
    error.status.is_some()
        || error.code.is_some()
        || error.remedy.is_some()
        || error.unavailable_reason.is_some()
        || error.required_version.is_some()
}

const fn unless(less: bool, what: &'static str) -> Carriage {
    if less { Carriage::Degraded(what) } else { Carriage::Carried }
}
