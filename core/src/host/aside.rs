//! What happens beside the answer: subagents, media, notices, and the panel.

use alloc::format;
use alloc::string::String;

use serde::Serialize;
use serde_json::{Value, json};

use super::ask::bounded;
use super::fold::Fold;
use super::payload::{MediaPayload, NoticePayload, Payload, SubagentPayload};
use super::row::{Row, RowKind, Status};
use crate::error::Code;
use crate::event::{
    Compacted, Continuation, Error, Fallback, ImageFinished, ImageStarted, Media, Notice, Phase,
    Queue, State, SubagentFinished, SubagentStarted, SubagentText, SubagentTool,
};
use crate::limits::{PANEL_DEPTH_MAX_LEVELS, ROW_MAX_BYTES};

impl Fold {
    pub(super) fn subagent_row(&self, call_id: &str) -> Option<u64> {
        self.find_row(
            RowKind::Subagent,
            |row| matches!(&row.payload, Payload::Subagent(p) if *p.call_id == *call_id),
        )
    }

    /// The subagent's row; made where its start was missed.
    fn subagent(&mut self, call_id: &str, at: u64) -> u64 {
        if let Some(row) = self.subagent_row(call_id) {
            return row;
        }
        let mut row = Row::new(0, RowKind::Subagent, at, "");
        row.status = Some(Status::Running);
        row.payload = Payload::Subagent(SubagentPayload {
            call_id: call_id.into(),
            ..SubagentPayload::default()
        });
        self.push_row(row)
    }

    fn edit_subagent(&mut self, row: u64, change: impl FnOnce(&mut SubagentPayload)) {
        self.edit_payload(row, |row| {
            if let Payload::Subagent(p) = &mut row.payload {
                change(p);
            }
        });
    }

    pub(super) fn subagent_started(&mut self, start: &SubagentStarted<'_>, at: u64) {
        let row = self.subagent(&start.call_id, at);
        self.edit_subagent(row, |p| {
            p.agent_id = start.agent_id.as_deref().map(Into::into);
            p.name = start.name.as_deref().map(Into::into);
            p.task = start.task.as_deref().map(Into::into);
        });
    }

    /// A piece of a subagent's text, cut with `…` where its one row is full.
    pub(super) fn subagent_text(&mut self, text: &SubagentText<'_>, at: u64) {
        let row = self.subagent(&text.call_id, at);
        let Some(slot) = self.ring.slot_mut(row) else { return };
        let before = slot.row.text.len();
        let room = (ROW_MAX_BYTES - '…'.len_utf8()).saturating_sub(before);
        let part = crate::text::head_bytes(&text.text, room);
        if part.is_empty() && (text.text.is_empty() || slot.row.text.ends_with('…')) {
            return;
        }
        slot.row.text.push_str(part);
        if part.len() < text.text.len() && before + '…'.len_utf8() <= ROW_MAX_BYTES {
            slot.row.text.push('…');
        }
        slot.mark.grown_from.get_or_insert(before);
        self.queue.touch(row, &mut slot.mark);
    }

    pub(super) fn subagent_tool(&mut self, tool: &SubagentTool<'_>, at: u64) {
        let row = self.subagent(&tool.call_id, at);
        self.edit_subagent(row, |p| p.tool_calls = p.tool_calls.saturating_add(1));
    }

    pub(super) fn subagent_finished(&mut self, end: &SubagentFinished<'_>, at: u64) {
        let row = self.subagent(&end.call_id, at);
        self.edit_payload(row, |row| {
            row.status = Some(if end.ok { Status::Ok } else { Status::Fail });
            if let Payload::Subagent(p) = &mut row.payload {
                p.summary = end.summary.as_deref().map(Into::into);
                p.error = end.error.as_deref().map(Into::into);
                p.tool_calls = end.tool_calls.unwrap_or(p.tool_calls);
                if let Some(name) = &end.name {
                    p.name = Some(name.as_ref().into());
                }
            }
        });
    }

    fn image_row(&self, image_id: &str, call_id: &str) -> Option<u64> {
        self.find_row(RowKind::Media, |row| {
            matches!(&row.payload, Payload::Media(p)
                if p.image_id.as_deref() == Some(image_id) && *p.call_id == *call_id)
        })
    }

    pub(super) fn image_started(&mut self, start: &ImageStarted<'_>, at: u64) {
        if self.image_row(&start.image_id, &start.call_id).is_none() {
            self.push_image(&start.image_id, &start.call_id, Some(&start.prompt), at);
        }
    }

    fn push_image(&mut self, image_id: &str, call_id: &str, prompt: Option<&str>, at: u64) -> u64 {
        let mut row = Row::new(0, RowKind::Media, at, bounded(prompt.unwrap_or_default()));
        row.status = Some(Status::Running);
        row.payload = Payload::Media(MediaPayload {
            media_kind: "image".into(),
            call_id: call_id.into(),
            image_id: Some(image_id.into()),
            prompt: prompt.map(Into::into),
            ..MediaPayload::default()
        });
        self.push_row(row)
    }

    pub(super) fn image_finished(&mut self, end: &ImageFinished<'_>, at: u64) {
        let row = self.image_row(&end.image_id, &end.call_id).unwrap_or_else(|| {
            self.push_image(&end.image_id, &end.call_id, end.prompt.as_deref(), at)
        });
        self.edit_payload(row, |row| {
            row.status = Some(if end.ok { Status::Ok } else { Status::Fail });
            if let Payload::Media(p) = &mut row.payload {
                p.url = end.url.as_deref().map(Into::into);
                p.error = end.error.as_deref().map(Into::into);
            }
        });
    }

