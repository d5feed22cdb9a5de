//! Chunks of `respond` to events.

use alloc::collections::BTreeMap;
use alloc::string::String;

use super::{TEXT_HEAD, THINKING_HEAD};
use crate::dialect::Decode;
use crate::dialect::asking::read_items;
use crate::dialect::fields::{Fields, Joiner, Slot, read, slots};
use crate::dialect::outcome::read_outcome;
use crate::error::{Code, Diagnostics};
use crate::event::{
    Context, Continuation, Done, Envelope, Error, Event, Fallback, ImageFinished, ImageStarted,
    Media, Notice, Question, ReasoningDelta, Str, SubagentFinished, SubagentStarted, SubagentText,
    SubagentTool, TextDelta, Todo, TodoItem, ToolArgs, ToolCall, ToolResult, TurnStarted, Unknown,
};
use crate::limits::{KEPT_CALL_MAX_BYTES, OPEN_CALLS_MAX};
use crate::wire::Frame;
use crate::wire::json::{Kind, Usual, Value};

#[derive(Default)]
pub(super) struct Decoder {
    text: Joiner,
    thinking: Joiner,
    /// Names of the calls without a result, which need not name their tool (`respond` 1).
    names: BTreeMap<String, String>,
}

impl Decode for Decoder {
    fn decode(
        &mut self,
        frame: &Frame<'_>,
        diagnostics: &mut Diagnostics,
        sink: &mut dyn FnMut(&Envelope<'_>),
    ) {
        // The two common chunks as most servers write them; the rest says the same at greater
        // length.
        if let Some(value) = usual_text(&frame.data, TEXT_HEAD) {
            if let Some(text) = self.text.lend(value) {
                sink(&Envelope::new(TextDelta::new(text)));
            }
            return;
        }
        if let Some(value) = usual_text(&frame.data, THINKING_HEAD) {
            if let Some(text) = self.thinking.lend(value) {
                sink(&Envelope::new(ReasoningDelta::new(text)));
            }
            return;
        }
        let Some([kind, text]) = read(frame, &["type", "text"], diagnostics) else { return };
        let mut f = Fields { at: frame.at, diagnostics };
        let Some(kind) = f.need_text(kind, "type") else { return };
        let event = match &*kind {
            "text" => self.delta(text, &mut f),
            "thinking" => self.reasoning(text, &mut f),
            // Thinking opens with its first words.
            "thinking_start" => None,
            other => self.event(other, frame, &mut f),
        };
        let Some(event) = event else { return };
        if event.is_terminal() {
            self.finish(sink);
            self.names.clear();
        }
        sink(&Envelope::new(event));
    }

    fn finish(&mut self, sink: &mut dyn FnMut(&Envelope<'_>)) {
        if let Some(rest) = self.thinking.rest() {
            sink(&Envelope::new(ReasoningDelta::new(rest)));
        }
        if let Some(rest) = self.text.rest() {
            sink(&Envelope::new(TextDelta::new(rest)));
        }
    }
}

/// The text behind `head`, with or without the flag.
#[inline(always)]
fn usual_text<'a>(data: &'a str, head: &'static str) -> Option<Value<'a>> {
    let mut usual = Usual::new(data);
    let text = if usual.skip(head) { usual.string()? } else { return None };
    (usual.is_end(r#","done":false}"#) || usual.is_end("}")).then_some(text)
}

impl Decoder {
    fn delta<'a>(&mut self, text: Slot<'a>, f: &mut Fields<'_>) -> Option<Event<'a>> {
        let text = text.and_then(|value| self.text.text(value));
        if text.is_none() {
            f.missing("text");
        }
        Some(TextDelta::new(text?).into())
    }

    fn reasoning<'a>(&mut self, text: Slot<'a>, f: &mut Fields<'_>) -> Option<Event<'a>> {
        let text = text.and_then(|value| self.thinking.text(value));
        if text.is_none() {
            f.missing("text");
        }
        Some(ReasoningDelta::new(text?).into())
    }

    fn event<'a>(
        &mut self,
        kind: &str,
        frame: &'a Frame<'_>,
        f: &mut Fields<'_>,
    ) -> Option<Event<'a>> {
        let data = &*frame.data;
        Some(match kind {
            "user_message_id" => {
                let [id] = slots(data, &["messageId"])?;
                let id = f.need_text(id, "messageId")?;
                TurnStarted { user_message_id: Some(id), ..TurnStarted::new() }.into()
            }
            "tool_call_started" => {
                let [id, name] = slots(data, &["callId", "name"])?;
                let (id, name) = self.call(id, name, f)?;
                ToolCall::new(id, name).into()
            }
            "tool_call_completed" => {
                let [id, name, args] = slots(data, &["callId", "name", "arguments"])?;
                let (id, name) = self.call(id, name, f)?;
                // A string that holds JSON; JSON itself is taken as such.
                let args = args.filter(|value| !value.is_null());
                let args = args.map_or("{}".into(), |v| v.str().unwrap_or(Str::Borrowed(v.raw())));
                ToolArgs::new(id, name, args).into()
            }
            "tool_result" => self.tool_result(data, f)?.into(),
            "question" => {
                let [id, questions, kind, timeout] =
                    slots(data, &["toolCallId", "questions", "kind", "timeoutMs"])?;
                Question {
                    kind: f.text(kind, "kind"),
                    timeout_ms: f.u64(timeout, "timeoutMs"),
                    ..Question::new(f.need_text(id, "toolCallId")?, read_items(f, questions))
                }
                .into()
            }
            "todo_update" => {
                let [todos] = slots(data, &["todos"])?;
                todo(todos, f).into()
            }
            "context_info" => context(data, f)?.into(),
            "fallback_notice" => {
                let [from, to, reason] = slots(data, &["from", "to", "reason"])?;
                Fallback::new(
                    f.need_text(from, "from")?,
                    f.need_text(to, "to")?,
                    f.text(reason, "reason").unwrap_or_default(),
                )
                .into()
            }
            "continuation_transition" => continuation(data, f)?.into(),
            "system_event" => {
                let [event, detail] = slots(data, &["event", "detail"])?;
                let detail = f.text(detail, "detail");
                Notice { detail, ..Notice::new(f.need_text(event, "event")?) }.into()
            }
            "done" => done(data, f)?.into(),
            "error" => error(data, f)?.into(),
            _ => return beside(kind, data, f),
        })
    }

    /// The id and the name of a call that is open from now on.
    fn call<'a>(
        &mut self,
        id: Slot<'a>,
        name: Slot<'a>,
        f: &mut Fields<'_>,
    ) -> Option<(Str<'a>, Str<'a>)> {
        let id = f.need_text(id, "callId")?;
        let name = match f.text(name, "name") {
            Some(name) => name,
            None => self.names.get(&*id).map_or("tool".into(), |name| Str::Owned(name.clone())),
        };
        if id.len().saturating_add(name.len()) <= KEPT_CALL_MAX_BYTES {
            if self.names.len() >= OPEN_CALLS_MAX && !self.names.contains_key(&*id) {
                self.names.pop_first();
            }
            self.names.insert(String::from(&*id), String::from(&*name));
        }
        Some((id, name))
    }

    fn tool_result<'a>(&mut self, data: &'a str, f: &mut Fields<'_>) -> Option<ToolResult<'a>> {
        let [id, name, result, failed] = slots(data, &["callId", "name", "result", "isError"])?;
        let id = f.need_text(id, "callId")?;
        let known = self.names.remove(&*id);
        let name = f.text(name, "name").or(known.map(Str::Owned)).unwrap_or("tool".into());
        let ok = !f.bool(failed, "isError").unwrap_or(false);
        Some(ToolResult { call_id: Some(id), ..read_outcome(f, data, name, ok, result) })
    }
}

fn todo<'a>(todos: Slot<'a>, f: &mut Fields<'_>) -> Todo<'a> {
    let mut items = alloc::vec::Vec::new();
    for value in f.elements(todos, "todos") {
        if value.kind() == Kind::Str {
            items.extend(value.str().map(TodoItem::new));
            continue;
        }
        let Some([id, text, content, status]) =
            slots(value.raw(), &["id", "text", "content", "status"])
        else {
            f.wrong("todos");
            continue;
        };
        let Some(text) = f.need_text(text.or(content), "text") else { continue };
        items.push(TodoItem {
            id: f.text(id, "id"),
            status: f.text(status, "status"),
            ..TodoItem::new(text)
        });
    }
    Todo::new(items)
}

/// What can be told from the numbers is told from them (`respond` 3, *Severity*).
fn context<'a>(data: &'a str, f: &mut Fields<'_>) -> Option<Context<'a>> {
    let [tokens, limit, ratio, mode, severity] = slots(
        data,
        &["estimatedInputTokens", "contextLimit", "estimatedUsageRatio", "mode", "severity"],
    )?;
    let tokens = f.u64(tokens, "estimatedInputTokens").unwrap_or_default();
    let limit = f.u64(limit, "contextLimit").unwrap_or_default();
    let ratio = f
        .f64(ratio, "estimatedUsageRatio")
        .unwrap_or_else(|| if limit == 0 { 0.0 } else { tokens as f64 / limit as f64 });
    let severity = f.text(severity, "severity").unwrap_or({
        Str::Borrowed(match ratio {
            r if r < 0.70 => "normal",
            r if r < 0.85 => "info",
            r if r < 0.92 => "warning",
            r if r < 0.97 => "danger",
            _ => "critical",
        })
    });
    let mode = f.text(mode, "mode").unwrap_or_default();
    Some(Context::new(tokens, limit, ratio, mode, severity))
}

fn continuation<'a>(data: &'a str, f: &mut Fields<'_>) -> Option<Continuation<'a>> {
    let [provider, model, from_provider, from, to, code, detail, recovered] = slots(
        data,
        &[
            "provider",
            "modelName",
            "fromProvider",
            "fromMode",
            "toMode",
            "reasonCode",
            "detail",
            "recovered",
        ],
    )?;
    let mut text = |slot, name: &str| f.text(slot, name).unwrap_or_default();
    let (provider, model) = (text(provider, "provider"), text(model, "modelName"));
    let (from, to) = (text(from, "fromMode"), text(to, "toMode"));
    let code = text(code, "reasonCode");
    Some(Continuation {
        from_provider: f.text(from_provider, "fromProvider"),
        detail: f.text(detail, "detail"),
        recovered: f.bool(recovered, "recovered"),
        ..Continuation::new(provider, model, from, to, code)
    })
}

fn done<'a>(data: &'a str, f: &mut Fields<'_>) -> Option<Done<'a>> {
    let [message_id, time, text, cwd, reason, steps, usage] = slots(
        data,
        &["messageId", "generationTime", "text", "cwd", "finishReason", "steps", "usage"],
    )?;
    Some(Done {
        message_id: f.text(message_id, "messageId"),
        generation_time: f.text(time, "generationTime"),
        text: f.text(text, "text"),
        cwd: f.text(cwd, "cwd"),
        finish_reason: f.text(reason, "finishReason"),
        steps: f.u64(steps, "steps"),
        usage: f.object(usage, "usage").map(|value| value.raw().into()),
        ..Done::new()
    })
}

fn error<'a>(data: &'a str, f: &mut Fields<'_>) -> Option<Error<'a>> {
    let [message, code, unavailable, remedy, version, status] = slots(
        data,
        &["error", "code", "unavailableReason", "remedy", "requiredVersion", "status"],
    )?;
    Some(Error {
        code: f.text(code, "code"),
        unavailable_reason: f.text(unavailable, "unavailableReason"),
        remedy: f.text(remedy, "remedy"),
        required_version: f.text(version, "requiredVersion"),
        status: f.status(status, "status"),
        ..Error::new(f.need_text(message, "error").unwrap_or("Stream error.".into()))
    })
}

/// What happens beside the answer; what has no name here stays data.
fn beside<'a>(kind: &str, data: &'a str, f: &mut Fields<'_>) -> Option<Event<'a>> {
    Some(match kind {
        "subagent_started" => {
            let [call, agent, name, task, session] =
                slots(data, &["callId", "agentId", "agentName", "task", "sessionId"])?;
            SubagentStarted {
                agent_id: f.text(agent, "agentId"),
                name: f.text(name, "agentName"),
                task: f.text(task, "task"),
                session_id: f.text(session, "sessionId"),
                ..SubagentStarted::new(f.need_text(call, "callId")?)
            }
            .into()
        }
        "subagent_text" => {
            let [call, agent, text] = slots(data, &["callId", "agentId", "text"])?;
            let call = f.need_text(call, "callId")?;
            let agent_id = f.text(agent, "agentId");
            SubagentText { agent_id, ..SubagentText::new(call, f.need_text(text, "text")?) }.into()
        }
        "subagent_tool_call_started" => {
            let [call, agent, tool_call, name] =
                slots(data, &["callId", "agentId", "toolCallId", "name"])?;
            let call = f.need_text(call, "callId")?;
            SubagentTool {
                agent_id: f.text(agent, "agentId"),
                tool_call_id: f.text(tool_call, "toolCallId"),
                ..SubagentTool::new(call, f.text(name, "name").unwrap_or("tool".into()))
            }
            .into()
        }
        "subagent_completed" | "subagent_failed" => {
            let [call, agent, name, summary, count, error] = slots(
                data,
                &["callId", "agentId", "agentName", "summary", "toolCallCount", "error"],
            )?;
            let call = f.need_text(call, "callId")?;
            SubagentFinished {
                agent_id: f.text(agent, "agentId"),
                name: f.text(name, "agentName"),
                summary: f.text(summary, "summary"),
                tool_calls: f.u64(count, "toolCallCount"),
                error: f.text(error, "error"),
                ..SubagentFinished::new(call, kind == "subagent_completed")
            }
            .into()
        }
        "image_generation_started" => {
            let [image, call, prompt] = slots(data, &["imageId", "toolCallId", "prompt"])?;
            ImageStarted::new(
                f.need_text(image, "imageId")?,
                f.need_text(call, "toolCallId")?,
                f.text(prompt, "prompt").unwrap_or_default(),
            )
            .into()
        }
        "image_generation_completed" | "image_generation_failed" => image(kind, data, f)?.into(),
        "mcp_media" => {
            let [call, server, name, kind, mime, url, uri] = slots(
                data,
                &["toolCallId", "serverSlug", "toolName", "kind", "mimeType", "url", "uri"],
            )?;
            let call = f.need_text(call, "toolCallId")?;
            let kind = f.text(kind, "kind").unwrap_or("resource".into());
            let mime = f.text(mime, "mimeType").unwrap_or_default();
            Media {
                server: f.text(server, "serverSlug"),
                name: f.text(name, "toolName"),
                uri: f.text(uri, "uri"),
                ..Media::new(call, kind, mime, f.need_text(url, "url")?)
            }
            .into()
        }
        other => {
            f.diagnostics.push_with(Code::UnknownEvent, f.at, other);
            Unknown::new(String::from(other), data).into()
        }
    })
}

fn image<'a>(kind: &str, data: &'a str, f: &mut Fields<'_>) -> Option<ImageFinished<'a>> {
    let [image, call, prompt, url, error, model, time] = slots(
        data,
        &["imageId", "toolCallId", "prompt", "imageUrl", "error", "modelName", "generationTime"],
    )?;
    let (image, call) = (f.need_text(image, "imageId")?, f.need_text(call, "toolCallId")?);
    Some(ImageFinished {
        prompt: f.text(prompt, "prompt"),
        url: f.text(url, "imageUrl"),
        error: f.text(error, "error"),
        model: f.text(model, "modelName"),
        generation_time: f.text(time, "generationTime"),
        ..ImageFinished::new(image, call, kind == "image_generation_completed")
    })
}
