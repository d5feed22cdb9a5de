//! Payloads of the work that the model has done for it: tools, subagents, images.

use alloc::string::String;

use crate::dialect::fields::{Fields, plain_summary, slots};
use crate::event::{
    Event, ImageFinished, ImageStarted, Media, OutputStream, Str, SubagentFinished,
    SubagentStarted, SubagentText, SubagentTool, ToolArgs, ToolArgsDelta, ToolCall, ToolOutput,
    ToolProgress, ToolResult, ToolStart,
};
use crate::wire::json::ObjectWriter;

pub(super) fn write_call(p: &mut ObjectWriter<'_>, e: &ToolCall<'_>) {
    p.str("call_id", &e.call_id).str("name", &e.name).opt_u64("step", e.step);
}

pub(super) fn read_call<'a>(payload: &'a str, f: &mut Fields<'_>) -> Option<Event<'a>> {
    let [id, name, step] = slots(payload, &["call_id", "name", "step"])?;
    let call = ToolCall {
        step: f.u64(step, "step"),
        ..ToolCall::new(f.need_text(id, "call_id")?, tool_name(name, f))
    };
    Some(call.into())
}

pub(super) fn read_args_delta<'a>(payload: &'a str, f: &mut Fields<'_>) -> Option<Event<'a>> {
    let [id, delta] = slots(payload, &["call_id", "delta"])?;
    Some(ToolArgsDelta::new(f.need_text(id, "call_id")?, f.need_text(delta, "delta")?).into())
}

pub(super) fn read_args<'a>(payload: &'a str, f: &mut Fields<'_>) -> Option<Event<'a>> {
    let [id, name, args] = slots(payload, &["call_id", "name", "args"])?;
    let id = f.need_text(id, "call_id")?;
    Some(ToolArgs::new(id, tool_name(name, f), f.text(args, "args").unwrap_or_default()).into())
}

pub(super) fn write_start(p: &mut ObjectWriter<'_>, e: &ToolStart<'_>) {
    p.opt_str("call_id", e.call_id.as_deref()).str("name", &e.name);
    p.opt_str("args", e.args.as_deref()).opt_u64("step", e.step);
}

pub(super) fn read_start<'a>(payload: &'a str, f: &mut Fields<'_>) -> Option<Event<'a>> {
    let [id, name, args, step] = slots(payload, &["call_id", "name", "args", "step"])?;
    let start = ToolStart {
        call_id: f.text(id, "call_id"),
        args: f.text(args, "args"),
        step: f.u64(step, "step"),
        ..ToolStart::new(tool_name(name, f))
    };
    Some(start.into())
}

pub(super) fn read_output<'a>(payload: &'a str, f: &mut Fields<'_>) -> Option<Event<'a>> {
    let [id, stream, text] = slots(payload, &["call_id", "stream", "text"])?;
    let stream = f.text(stream, "stream");
    let stream = stream.and_then(|word| OutputStream::parse(&word)).unwrap_or_default();
    let (id, text) = (f.need_text(id, "call_id")?, f.need_text(text, "text")?);
    Some(ToolOutput::new(id, stream, text).into())
}

pub(super) fn write_progress(p: &mut ObjectWriter<'_>, e: &ToolProgress<'_>) {
    p.str("call_id", &e.call_id).u64("elapsed_ms", e.elapsed_ms);
    p.opt_str("name", e.name.as_deref());
}

pub(super) fn read_progress<'a>(payload: &'a str, f: &mut Fields<'_>) -> Option<Event<'a>> {
    let [id, elapsed, name] = slots(payload, &["call_id", "elapsed_ms", "name"])?;
    let elapsed = f.u64(elapsed, "elapsed_ms").unwrap_or(0);
    let id = f.need_text(id, "call_id")?;
    Some(ToolProgress { name: f.text(name, "name"), ..ToolProgress::new(id, elapsed) }.into())
}

pub(super) fn write_result(p: &mut ObjectWriter<'_>, e: &ToolResult<'_>) {
    p.opt_str("call_id", e.call_id.as_deref()).str("name", &e.name).bool("ok", e.ok);
    let word = if e.ok { "ok" } else { "failed" };
    p.str("status", e.status.as_deref().unwrap_or(word)).str("summary", &e.summary);
    if let Some(code) = e.exit_code {
        p.i64("exit_code", code);
    }
    if !e.files_changed.is_empty() {
        let mut list = p.array("files_changed");
        for path in &e.files_changed {
            list.str(path);
        }
    }
    p.opt_str("preview", e.preview.as_deref()).opt_str("output", e.output.as_deref());
}

