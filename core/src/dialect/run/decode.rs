//! Named frames to events.

use alloc::borrow::Cow;
use alloc::collections::VecDeque;
use alloc::string::String;

use super::blocks::read_content;
use super::usage::Usage;
use super::{CANCELLED, PREVIEW, same_word};
use crate::dialect::Decode;
use crate::dialect::fields::{Fields, Joiner, plain_summary, read};
use crate::error::{Code, Diagnostics};
use crate::event::{
    Done, DoneStatus, Envelope, Error, Event, Message, Notice, PlanProposed, PlanResolved, Resync,
    Role, Str, TextDelta, ToolProgress, ToolResult, ToolStart, TurnStarted, Unknown, UserMessage,
};
use crate::ids::EventId;
use crate::limits::STEPS_PREVIEWED_MAX;
use crate::wire::Frame;
use crate::wire::json::Value;

/// What frames leave open: the wire says neither where a turn begins nor which step a message is of.
#[derive(Default)]
pub(super) struct Decoder {
    text: Joiner,
    /// Something of a turn came, and no end.
    in_turn: bool,
    /// Steps whose preview waits for its message, in order (A4).
    previews: VecDeque<Option<u64>>,
    /// Messages of the model in this turn.
    messages: u64,
    usage: Usage,
    /// The id of the last frame that had one: frames repeat it until the next.
    last_id: String,
}

impl Decode for Decoder {
    fn decode(
        &mut self,
        frame: &Frame<'_>,
        diagnostics: &mut Diagnostics,
        sink: &mut dyn FnMut(&Envelope<'_>),
    ) {
        let id = self.own_id(frame);
        let mut f = Fields { at: frame.at, diagnostics };
        let Some(name) = name_of(frame, &mut f) else { return };
        let Some(event) = self.event(&name, frame, &mut f) else { return };
        if event.is_terminal() {
            self.finish(sink);
        }
        match &event {
            // What comes next is the replay, from a turn's start.
            Event::Resync(_) => self.restart(false),
            event if event.is_terminal() => self.restart(false),
            event if event.kind().belongs_to_turn() => self.in_turn = true,
            _ => {}
        }
        let mut envelope = Envelope::new(event);
        envelope.seq = id.map(|id| id.seq);
        envelope.epoch = id.and_then(|id| id.epoch).map(Str::Borrowed);
        sink(&envelope);
    }

    fn finish(&mut self, sink: &mut dyn FnMut(&Envelope<'_>)) {
        if let Some(rest) = self.text.rest() {
            sink(&Envelope::new(TextDelta::new(rest)));
        }
    }
}

/// The name of an event: the frame's own, else the `type` that servers put into the data (`run` 1).
fn name_of<'a>(frame: &'a Frame<'_>, f: &mut Fields<'_>) -> Option<Str<'a>> {
    if frame.event != "message" {
        return Some(Cow::Borrowed(frame.event));
    }
    let [kind] = read(frame, &["type"], f.diagnostics)?;
    Some(f.text(kind, "type").unwrap_or(Cow::Borrowed("message")))
}

