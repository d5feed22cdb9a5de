//! Events to chunks of `respond`.

use alloc::collections::BTreeMap;
use alloc::string::String;

use super::{TEXT_HEAD, THINKING_HEAD, carriage};
use crate::dialect::asking::write_items;
use crate::dialect::outcome::{value_of, write_extras};
use crate::dialect::said::{Rest, Said};
use crate::dialect::{Carriage, Encode, Stamp, Written};
use crate::event::{
    Compacted, Continuation, Done, Error, Event, Message, Phase, Question, Role, SubagentFinished,
    ToolResult, ToolStart,
};
use crate::limits::OPEN_CALLS_MAX;
use crate::text::is_blank;
use crate::wire::FrameWriter;
use crate::wire::json::{ObjectWriter, RawJson};

/// What the chunks of the turn have said so far.
#[derive(Default)]
pub(super) struct Encoder {
    /// A thinking segment is open (`respond` 2, `thinking_start`).
    thinking: bool,
    /// Text since the last message.
    step: Said,
    /// The text of the turn before that.
    turn: Said,
    /// The calls that were announced and have no result, and whether their arguments were given.
    calls: BTreeMap<String, bool>,
}

impl Encode for Encoder {
    fn encode(
        &mut self,
        _: &Stamp<'_>,
        event: &Event<'_>,
        frames: &mut FrameWriter<'_>,
    ) -> Written {
        if matches!(event, Event::TurnStarted(_)) {
            *self = Self::default();
        }
        let carriage = self.say(event, frames);
        if event.is_terminal() {
            *self = Self::default();
        }
        Written::stored(carriage)
    }
}

/// Writes one chunk; the flag comes last, as in the seed's samples.
fn chunk(frames: &mut FrameWriter<'_>, kind: &str, fill: impl FnOnce(&mut ObjectWriter<'_>)) {
    let mut chunk = frames.object(None);
    chunk.str("type", kind);
    fill(&mut chunk);
    chunk.bool("done", matches!(kind, "done" | "error"));
}

impl Encoder {
    fn say(&mut self, event: &Event<'_>, frames: &mut FrameWriter<'_>) -> Carriage {
        let usual = carriage(event.kind());
        match event {
            Event::TurnStarted(e) => {
                let Some(id) = e.user_message_id.as_deref() else { return Carriage::Derived };
                chunk(frames, "user_message_id", |c| _ = c.str("messageId", id));
            }
            Event::ReasoningDelta(e) => {
                if !e.text.is_empty() && !core::mem::replace(&mut self.thinking, true) {
                    chunk(frames, "thinking_start", |_| {});
                }
                frames.text_object(None, THINKING_HEAD, &e.text).bool("done", false);
            }
            Event::TextDelta(e) => self.text(&e.text, frames),
            Event::Message(e) => return self.message(e, frames),
            Event::ToolCall(e) => self.announce(&e.call_id, &e.name, frames),
            Event::ToolArgs(e) => {
                self.call(&e.call_id, true);
                arguments(&e.call_id, &e.name, &e.args, frames);
            }
            Event::ToolStart(e) => return self.tool_start(e, frames),
            Event::ToolResult(e) => return self.tool_result(e, frames),
            Event::Question(e) => question(e, frames),
            Event::Error(e) if e.recoverable => {
                // An `error` ends the turn of every client of the seed.
                let code = e.code.as_deref().unwrap_or("error");
                system_event(code, Some(&e.message), frames);
                return Carriage::Degraded("system_event");
            }
            Event::Error(e) => error(e, frames),
            // The trailer: the error was the terminal, and a stopped turn has none.
            Event::Done(e) if e.status.is_some() => return Carriage::Derived,
            Event::Done(e) => return self.done(e, frames),
            Event::Continuation(e) => {
                self.thinking = false;
                continuation(e, frames);
            }
            Event::Unknown(e) => {
                // What was this dialect's before is passed on as it came.
                let Ok(raw) = RawJson::check(&e.raw) else { return Carriage::Dropped };
                frames.raw(None, &raw);
                return Carriage::Carried;
            }
            _ => beside(event, frames),
        }
        usual
    }

    fn text(&mut self, text: &str, frames: &mut FrameWriter<'_>) {
        self.thinking &= text.is_empty();
        self.step.push(text);
        frames.text_object(None, TEXT_HEAD, text).bool("done", false);
    }