pub(super) fn read_result<'a>(payload: &'a str, f: &mut Fields<'_>) -> Option<Event<'a>> {
    let names = [
        "call_id",
        "name",
        "ok",
        "status",
        "summary",
        "exit_code",
        "files_changed",
        "preview",
        "output",
    ];
    let [id, name, ok, status, summary, exit_code, files, preview, output] =
        slots(payload, &names)?;
    let name = tool_name(name, f);
    let status = f.text(status, "status");
    // The seed's own word is the status; `ok` is ours and finer where both are there.
    let good = |word: &str| matches!(word, "ok" | "success" | "succeeded" | "completed");
    let ok = f.bool(ok, "ok").unwrap_or_else(|| status.as_deref().is_none_or(good));
    let summary = f.text(summary, "summary").unwrap_or_else(|| plain_summary(&name, ok));
    let result = ToolResult {
        call_id: f.text(id, "call_id"),
        exit_code: f.i64(exit_code, "exit_code"),
        files_changed: f.texts(files, "files_changed"),
        preview: f.text(preview, "preview"),
        output: f.text(output, "output"),
        // What `ok` says already is no finer word.
        status: status.filter(|word| word != if ok { "ok" } else { "failed" }),
        ..ToolResult::new(name, ok, summary)
    };
    Some(result.into())
}

pub(super) fn write_child_started(p: &mut ObjectWriter<'_>, e: &SubagentStarted<'_>) {
    p.str("call_id", &e.call_id).opt_str("agent_id", e.agent_id.as_deref());
    p.opt_str("name", e.name.as_deref()).opt_str("task", e.task.as_deref());
    p.opt_str("session_id", e.session_id.as_deref());
}

/// `nested` tells the child's session from that of the envelope, which a flat one has in its place.
pub(super) fn read_child_started<'a>(
    payload: &'a str,
    nested: bool,
    f: &mut Fields<'_>,
) -> Option<Event<'a>> {
    let [id, agent, name, task, session] =
        slots(payload, &["call_id", "agent_id", "name", "task", "session_id"])?;
    let started = SubagentStarted {
        agent_id: f.text(agent, "agent_id"),
        name: f.text(name, "name"),
        task: f.text(task, "task"),
        session_id: f.text(session.filter(|_| nested), "session_id"),
        ..SubagentStarted::new(f.need_text(id, "call_id")?)
    };
    Some(started.into())
}

pub(super) fn write_child_text(p: &mut ObjectWriter<'_>, e: &SubagentText<'_>) {
    p.str("call_id", &e.call_id).str("text", &e.text);
    p.opt_str("agent_id", e.agent_id.as_deref());
}

pub(super) fn read_child_text<'a>(payload: &'a str, f: &mut Fields<'_>) -> Option<Event<'a>> {
    let [id, text, agent] = slots(payload, &["call_id", "text", "agent_id"])?;
    let (id, text) = (f.need_text(id, "call_id")?, f.need_text(text, "text")?);
    Some(SubagentText { agent_id: f.text(agent, "agent_id"), ..SubagentText::new(id, text) }.into())
}

pub(super) fn write_child_tool(p: &mut ObjectWriter<'_>, e: &SubagentTool<'_>) {
    p.str("call_id", &e.call_id).str("name", &e.name).opt_str("agent_id", e.agent_id.as_deref());
    p.opt_str("tool_call_id", e.tool_call_id.as_deref());
}

pub(super) fn read_child_tool<'a>(payload: &'a str, f: &mut Fields<'_>) -> Option<Event<'a>> {
    let [id, name, agent, call] = slots(payload, &["call_id", "name", "agent_id", "tool_call_id"])?;
    let tool = SubagentTool {
        agent_id: f.text(agent, "agent_id"),
        tool_call_id: f.text(call, "tool_call_id"),
        ..SubagentTool::new(f.need_text(id, "call_id")?, tool_name(name, f))
    };
    Some(tool.into())
}

