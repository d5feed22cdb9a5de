//! Payloads of what belongs to the session: lists, context, notices, states.

use alloc::vec::Vec;

use crate::dialect::fields::{Fields, slots};
use crate::event::{
    Compacted, Context, Continuation, Event, Fallback, Notice, Phase, Queue, Resync, State, Str,
    Title, Todo, TodoItem,
};
use crate::wire::json::ObjectWriter;

/// The name of the state that the seed has an event for.
pub(super) const CREATED: &str = "session_created";

pub(super) fn write_todo(p: &mut ObjectWriter<'_>, e: &Todo<'_>) {
    let mut list = p.array("items");
    for item in &e.items {
        let mut o = list.object();
        o.str("text", &item.text).opt_str("id", item.id.as_deref());
        o.opt_str("status", item.status.as_deref());
    }
}

pub(super) fn read_todo<'a>(payload: &'a str, f: &mut Fields<'_>) -> Option<Event<'a>> {
    let [list] = slots(payload, &["items"])?;
    let mut items = Vec::new();
    for value in f.elements(list, "items") {
        let Some([text, id, status]) = slots(value.raw(), &["text", "id", "status"]) else {
            f.wrong("items");
            continue;
        };
        let Some(text) = f.need_text(text, "text") else { continue };
        items.push(TodoItem {
            id: f.text(id, "id"),
            status: f.text(status, "status"),
            ..TodoItem::new(text)
        });
    }
    Some(Todo::new(items).into())
}

pub(super) fn write_context(p: &mut ObjectWriter<'_>, e: &Context<'_>) {
    p.u64("input_tokens", e.input_tokens).u64("limit", e.limit).f64("ratio", e.ratio);
    p.str("mode", &e.mode).str("severity", &e.severity);
}

pub(super) fn read_context<'a>(payload: &'a str, f: &mut Fields<'_>) -> Option<Event<'a>> {
    let names = ["input_tokens", "limit", "ratio", "mode", "severity"];
    let [input, limit, ratio, mode, severity] = slots(payload, &names)?;
    let (input, limit) = (f.u64(input, "input_tokens"), f.u64(limit, "limit"));
    let (Some(input), Some(limit)) = (input, limit) else {
        f.missing("input_tokens");
        return None;
    };
    let share = || if limit == 0 { 0.0 } else { input as f64 / limit as f64 };
    let context = Context::new(
        input,
        limit,
        f.f64(ratio, "ratio").unwrap_or_else(share),
        f.text(mode, "mode").unwrap_or_default(),
        f.text(severity, "severity").unwrap_or("normal".into()),
    );
    Some(context.into())
}

pub(super) fn write_fallback(p: &mut ObjectWriter<'_>, e: &Fallback<'_>) {
    p.str("from", &e.from).str("to", &e.to).str("reason", &e.reason);
}

pub(super) fn read_fallback<'a>(payload: &'a str, f: &mut Fields<'_>) -> Option<Event<'a>> {
    let [from, to, reason] = slots(payload, &["from", "to", "reason"])?;
    let (from, to) = (f.need_text(from, "from")?, f.need_text(to, "to")?);
    Some(Fallback::new(from, to, f.text(reason, "reason").unwrap_or_default()).into())
}

pub(super) fn write_continuation(p: &mut ObjectWriter<'_>, e: &Continuation<'_>) {
    p.str("provider", &e.provider).str("model", &e.model).str("from_mode", &e.from_mode);
    p.str("to_mode", &e.to_mode).str("reason_code", &e.reason_code);
    p.opt_str("from_provider", e.from_provider.as_deref()).opt_str("detail", e.detail.as_deref());
    if let Some(recovered) = e.recovered {
        p.bool("recovered", recovered);
    }
}

pub(super) fn read_continuation<'a>(payload: &'a str, f: &mut Fields<'_>) -> Option<Event<'a>> {
    let names = [
        "provider",
        "model",
        "from_mode",
        "to_mode",
        "reason_code",
        "from_provider",
        "detail",
        "recovered",
    ];
    let [provider, model, from, to, reason, from_provider, detail, recovered] =
        slots(payload, &names)?;
    let (from, to) = (f.need_text(from, "from_mode")?, f.need_text(to, "to_mode")?);
    let continuation = Continuation {
        from_provider: f.text(from_provider, "from_provider"),
        detail: f.text(detail, "detail"),
        recovered: f.bool(recovered, "recovered"),
        ..Continuation::new(
            f.text(provider, "provider").unwrap_or_default(),
            f.text(model, "model").unwrap_or_default(),
            from,
            to,
            f.text(reason, "reason_code").unwrap_or_default(),
        )
    };
    Some(continuation.into())
}