    /// There is no chunk for authoritative text, so what of it was not streamed is said as text.
    /// Where another text was streamed `done` will say what holds.
    fn message(&mut self, message: &Message<'_>, frames: &mut FrameWriter<'_>) -> Carriage {
        if message.role != Role::Assistant {
            return Carriage::Derived;
        }
        let rest = self.step.rest_of(&message.text);
        if let Rest::More(rest) = rest {
            self.text(rest, frames);
        }
        self.turn.join(core::mem::take(&mut self.step));
        if rest == Rest::Other { Carriage::Dropped } else { Carriage::Derived }
    }

    fn announce(&mut self, call_id: &str, name: &str, frames: &mut FrameWriter<'_>) {
        self.thinking = false;
        self.call(call_id, false);
        chunk(frames, "tool_call_started", |c| _ = c.str("callId", call_id).str("name", name));
    }

    fn call(&mut self, call_id: &str, complete: bool) {
        if self.calls.len() >= OPEN_CALLS_MAX && !self.calls.contains_key(call_id) {
            self.calls.pop_first();
        }
        self.calls.insert(call_id.into(), complete);
    }

    /// Calls run as soon as they are complete here, so a start says what the model's own events
    /// left unsaid.
    fn tool_start(&mut self, start: &ToolStart<'_>, frames: &mut FrameWriter<'_>) -> Carriage {
        let Some(call_id) = start.call_id.as_deref() else { return Carriage::Dropped };
        let known = self.calls.get(call_id).copied();
        if known.is_none() {
            self.announce(call_id, &start.name, frames);
        }
        if known != Some(true) {
            self.call(call_id, true);
            arguments(call_id, &start.name, start.args.as_deref().unwrap_or("{}"), frames);
        }
        Carriage::Derived
    }

    fn tool_result(&mut self, result: &ToolResult<'_>, frames: &mut FrameWriter<'_>) -> Carriage {
        let Some(call_id) = result.call_id.as_deref() else { return Carriage::Dropped };
        self.calls.remove(call_id);
        let mut exact = true;
        chunk(frames, "tool_result", |c| {
            c.str("callId", call_id).str("name", &result.name).str("result", value_of(result));
            if !result.ok {
                c.bool("isError", true);
            }
            exact = write_extras(c, result);
        });
        if exact { Carriage::Carried } else { Carriage::Derived }
    }

    /// The text is left out where the chunks have said it, and the tools always.
    fn done(&mut self, done: &Done<'_>, frames: &mut FrameWriter<'_>) -> Carriage {
        self.turn.join(core::mem::take(&mut self.step));
        let other = |text: &&str| !is_blank(text) && self.turn.rest_of(text) != Rest::Same;
        let text = done.text.as_deref().filter(other);
        let exact = text.is_some() == done.text.is_some() && done.tool_trace.is_empty();
        chunk(frames, "done", |c| {
            c.opt_str("messageId", done.message_id.as_deref());
            c.opt_str("generationTime", done.generation_time.as_deref());
            c.opt_str("text", text).opt_str("cwd", done.cwd.as_deref());
            c.opt_str("finishReason", done.finish_reason.as_deref()).opt_u64("steps", done.steps);
            if let Some(Ok(usage)) = done.usage.as_ref().map(|usage| RawJson::check(usage.text())) {
                c.raw("usage", &usage);
            }
        });
        if exact { Carriage::Carried } else { Carriage::Derived }
    }
}

fn arguments(call_id: &str, name: &str, args: &str, frames: &mut FrameWriter<'_>) {
    chunk(frames, "tool_call_completed", |c| {
        c.str("callId", call_id).str("name", name).str("arguments", args);
    });
}

fn question(question: &Question<'_>, frames: &mut FrameWriter<'_>) {
    chunk(frames, "question", |c| {
        c.str("toolCallId", &question.question_id);
        write_items(&mut c.array("questions"), &question.questions);
        c.opt_str("kind", question.kind.as_deref()).opt_u64("timeoutMs", question.timeout_ms);
    });
}

fn error(error: &Error<'_>, frames: &mut FrameWriter<'_>) {
    chunk(frames, "error", |c| {
        c.str("error", &error.message).opt_str("code", error.code.as_deref());
        c.opt_str("unavailableReason", error.unavailable_reason.as_deref());
        c.opt_str("remedy", error.remedy.as_deref());
        c.opt_str("requiredVersion", error.required_version.as_deref());
        c.opt_u64("status", error.status.map(u64::from));
    });
}

fn system_event(event: &str, detail: Option<&str>, frames: &mut FrameWriter<'_>) {
    chunk(frames, "system_event", |c| _ = c.str("event", event).opt_str("detail", detail));
}

