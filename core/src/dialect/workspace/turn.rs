//! Payloads of the turn itself: its start, what is said, its end.

use alloc::string::String;
use alloc::vec::Vec;

use crate::dialect::fields::{Fields, Joiner, Slot, slots};
use crate::event::{
    Cancelled, Done, DoneStatus, Error, Event, Message, Progress, RawJson, ReasoningDelta, Role,
    Str, TextDelta, ToolUse, TurnStarted, UserMessage,
};
use crate::wire::json::{ObjectWriter, RawJson as Checked};

pub(super) fn write_start(p: &mut ObjectWriter<'_>, e: &TurnStarted<'_>) {
    p.opt_str("text", e.user_text.as_deref()).opt_str("message_id", e.message_id.as_deref());
    p.opt_str("user_message_id", e.user_message_id.as_deref());
    p.opt_str("client_id", e.client_id.as_deref()).opt_str("run_id", e.run_id.as_deref());
    write_raw(p, "capabilities", e.capabilities.as_ref());
}

/// `turn_id` is that of the envelope.
pub(super) fn read_start<'a>(
    payload: &'a str,
    turn_id: Option<&str>,
    f: &mut Fields<'_>,
) -> Option<Event<'a>> {
    let names = ["text", "message_id", "user_message_id", "client_id", "run_id", "capabilities"];
    let [text, message, user_message, client, run, capabilities] = slots(payload, &names)?;
    let start = TurnStarted {
        turn_id: turn_id.map(|id| Str::Owned(id.into())),
        user_text: f.text(text, "text"),
        message_id: f.text(message, "message_id"),
        user_message_id: f.text(user_message, "user_message_id"),
        client_id: f.text(client, "client_id"),
        run_id: f.text(run, "run_id"),
        capabilities: f.object(capabilities, "capabilities").map(|value| value.raw().into()),
        ..TurnStarted::new()
    };
    Some(start.into())
}

pub(super) fn write_user_message(p: &mut ObjectWriter<'_>, e: &UserMessage<'_>) {
    p.str("text", &e.text).opt_str("message_id", e.message_id.as_deref());
    p.opt_str("client_id", e.client_id.as_deref());
}

pub(super) fn read_user_message<'a>(payload: &'a str, f: &mut Fields<'_>) -> Option<Event<'a>> {
    let [text, message, client] = slots(payload, &["text", "message_id", "client_id"])?;
    let message = UserMessage {
        message_id: f.text(message, "message_id"),
        client_id: f.text(client, "client_id"),
        ..UserMessage::new(f.need_text(text, "text")?)
    };
    Some(message.into())
}

pub(super) fn read_progress<'a>(payload: &'a str, f: &mut Fields<'_>) -> Option<Event<'a>> {
    let [phase] = slots(payload, &["phase"])?;
    Some(Progress::new(f.need_text(phase, "phase")?).into())
}

pub(super) fn read_token<'a>(
    payload: &'a str,
    joiner: &mut Joiner,
    f: &mut Fields<'_>,
) -> Option<Event<'a>> {
    let (text, step, message_id) = read_delta(payload, joiner, f)?;
    Some(TextDelta { step, message_id, ..TextDelta::new(text) }.into())
}

pub(super) fn read_reasoning<'a>(
    payload: &'a str,
    joiner: &mut Joiner,
    f: &mut Fields<'_>,
) -> Option<Event<'a>> {
    let (text, step, message_id) = read_delta(payload, joiner, f)?;
    Some(ReasoningDelta { step, message_id, ..ReasoningDelta::new(text) }.into())
}

fn read_delta<'a>(
    payload: &'a str,
    joiner: &mut Joiner,
    f: &mut Fields<'_>,
) -> Option<(Str<'a>, Option<u64>, Option<Str<'a>>)> {
    let [text, step, message_id] = slots(payload, &["text", "step", "message_id"])?;
    let Some(text) = text.and_then(|value| joiner.text(value)) else {
        f.missing("text");
        return None;
    };
    Some((text, f.u64(step, "step"), f.text(message_id, "message_id")))
}

pub(super) fn write_hop(p: &mut ObjectWriter<'_>, e: &Message<'_>) {
    p.str("role", e.role.as_str()).str("text", &e.text).opt_u64("step", e.step);
    p.opt_str("message_id", e.message_id.as_deref());
    if !e.tool_uses.is_empty() {
        let mut list = p.array("tool_uses");
        for call in &e.tool_uses {
            let mut item = list.object();
            item.str("call_id", &call.call_id).str("name", &call.name);
            item.opt_str("args", call.args.as_deref());
        }
    }
}