pub(super) fn write_notice(p: &mut ObjectWriter<'_>, e: &Notice<'_>) {
    p.str("code", &e.code).opt_str("detail", e.detail.as_deref()).opt_u64("turns", e.turns);
}

pub(super) fn read_notice<'a>(payload: &'a str, f: &mut Fields<'_>) -> Option<Event<'a>> {
    let [code, detail, turns] = slots(payload, &["code", "detail", "turns"])?;
    let notice = Notice {
        detail: f.text(detail, "detail"),
        turns: f.u64(turns, "turns"),
        ..Notice::new(f.need_text(code, "code")?)
    };
    Some(notice.into())
}

pub(super) fn write_compacted(p: &mut ObjectWriter<'_>, e: &Compacted<'_>) {
    p.opt_str("phase", e.phase.map(Phase::as_str)).opt_str("reason", e.reason.as_deref());
    if e.aborted {
        p.bool("aborted", true);
    }
}

pub(super) fn read_compacted<'a>(payload: &'a str, f: &mut Fields<'_>) -> Option<Event<'a>> {
    let [phase, reason, aborted] = slots(payload, &["phase", "reason", "aborted"])?;
    let compacted = Compacted {
        phase: f.text(phase, "phase").and_then(|word| Phase::parse(&word)),
        reason: f.text(reason, "reason"),
        aborted: f.bool(aborted, "aborted").unwrap_or(false),
    };
    Some(compacted.into())
}

pub(super) fn read_title<'a>(payload: &'a str, f: &mut Fields<'_>) -> Option<Event<'a>> {
    let [title] = slots(payload, &["title"])?;
    Some(Title::new(f.need_text(title, "title")?).into())
}

pub(super) fn write_queue(p: &mut ObjectWriter<'_>, e: &Queue<'_>) {
    for (key, texts) in [("steering", &e.steering), ("follow_up", &e.follow_up)] {
        let mut list = p.array(key);
        for text in texts {
            list.str(text);
        }
    }
}

pub(super) fn read_queue<'a>(payload: &'a str, f: &mut Fields<'_>) -> Option<Event<'a>> {
    let [steering, follow_up] = slots(payload, &["steering", "follow_up"])?;
    Some(Queue::new(f.texts(steering, "steering"), f.texts(follow_up, "follow_up")).into())
}

/// The state of a session that has just been made is said with its title.
pub(super) fn write_state(p: &mut ObjectWriter<'_>, e: &State<'_>) {
    if e.name == CREATED {
        p.opt_str("actor", e.actor.as_deref()).opt_str("mode", e.mode.as_deref());
        p.opt_str("title", e.message.as_deref());
        return;
    }
    p.str("name", &e.name).opt_str("message", e.message.as_deref());
    p.opt_str("actor", e.actor.as_deref()).opt_str("mode", e.mode.as_deref());
}

pub(super) fn read_state<'a>(payload: &'a str, f: &mut Fields<'_>) -> Option<Event<'a>> {
    let [name, message, actor, mode] = slots(payload, &["name", "message", "actor", "mode"])?;
    let state = State {
        message: f.text(message, "message"),
        actor: f.text(actor, "actor"),
        mode: f.text(mode, "mode"),
        ..State::new(f.need_text(name, "name")?)
    };
    Some(state.into())
}

/// The state of the new session, and its title if it has one.
pub(super) fn read_created<'a>(
    payload: &'a str,
    f: &mut Fields<'_>,
) -> Option<(State<'a>, Option<Str<'a>>)> {
    let [actor, mode, title] = slots(payload, &["actor", "mode", "title"])?;
    let title = f.text(title, "title");
    let state = State {
        message: title.clone(),
        actor: f.text(actor, "actor"),
        mode: f.text(mode, "mode"),
        ..State::new(CREATED)
    };
    Some((state, title.filter(|title| !crate::text::is_blank(title))))
}

pub(super) fn write_resync(p: &mut ObjectWriter<'_>, e: &Resync<'_>) {
    p.str("reason", &e.reason).opt_u64("oldest_seq", e.oldest_seq);
    p.opt_u64("head_seq", e.head_seq);
}

pub(super) fn read_resync<'a>(payload: &'a str, f: &mut Fields<'_>) -> Option<Event<'a>> {
    let [reason, oldest, head] = slots(payload, &["reason", "oldest_seq", "head_seq"])?;
    let resync = Resync {
        oldest_seq: f.u64(oldest, "oldest_seq"),
        head_seq: f.u64(head, "head_seq"),
        ..Resync::new(f.text(reason, "reason").unwrap_or("overflow".into()))
    };
    Some(resync.into())
}