fn continuation(change: &Continuation<'_>, frames: &mut FrameWriter<'_>) {
    chunk(frames, "continuation_transition", |c| {
        c.str("provider", &change.provider).str("modelName", &change.model);
        c.opt_str("fromProvider", change.from_provider.as_deref());
        c.str("fromMode", &change.from_mode).str("toMode", &change.to_mode);
        c.str("reasonCode", &change.reason_code).opt_str("detail", change.detail.as_deref());
        if let Some(recovered) = change.recovered {
            c.bool("recovered", recovered);
        }
    });
}

fn compacted(compacted: &Compacted<'_>, frames: &mut FrameWriter<'_>) {
    let event = match compacted.phase {
        Some(Phase::Start) => "compaction_started",
        _ if compacted.aborted => "compaction_aborted",
        _ => "compacted",
    };
    system_event(event, compacted.reason.as_deref(), frames);
}

/// What happens beside the answer.
fn beside(event: &Event<'_>, frames: &mut FrameWriter<'_>) {
    match event {
        Event::SubagentStarted(e) => chunk(frames, "subagent_started", |c| {
            c.str("callId", &e.call_id).opt_str("agentId", e.agent_id.as_deref());
            c.opt_str("agentName", e.name.as_deref()).opt_str("task", e.task.as_deref());
            c.opt_str("sessionId", e.session_id.as_deref());
        }),
        Event::SubagentText(e) => chunk(frames, "subagent_text", |c| {
            c.str("callId", &e.call_id).opt_str("agentId", e.agent_id.as_deref());
            c.str("text", &e.text);
        }),
        Event::SubagentTool(e) => chunk(frames, "subagent_tool_call_started", |c| {
            c.str("callId", &e.call_id).opt_str("agentId", e.agent_id.as_deref());
            c.opt_str("toolCallId", e.tool_call_id.as_deref()).str("name", &e.name);
        }),
        Event::SubagentFinished(e) => subagent_finished(e, frames),
        Event::ImageStarted(e) => chunk(frames, "image_generation_started", |c| {
            c.str("imageId", &e.image_id).str("toolCallId", &e.call_id).str("prompt", &e.prompt);
        }),
        Event::ImageFinished(e) => {
            let how = if e.ok { "image_generation_completed" } else { "image_generation_failed" };
            chunk(frames, how, |c| {
                c.str("imageId", &e.image_id).str("toolCallId", &e.call_id);
                c.opt_str("prompt", e.prompt.as_deref()).opt_str("imageUrl", e.url.as_deref());
                c.opt_str("error", e.error.as_deref()).opt_str("modelName", e.model.as_deref());
                c.opt_str("generationTime", e.generation_time.as_deref());
            });
        }
        Event::Media(e) => chunk(frames, "mcp_media", |c| {
            c.str("toolCallId", &e.call_id).opt_str("serverSlug", e.server.as_deref());
            c.opt_str("toolName", e.name.as_deref()).str("kind", &e.kind);
            c.str("mimeType", &e.mime_type).str("url", &e.url).opt_str("uri", e.uri.as_deref());
        }),
        Event::Todo(e) => chunk(frames, "todo_update", |c| {
            let mut list = c.array("todos");
            for item in &e.items {
                let mut o = list.object();
                o.opt_str("id", item.id.as_deref()).str("text", &item.text);
                o.opt_str("status", item.status.as_deref());
            }
        }),
        Event::Context(e) => chunk(frames, "context_info", |c| {
            c.u64("estimatedInputTokens", e.input_tokens).u64("contextLimit", e.limit);
            c.f64("estimatedUsageRatio", e.ratio).str("mode", &e.mode);
            c.str("severity", &e.severity);
        }),
        Event::Fallback(e) => chunk(frames, "fallback_notice", |c| {
            c.str("from", &e.from).str("to", &e.to).str("reason", &e.reason);
        }),
        Event::Notice(e) => system_event(&e.code, e.detail.as_deref(), frames),
        Event::Compacted(e) => compacted(e, frames),
        _ => {}
    }
}

fn subagent_finished(end: &SubagentFinished<'_>, frames: &mut FrameWriter<'_>) {
    let how = if end.ok { "subagent_completed" } else { "subagent_failed" };
    chunk(frames, how, |c| {
        c.str("callId", &end.call_id).opt_str("agentId", end.agent_id.as_deref());
        c.opt_str("agentName", end.name.as_deref()).opt_str("summary", end.summary.as_deref());
        c.opt_u64("toolCallCount", end.tool_calls).opt_str("error", end.error.as_deref());
    });
}