pub(super) fn write_child_done(p: &mut ObjectWriter<'_>, e: &SubagentFinished<'_>) {
    p.str("call_id", &e.call_id).bool("ok", e.ok).opt_str("agent_id", e.agent_id.as_deref());
    p.opt_str("name", e.name.as_deref()).opt_str("summary", e.summary.as_deref());
    p.opt_str("error", e.error.as_deref()).opt_u64("tool_calls", e.tool_calls);
}

pub(super) fn read_child_done<'a>(payload: &'a str, f: &mut Fields<'_>) -> Option<Event<'a>> {
    let names = ["call_id", "ok", "agent_id", "name", "summary", "error", "tool_calls"];
    let [id, ok, agent, name, summary, error, calls] = slots(payload, &names)?;
    let error = f.text(error, "error");
    let ok = f.bool(ok, "ok").unwrap_or(error.is_none());
    let done = SubagentFinished {
        agent_id: f.text(agent, "agent_id"),
        name: f.text(name, "name"),
        summary: f.text(summary, "summary"),
        error,
        tool_calls: f.u64(calls, "tool_calls"),
        ..SubagentFinished::new(f.need_text(id, "call_id")?, ok)
    };
    Some(done.into())
}

pub(super) fn write_image_started(p: &mut ObjectWriter<'_>, e: &ImageStarted<'_>) {
    p.str("image_id", &e.image_id).str("call_id", &e.call_id).str("prompt", &e.prompt);
}

pub(super) fn read_image_started<'a>(payload: &'a str, f: &mut Fields<'_>) -> Option<Event<'a>> {
    let [image, id, prompt] = slots(payload, &["image_id", "call_id", "prompt"])?;
    let (image, id) = (f.need_text(image, "image_id")?, f.need_text(id, "call_id")?);
    Some(ImageStarted::new(image, id, f.text(prompt, "prompt").unwrap_or_default()).into())
}

pub(super) fn write_image_finished(p: &mut ObjectWriter<'_>, e: &ImageFinished<'_>) {
    p.str("image_id", &e.image_id).str("call_id", &e.call_id).bool("ok", e.ok);
    p.opt_str("url", e.url.as_deref()).opt_str("error", e.error.as_deref());
    p.opt_str("prompt", e.prompt.as_deref()).opt_str("model", e.model.as_deref());
    p.opt_str("generation_time", e.generation_time.as_deref());
}

pub(super) fn read_image_finished<'a>(payload: &'a str, f: &mut Fields<'_>) -> Option<Event<'a>> {
    let names = ["image_id", "call_id", "ok", "url", "error", "prompt", "model", "generation_time"];
    let [image, id, ok, url, error, prompt, model, time] = slots(payload, &names)?;
    let url = f.text(url, "url");
    let ok = f.bool(ok, "ok").unwrap_or(url.is_some());
    let (image, id) = (f.need_text(image, "image_id")?, f.need_text(id, "call_id")?);
    let finished = ImageFinished {
        url,
        error: f.text(error, "error"),
        prompt: f.text(prompt, "prompt"),
        model: f.text(model, "model"),
        generation_time: f.text(time, "generation_time"),
        ..ImageFinished::new(image, id, ok)
    };
    Some(finished.into())
}

pub(super) fn write_media(p: &mut ObjectWriter<'_>, e: &Media<'_>) {
    p.str("call_id", &e.call_id).str("kind", &e.kind).str("mime_type", &e.mime_type);
    p.str("url", &e.url).opt_str("uri", e.uri.as_deref()).opt_str("name", e.name.as_deref());
    p.opt_str("server", e.server.as_deref());
}

pub(super) fn read_media<'a>(payload: &'a str, f: &mut Fields<'_>) -> Option<Event<'a>> {
    let names = ["call_id", "kind", "mime_type", "url", "uri", "name", "server"];
    let [id, kind, mime_type, url, uri, name, server] = slots(payload, &names)?;
    let (id, url) = (f.need_text(id, "call_id")?, f.need_text(url, "url")?);
    let kind = f.text(kind, "kind").unwrap_or("resource".into());
    let media = Media {
        uri: f.text(uri, "uri"),
        name: f.text(name, "name"),
        server: f.text(server, "server"),
        ..Media::new(id, kind, f.text(mime_type, "mime_type").unwrap_or_default(), url)
    };
    Some(media.into())
}

fn tool_name<'a>(name: crate::dialect::fields::Slot<'a>, f: &mut Fields<'_>) -> Str<'a> {
    f.need_text(name, "name").unwrap_or_else(|| Str::Owned(String::from("tool")))
}