    /// Something to look at; the same address of the same call only once.
    pub(super) fn media(&mut self, media: &Media<'_>, at: u64) {
        let same = |row: &Row| {
            matches!(&row.payload, Payload::Media(p)
                if p.image_id.is_none() && *p.call_id == *media.call_id
                    && p.url.as_deref() == Some(&*media.url))
        };
        if self.find_row(RowKind::Media, same).is_some() {
            return;
        }
        let mut row = Row::new(0, RowKind::Media, at, bounded(&media.url));
        row.status = Some(Status::Ok);
        row.payload = Payload::Media(MediaPayload {
            media_kind: media.kind.as_ref().into(),
            call_id: media.call_id.as_ref().into(),
            url: Some(media.url.as_ref().into()),
            mime_type: Some(media.mime_type.as_ref().into()),
            ..MediaPayload::default()
        });
        self.push_row(row);
    }

    pub(super) fn push_notice(
        &mut self,
        code: &str,
        detail: Option<&str>,
        text: &str,
        at: u64,
    ) -> u64 {
        self.snap_to_latest();
        let mut row = Row::new(0, RowKind::Notice, at, bounded(text));
        row.payload = Payload::Notice(NoticePayload {
            code: code.into(),
            detail: detail.map(|detail| bounded(detail).into()),
        });
        self.push_row(row)
    }

    pub(super) fn notice(&mut self, notice: &Notice<'_>, at: u64) {
        let text = notice.detail.as_deref().unwrap_or(&notice.code);
        self.push_notice(&notice.code, notice.detail.as_deref(), text, at);
    }

    /// An error after which the turn goes on.
    pub(super) fn recoverable(&mut self, error: &Error<'_>, at: u64) {
        let code = error.code.as_deref().unwrap_or("error");
        self.push_notice(code, Some(&error.message), &error.message, at);
    }

    pub(super) fn fallback(&mut self, fallback: &Fallback<'_>, at: u64) {
        let text = format!("{} → {}", fallback.from, fallback.to);
        self.push_notice("fallback", Some(&fallback.reason), &text, at);
    }

    /// A change of continuation waits until the turn went well; one that says so itself settles
    /// the last that waits and is no row of its own (`respond` A1).
    pub(super) fn continuation(&mut self, change: &Continuation<'_>, at: u64) {
        if change.recovered == Some(true)
            && let Some(row) = self.find_row(RowKind::Notice, |r| r.status == Some(Status::Open))
        {
            self.edit_payload(row, |row| row.status = Some(Status::Ok));
            return;
        }
        let text = format!("{} → {}", change.from_mode, change.to_mode);
        let row = self.push_notice(&change.reason_code, change.detail.as_deref(), &text, at);
        let status = match change.recovered {
            Some(true) => Some(Status::Ok),
            _ => self.live.turn.as_ref().map(|_| Status::Open),
        };
        self.edit_payload(row, |row| row.status = status);
    }

    /// Compaction: the panel shows that it runs, a row that it was done.
    pub(super) fn compacted(&mut self, compacted: &Compacted<'_>, at: u64) {
        if compacted.phase == Some(Phase::Start) {
            self.set_state("phase", json!("compacting"));
            return;
        }
        if compacted.phase == Some(Phase::End) {
            self.set_state("phase", Value::Null);
        }
        let text = if compacted.aborted { "compaction given up" } else { "history compacted" };
        self.push_notice("compacted", compacted.reason.as_deref(), text, at);
    }

    /// Sets a part of the panel to what an event says. What is nested too deep for a snapshot, or
    /// is raw text and no JSON, leaves the panel as it was.
    pub(super) fn panel_value(&mut self, key: &str, value: &impl Serialize) {
        match serde_json::to_value(value) {
            Ok(value) if fits_within(&value, PANEL_DEPTH_MAX_LEVELS) => self.set_state(key, value),
            _ => self.diagnostics.push_with(Code::NestedTooDeep, self.live.events, key),
        }
    }

    pub(super) fn queue_state(&mut self, queue: &Queue<'_>) {
        let value = json!({"steering": queue.steering, "follow_up": queue.follow_up});
        let empty = queue.steering.is_empty() && queue.follow_up.is_empty();
        self.set_state("queue", if empty { Value::Null } else { value });
    }

    pub(super) fn agent_state(&mut self, state: &State<'_>) {
        self.panel_value("state", state);
    }

    /// The words for a phase; a blank one clears it.
    pub(super) fn phase(&mut self, phase: &str) {
        let blank = crate::text::is_blank(phase);
        self.set_state(
            "phase",
            if blank { Value::Null } else { Value::String(String::from(phase)) },
        );
    }
}

/// Whether nothing in `value` is nested deeper than `levels`, which is also how deep this recurses.
fn fits_within(value: &Value, levels: usize) -> bool {
    let Some(below) = levels.checked_sub(1) else {
        return !matches!(value, Value::Array(_) | Value::Object(_));
    };
    match value {
        Value::Array(list) => list.iter().all(|value| fits_within(value, below)),
        Value::Object(map) => map.values().all(|value| fits_within(value, below)),
        _ => true,
    }
}
