//! How the fold writes rows: pushing, growing, editing, and what leaves the ring.

use alloc::string::String;

use super::fold::Fold;
use super::ring::Slot;
use super::row::{Field, Row, RowKind};
use super::segment::fitting;
use super::session::{Body, Message, SessionRole};
use super::turn::Open;

impl Fold {
    /// Adds a row after all others. Whatever was open is closed: a row that lands last separates
    /// (seed of `agent`).
    pub(super) fn push_row(&mut self, mut row: Row) -> u64 {
        if row.kind != RowKind::ToolRun {
            self.close_card();
        }
        if let Some(turn) = self.live.turn.as_mut() {
            row.turn_id.clone_from(&turn.id);
            turn.open = Open::None;
        }
        let (id, evicted) = self.ring.push(row);
        if let Some(slot) = evicted {
            self.evict(slot);
        }
        self.queue.push(id, self.ring.oldest_id());
        id
    }

    fn evict(&mut self, mut slot: Slot) {
        self.live.earlier += usize::from(self.queue.evict(&slot));
        let id = slot.row.id;
        if matches!(
            slot.row.kind,
            RowKind::User | RowKind::System | RowKind::Error | RowKind::ToolRun
        ) {
            // An answer is one message behind its cards, whatever rows show it: it goes with the
            // row of the message that follows.
            let messages = &self.session.messages;
            let mut next = self.live.window_start;
            while messages.get(next).is_some_and(|m| m.role == SessionRole::Assistant) {
                next += 1;
            }
            self.live.window_start = (next + 1).min(messages.len());
        }
        if let Some(card) = slot.row.card_mut() {
            if !self.rules.keep_pending_on_end {
                // Out of the ring, no result finds it.
                card.interrupt_all();
            }
            self.session.keep_card(id, card);
            for call_id in card.items().iter().filter_map(|item| item.call_id.as_deref()) {
                if self.calls.get(call_id).is_some_and(|(row, _)| *row == id) {
                    self.calls.remove(call_id);
                }
            }
        }
        if let Some(turn) = self.live.turn.as_mut() {
            turn.calls.retain(|(row, _)| *row != id);
            if turn.card == Some(id) {
                turn.card = None;
            }
            if slot.row.kind == RowKind::Assistant && id >= turn.first_row {
                turn.gathered.keep(id, slot.row.text);
            }
        }
    }

    /// Adds text as one row, or several of one segment where it outgrows one (X11). Gives the
    /// first.
    pub(super) fn push_text(&mut self, kind: RowKind, text: &str, at: u64) -> u64 {
        let part = fitting("", text);
        let mut rest = &text[part.len()..];
        let segment = (!rest.is_empty()).then(|| self.next_segment());
        let mut row = Row::new(0, kind, at, part);
        row.segment = segment;
        let first = self.push_row(row);
        while !rest.is_empty() {
            let part = fitting("", rest);
            rest = &rest[part.len()..];
            let mut row = Row::new(0, kind, at, part);
            row.segment = segment;
            self.push_row(row);
        }
        first
    }

    pub(super) fn next_segment(&mut self) -> u64 {
        let id = self.live.next_segment;
        self.live.next_segment += 1;
        id
    }