pub(super) fn read_hop<'a>(payload: &'a str, f: &mut Fields<'_>) -> Option<Event<'a>> {
    let [role, text, step, message_id, uses] =
        slots(payload, &["role", "text", "step", "message_id", "tool_uses"])?;
    let role = f.text(role, "role");
    let hop = Message {
        step: f.u64(step, "step"),
        message_id: f.text(message_id, "message_id"),
        tool_uses: read_tool_uses(uses, f),
        ..Message::new(
            role.and_then(|word| Role::parse(&word)).unwrap_or_default(),
            f.need_text(text, "text")?,
        )
    };
    Some(hop.into())
}

fn read_tool_uses<'a>(list: Slot<'a>, f: &mut Fields<'_>) -> Vec<ToolUse<'a>> {
    let mut uses = Vec::new();
    for entry in f.elements(list, "tool_uses") {
        let Some([id, name, args]) = slots(entry.raw(), &["call_id", "name", "args"]) else {
            f.wrong("tool_uses");
            continue;
        };
        let (Some(id), Some(name)) = (f.need_text(id, "call_id"), f.need_text(name, "name")) else {
            continue;
        };
        uses.push(ToolUse { args: f.text(args, "args"), ..ToolUse::new(id, name) });
    }
    uses
}

pub(super) fn write_done(p: &mut ObjectWriter<'_>, e: &Done<'_>) {
    p.str("status", e.status.map_or("completed", DoneStatus::as_str));
    p.opt_str("text", e.text.as_deref());
    if !e.tool_trace.is_empty() {
        let mut list = p.array("tool_trace");
        for entry in &e.tool_trace {
            let mut item = list.object();
            item.str("name", &entry.name).bool("ok", entry.ok).str("summary", &entry.summary);
        }
    }
    p.opt_str("cwd", e.cwd.as_deref());
    p.opt_str("finish_reason", e.finish_reason.as_deref()).opt_u64("steps", e.steps);
    write_raw(p, "usage", e.usage.as_ref());
    p.opt_str("message_id", e.message_id.as_deref());
    p.opt_str("generation_time", e.generation_time.as_deref());
}

pub(super) fn read_done<'a>(payload: &'a str, f: &mut Fields<'_>) -> Option<Event<'a>> {
    let names = [
        "status",
        "text",
        "tool_trace",
        "cwd",
        "finish_reason",
        "stop_reason",
        "steps",
        "usage",
        "message_id",
        "generation_time",
    ];
    let [status, text, trace, cwd, reason, stop_reason, steps, usage, message_id, time] =
        slots(payload, &names)?;
    let done = Done {
        status: f.text(status, "status").and_then(|word| DoneStatus::parse(&word)),
        text: f.text(text, "text"),
        tool_trace: f.trace(trace, "tool_trace"),
        cwd: f.text(cwd, "cwd"),
        finish_reason: f
            .text(reason, "finish_reason")
            .or_else(|| f.text(stop_reason, "stop_reason")),
        steps: f.u64(steps, "steps"),
        usage: f.object(usage, "usage").map(|value| value.raw().into()),
        message_id: f.text(message_id, "message_id"),
        generation_time: f.text(time, "generation_time"),
        ..Done::new()
    };
    Some(done.into())
}

pub(super) fn write_error(p: &mut ObjectWriter<'_>, e: &Error<'_>) {
    p.str("message", &e.message).bool("recoverable", e.recoverable);
    p.opt_u64("status", e.status.map(u64::from)).opt_str("code", e.code.as_deref());
    p.opt_str("remedy", e.remedy.as_deref());
    p.opt_str("unavailable_reason", e.unavailable_reason.as_deref());
    p.opt_str("required_version", e.required_version.as_deref());
}

pub(super) fn read_error<'a>(payload: &'a str, f: &mut Fields<'_>) -> Option<Event<'a>> {
    let names = [
        "message",
        "recoverable",
        "status",
        "code",
        "remedy",
        "unavailable_reason",
        "required_version",
    ];
    let [message, recoverable, status, code, remedy, unavailable, version] =
        slots(payload, &names)?;
    let error = Error {
        recoverable: f.bool(recoverable, "recoverable").unwrap_or(false),
        status: f.status(status, "status"),
        code: f.text(code, "code"),
        remedy: f.text(remedy, "remedy"),
        unavailable_reason: f.text(unavailable, "unavailable_reason"),
        required_version: f.text(version, "required_version"),
        ..Error::new(f.need_text(message, "message").unwrap_or("Error.".into()))
    };
    Some(error.into())
}

pub(super) fn read_cancelled<'a>(payload: &'a str, f: &mut Fields<'_>) -> Option<Event<'a>> {
    let [by] = slots(payload, &["by"])?;
    let by = f.text(by, "by").unwrap_or_else(|| Str::Owned(String::from("user")));
    Some(Cancelled::new(by).into())
}

/// Opaque JSON; text that is none is left out.
fn write_raw(p: &mut ObjectWriter<'_>, key: &str, value: Option<&RawJson<'_>>) {
    if let Some(Ok(value)) = value.map(|value| Checked::check(value.text())) {
        p.raw(key, &value);
    }
}