impl Decoder {
    /// The id that this frame brought itself.
    fn own_id<'a>(&mut self, frame: &Frame<'a>) -> Option<EventId<'a>> {
        if self.last_id == frame.id {
            return None;
        }
        self.last_id.clear();
        self.last_id.push_str(frame.id);
        EventId::parse(frame.id)
    }

    fn restart(&mut self, in_turn: bool) {
        self.in_turn = in_turn;
        self.previews.clear();
        self.messages = 0;
    }

    fn event<'a>(
        &mut self,
        name: &str,
        frame: &'a Frame<'_>,
        f: &mut Fields<'_>,
    ) -> Option<Event<'a>> {
        Some(match name {
            "message" => self.message(frame, f)?,
            PREVIEW => {
                let [text, step] = read(frame, &["text", "step"], f.diagnostics)?;
                let Some(text) = text.and_then(|value| self.text.text(value)) else {
                    f.missing("text");
                    return None;
                };
                let step = f.u64(step, "step");
                self.preview(step);
                TextDelta { step, ..TextDelta::new(text) }.into()
            }
            "tool_call" => {
                let [tool, step, id, other_id] =
                    read(frame, &["name", "step", "id", "tool_use_id"], f.diagnostics)?;
                ToolStart {
                    step: f.u64(step, "step"),
                    call_id: f.text(id.or(other_id), "id"),
                    ..ToolStart::new(f.need_text(tool, "name").unwrap_or("tool".into()))
                }
                .into()
            }
            "tool_result" => {
                let [tool, success, id, other_id] =
                    read(frame, &["name", "success", "id", "tool_use_id"], f.diagnostics)?;
                let tool = f.need_text(tool, "name").unwrap_or("tool".into());
                let ok = f.bool(success, "success").unwrap_or_else(|| {
                    f.missing("success");
                    true
                });
                let summary = plain_summary(&tool, ok);
                ToolResult {
                    call_id: f.text(id.or(other_id), "id"),
                    ..ToolResult::new(tool, ok, summary)
                }
                .into()
            }
            "tool_progress" => {
                let [id, tool, elapsed] =
                    read(frame, &["tool_use_id", "tool_name", "elapsed_ms"], f.diagnostics)?;
                let id = f.need_text(id, "tool_use_id")?;
                let elapsed = f.u64(elapsed, "elapsed_ms").unwrap_or(0);
                ToolProgress { name: f.text(tool, "tool_name"), ..ToolProgress::new(id, elapsed) }
                    .into()
            }
            "plan_proposed" => {
                let [plan] = read(frame, &["plan"], f.diagnostics)?;
                PlanProposed::new(f.need_text(plan, "plan")?).into()
            }
            "plan_resolved" => {
                let [approved, edits, reason] =
                    read(frame, &["approved", "edits", "reason"], f.diagnostics)?;
                let Some(approved) = f.bool(approved, "approved") else {
                    f.missing("approved");
                    return None;
                };
                PlanResolved {
                    edits: f.text(edits, "edits"),
                    reason: f.text(reason, "reason"),
                    ..PlanResolved::new(approved)
                }
                .into()
            }
            "goal_continuing" => goal("goal_continuing", "reason", frame, f)?,
            "goal_achieved" => goal("goal_achieved", "condition", frame, f)?,
            "usage" => {
                let [] = read(frame, &[], f.diagnostics)?;
                self.usage.add(Value::parse(&frame.data).ok()?);
                return None;
            }
            "done" => self.done(frame, f)?,
            "error" => {
                let [message] = read(frame, &["message"], f.diagnostics)?;
                self.usage.take();
                Error::new(f.need_text(message, "message").unwrap_or("Error.".into())).into()
            }
            "resync" => {
                let [reason, oldest, head] =
                    read(frame, &["reason", "oldest_seq", "head_seq"], f.diagnostics)?;
                Resync {
                    oldest_seq: f.u64(oldest, "oldest_seq"),
                    head_seq: f.u64(head, "head_seq"),
                    ..Resync::new(f.need_text(reason, "reason").unwrap_or("overflow".into()))
                }
                .into()
            }
            other => {
                f.diagnostics.push_with(Code::UnknownEvent, f.at, other);
                Unknown::new(String::from(other), &*frame.data).into()
            }
        })
    }

    /// A message of the user opens the turn; one that comes within it opens none.
    fn message<'a>(&mut self, frame: &'a Frame<'_>, f: &mut Fields<'_>) -> Option<Event<'a>> {
        let [role, content] = read(frame, &["role", "content"], f.diagnostics)?;
        let role = f.need_text(role, "role");
        let (text, calls) = read_content(content, f);
        Some(match role.as_deref().and_then(Role::parse) {
            Some(Role::User) if self.in_turn => UserMessage::new(text).into(),
            Some(Role::User) => {
                self.restart(true);
                TurnStarted { user_text: Some(text), ..TurnStarted::new() }.into()
            }
            // Only these two are sent (`run` 3); another role's text is not the model's.
            None if role.is_some() => {
                f.wrong("role");
                return None;
            }
            _ => Message {
                step: self.step_of(text.is_empty()),
                tool_uses: calls,
                ..Message::new(Role::Assistant, text)
            }
            .into(),
        })
    }

    fn preview(&mut self, step: Option<u64>) {
        if self.previews.back() != Some(&step) && self.previews.len() < STEPS_PREVIEWED_MAX {
            self.previews.push_back(step);
        }
    }

    /// The step of the next message of the model: the n-th with text is of the n-th preview (A4).
    /// One without text is of the step that its place names, unless a preview waits for that.
    fn step_of(&mut self, empty: bool) -> Option<u64> {
        self.messages = self.messages.saturating_add(1);
        if !empty {
            return self.previews.pop_front().flatten();
        }
        let place = Some(self.messages);
        place.filter(|_| !self.previews.is_empty() && !self.previews.contains(&place))
    }

    fn done<'a>(&mut self, frame: &'a Frame<'_>, f: &mut Fields<'_>) -> Option<Event<'a>> {
        let [reason, steps] = read(frame, &["finish_reason", "total_steps"], f.diagnostics)?;
        let reason = f.text(reason, "finish_reason");
        let cancelled = reason.as_deref().is_some_and(|reason| same_word(reason, CANCELLED));
        Some(
            Done {
                status: cancelled.then_some(DoneStatus::Cancelled),
                finish_reason: reason,
                steps: f.u64(steps, "total_steps"),
                usage: self.usage.take(),
                ..Done::new()
            }
            .into(),
        )
    }
}

fn goal<'a>(
    code: &'static str,
    detail: &'static str,
    frame: &'a Frame<'_>,
    f: &mut Fields<'_>,
) -> Option<Event<'a>> {
    let [said, turns] = read(frame, &[detail, "turns"], f.diagnostics)?;
    let notice =
        Notice { detail: f.text(said, detail), turns: f.u64(turns, "turns"), ..Notice::new(code) };
    Some(notice.into())
}