    /// Adds what fits to a row's text and gives the rest. The cost is that of the text.
    pub(super) fn grow_row<'t>(&mut self, id: u64, text: &'t str) -> &'t str {
        let Some(slot) = self.ring.slot_mut(id) else { return text };
        let before = slot.row.text.len();
        let part = fitting(&slot.row.text, text);
        if !part.is_empty() {
            slot.row.text.push_str(part);
            if slot.mark.grown_from.is_none() {
                slot.mark.grown_from = Some(before);
            }
            self.queue.touch(id, &mut slot.mark);
        }
        &text[part.len()..]
    }

    /// Gives a row another text; growth at its end is told as such.
    pub(super) fn set_row_text(&mut self, id: u64, text: &str) {
        let Some(slot) = self.ring.slot_mut(id) else {
            if let Some(turn) = self.live.turn.as_mut() {
                turn.gathered.replace(id, text);
            }
            return;
        };
        if slot.row.text == text {
            return;
        }
        let before = slot.row.text.len();
        if text.starts_with(slot.row.text.as_str()) {
            slot.mark.grown_from.get_or_insert(before);
        } else {
            slot.mark.text = true;
        }
        slot.row.text = String::from(text);
        self.queue.touch(id, &mut slot.mark);
    }

    /// Changes one field of a row.
    pub(super) fn edit(&mut self, id: u64, field: Field, change: impl FnOnce(&mut Row)) {
        if let Some(slot) = self.ring.slot_mut(id) {
            change(&mut slot.row);
            slot.touch(field);
            self.queue.touch(id, &mut slot.mark);
        }
    }

    /// Changes the payload of a row and, with it, its status.
    pub(super) fn edit_payload(&mut self, id: u64, change: impl FnOnce(&mut Row)) {
        if let Some(slot) = self.ring.slot_mut(id) {
            let status = slot.row.status;
            // Only a plan's text changes with its payload.
            let plan = (slot.row.kind == RowKind::Plan).then(|| slot.row.text.clone());
            change(&mut slot.row);
            if slot.row.status != status {
                slot.touch(Field::Status);
            }
            if plan.is_some_and(|text| text != slot.row.text) {
                slot.mark.text = true;
            }
            slot.mark.payload = true;
            self.queue.touch(id, &mut slot.mark);
        }
    }

    /// Changes items of a card and notes which. `change` gives the item's place, and the bytes
    /// its detail had if it only grew.
    pub(super) fn edit_card(
        &mut self,
        id: u64,
        change: impl FnOnce(&mut super::card::Card) -> Option<(u32, Option<usize>)>,
    ) -> Option<u32> {
        let slot = self.ring.slot_mut(id)?;
        let card = slot.row.card_mut()?;
        let emptied = card.emptied();
        let (item, grown) = change(card)?;
        let all = if card.emptied() == emptied { 0 } else { card.items().len() };
        let marks = &mut slot.mark.items;
        match grown {
            Some(bytes) if all == 0 => marks.grew(item, bytes),
            _ => marks.changed(item),
        }
        for place in 1..=u32::try_from(all).unwrap_or(u32::MAX) {
            marks.changed(place);
        }
        self.queue.touch(id, &mut slot.mark);
        Some(item)
    }

    /// Adds a message to the session.
    pub(super) fn store(&mut self, role: SessionRole, body: Body, at: u64) {
        if self.live.reuse.0 < self.live.reuse.1 {
            // The turn is told anew.
            let index = self.live.reuse.0;
            self.live.reuse.0 += 1;
            self.session.replace(index, role, body, at);
            return self.queue.patch(index);
        }
        let id = self.message_id();
        let index = self.session.push(Message { id, role, body, at });
        self.queue.append(index);
    }

    /// Forgets messages of a turn that was told anew and has fewer of them now.
    pub(super) fn drop_reused(&mut self) {
        let (from, to) = core::mem::take(&mut self.live.reuse);
        if from < to {
            self.session.messages.truncate(from);
            self.queue.forget_from(from);
        }
    }

    /// Tells the store that a card which it has is another now.
    pub(super) fn store_card(&mut self, row: u64) {
        if let Some(index) = self.session.card_index(row) {
            self.queue.patch(index);
        }
    }

    /// The card that was open stays as it is: the next call opens another.
    pub(super) fn close_card(&mut self) {
        if let Some(row) = self.live.turn.as_mut().and_then(|turn| turn.card.take()) {
            self.store_card(row);
        }
    }

    /// The row of this kind, newest first, that `test` finds. At most the whole ring is looked at.
    pub(super) fn find_row(&self, kind: RowKind, test: impl Fn(&Row) -> bool) -> Option<u64> {
        let mut rows = self.ring.rows().rev().filter(|row| row.kind == kind);
        rows.find(|row| test(row)).map(|row| row.id)
    }
}
