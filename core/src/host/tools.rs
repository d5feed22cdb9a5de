//! Tool calls: which card they join, which result is whose (`agent` 5, 7; X7).

use super::card::{Card, ItemStatus};
use super::fold::Fold;
use super::payload::Payload;
use super::row::{Row, RowKind};
use super::session::{Body, SessionRole};
use crate::error::Code;
use crate::event::{Orphan, Pairing, ToolOutput, ToolResult, TraceEntry};
use crate::limits::OPEN_CALLS_MAX;

/// What a call's id or name leads to.
enum Found {
    Running(u64, u32),
    Settled,
    Nothing,
}

impl Fold {
    /// The model begins to write a call, or it begins to run: one item, whichever came first.
    pub(super) fn tool_start(
        &mut self,
        name: &str,
        call_id: Option<&str>,
        args: Option<&str>,
        at: u64,
    ) {
        let call_id = self.short(call_id);
        let runs =
            |place: &(u64, u32)| self.status_of(place.0, place.1) == Some(ItemStatus::Running);
        let known = call_id.and_then(|id| self.call_of_turn(id));
        let known = match known {
            // Where ids are mere hints, a settled one that comes again is another call's.
            Some(place) if !runs(&place) && self.rules.orphan == Orphan::NewCard => None,
            Some(place) if !runs(&place) => return,
            known => known,
        };
        let (row, item) = match known {
            Some(place) => place,
            None => {
                let Some(place) = self.add_call(name, call_id, at) else { return };
                place
            }
        };
        let fresh = known.is_none();
        if let Some(early) = call_id.and_then(|id| self.live.turn.as_mut()?.early.take(id)) {
            self.edit_card(row, |card| {
                card.set_detail(item, &early);
                Some((item, None))
            });
        } else if let Some(args) = args.filter(|args| !args.is_empty()) {
            self.set_args(row, item, args, fresh);
        }
    }

    /// Adds a running item to the open card, or to a new one.
    fn add_call(&mut self, name: &str, call_id: Option<&str>, at: u64) -> Option<(u64, u32)> {
        let row = self.open_card(at);
        let item = self.edit_card(row, |card| Some((card.start(name, call_id)?, None)))?;
        if let Some(id) = call_id {
            self.calls.insert(id.into(), (row, item));
        }
        let turn = self.live.turn.as_mut()?;
        turn.calls.push((row, item));
        if turn.calls.len() > OPEN_CALLS_MAX {
            let (row, item) = turn.calls.remove(0);
            self.diagnostics.push(Code::TooManyOpen, self.live.events);
            self.interrupt_call(row, item);
        }
        Some((row, item))
    }

    /// The card that the next item joins; a new one if none is open or the open one is full.
    fn open_card(&mut self, at: u64) -> u64 {
        let open = self.live.turn.as_ref().and_then(|turn| turn.card);
        let room = |card: &Card| !card.is_full();
        if let Some(row) = open.filter(|row| self.card(*row).is_some_and(room)) {
            return row;
        }
        self.close_card();
        let mut row = Row::new(0, RowKind::ToolRun, at, "");
        row.payload = Payload::Card(Card::default());
        let id = self.push_row(row);
        if let Some(turn) = self.live.turn.as_mut() {
            turn.card = Some(id);
        }
        self.store(SessionRole::ToolRun, Body::Row(id), at);
        id
    }

    fn card(&self, row: u64) -> Option<&Card> {
        self.ring.get(row)?.card()
    }

    fn status_of(&self, row: u64, item: u32) -> Option<ItemStatus> {
        Some(self.card(row)?.item(item)?.status)
    }

    /// Where the call with this id is, if this turn made it.
    fn call_of_turn(&self, call_id: &str) -> Option<(u64, u32)> {
        let first = self.live.turn.as_ref()?.first_row;
        self.calls.get(call_id).copied().filter(|(row, _)| *row >= first)
    }

    fn set_args(&mut self, row: u64, item: u32, args: &str, fresh: bool) {
        self.edit_card(row, |card| {
            let held = card.item(item)?;
            let replaces = fresh || held.holds_args || held.detail.is_empty();
            if !replaces || held.detail == args {
                return None;
            }
            card.set_detail(item, args);
            card.mark_args(item);
            Some((item, None))
        });
    }

    /// A piece of a call's arguments; linear in the piece. Shown while the call runs and bounded
    /// as every detail is.
    pub(super) fn args_delta(&mut self, call_id: &str, delta: &str) {
        let Some((row, item)) = self.call_of_turn(call_id) else {
            self.diagnostics.push_with(Code::ParentUnknown, self.live.events, call_id);
            return;
        };
        self.edit_card(row, |card| {
            let held = card.item(item)?;
            let before = held.detail.len();
            let takes = held.status == ItemStatus::Running && (held.holds_args || before == 0);
            if !takes || !card.grow_detail(item, delta) {
                return None;
            }
            card.mark_args(item);
            Some((item, Some(before)))
        });
    }

    /// A call's arguments, complete: they replace the pieces.
    pub(super) fn tool_args(&mut self, call_id: &str, name: &str, args: &str, at: u64) {
        self.tool_start(name, Some(call_id), Some(args), at);
    }

    /// Live output: it grows the detail of its running call, in whose place the result will put
    /// the preview (`workspace` A5). Before the call's start it is kept (A30).
    pub(super) fn tool_output(&mut self, output: &ToolOutput<'_>) {
        if output.text.is_empty() {
            return;
        }
        let Some((row, item)) = self.call_of_turn(&output.call_id) else {
            if let Some(turn) = self.live.turn.as_mut() {
                turn.early.keep(&output.call_id, &output.text);
            }
            return;
        };
        self.edit_card(row, |card| {
            let held = card.item(item)?;
            if held.status != ItemStatus::Running {
                return None;
            }
            if held.holds_args {
                card.set_detail(item, &output.text);
                return Some((item, None));
            }
            let before = held.detail.len();
            card.grow_detail(item, &output.text).then_some((item, Some(before)))
        });
    }

    /// A result: it ends its call, or becomes a finished item of its own.
    pub(super) fn tool_result(&mut self, result: &ToolResult<'_>, at: u64) {
        let call_id = self.short(result.call_id.as_deref());
        if let (Some(id), Some(turn)) = (call_id, self.live.turn.as_mut()) {
            turn.early.take(id);
        }
        let known = call_id.and_then(|id| self.calls.get(id)).copied();
        let (row, item) = match self.find_call(known, call_id, &result.name) {
            Found::Running(row, item) => (row, item),
            Found::Settled => {
                let id = call_id.unwrap_or_default();
                self.diagnostics.push_with(Code::DuplicateResult, self.live.events, id);
                return;
            }
            Found::Nothing => {
                if self.rules.orphan == Orphan::FindThenNewCard {
                    let what = call_id.unwrap_or(&result.name);
                    self.diagnostics.push_with(Code::OrphanResult, self.live.events, what);
                }
                match self.add_call(&result.name, call_id, at) {
                    Some(place) => place,
                    None => return,
                }
            }
        };
        let detail = result.preview.as_deref().or(result.output.as_deref());
        let interrupted = result.status.as_deref() == Some("interrupted");
        self.edit_card(row, |card| {
            if interrupted && detail.is_none() {
                card.interrupt(item);
            } else {
                card.finish(item, result.ok, &result.summary, detail);
            }
            if let (None, Some(id)) = (&card.item(item)?.call_id, call_id) {
                card.name_call(item, id);
            }
            Some((item, None))
        });
        if let Some(id) = call_id
            && known != Some((row, item))
        {
            self.calls.insert(id.into(), (row, item));
        }
        let open = self.live.turn.as_ref().and_then(|turn| turn.card);
        if let Some(turn) = self.live.turn.as_mut() {
            turn.calls.retain(|place| *place != (row, item));
        }
        if open == Some(row) {
            // The literal fold closes what is open at each tool event (`agent` 7); with the card
            // as the newest row nothing is.
            self.close_open();
        } else {
            self.store_card(row);
        }
    }

    /// The call that a result belongs to. By id first, which led to `known`; by name as the dialect pairs; in the open
    /// card alone, unless the dialect looks further.
    fn find_call(&self, known: Option<(u64, u32)>, call_id: Option<&str>, name: &str) -> Found {
        let Some(turn) = self.live.turn.as_ref() else { return Found::Nothing };
        let everywhere = self.rules.orphan == Orphan::FindThenNewCard;
        if let Some((row, item)) = known {
            let held = self.card(row).and_then(|card| card.item(item));
            let Some(held) = held else { return Found::Nothing };
            let waits = held.status == ItemStatus::Running || held.interrupted;
            return match waits {
                true if everywhere || turn.card == Some(row) => Found::Running(row, item),
                false if everywhere || row >= turn.first_row => Found::Settled,
                _ => Found::Nothing,
            };
        }
        let fits = |(row, item): &&(u64, u32)| {
            let Some(held) = self.card(*row).and_then(|card| card.item(*item)) else {
                return false;
            };
            held.name == name && (call_id.is_none() || held.call_id.is_none())
        };
        let open = |(row, _): &&(u64, u32)| turn.card == Some(*row);
        let found = match self.rules.pairing {
            Pairing::Id => None,
            Pairing::IdThenLastOfName => turn.calls.iter().rev().filter(open).find(fits),
            Pairing::FifoOfName if everywhere => turn.calls.iter().find(fits),
            Pairing::FifoOfName => turn.calls.iter().filter(open).find(fits),
        };
        found.map_or(Found::Nothing, |(row, item)| Found::Running(*row, *item))
    }

    /// The tools of a JSON answer as one card, each with its summary as detail.
    pub(super) fn push_trace(&mut self, trace: &[TraceEntry<'_>], at: u64) {
        self.close_card();
        for entry in trace {
            if let Some((row, item)) = self.add_call(&entry.name, None, at) {
                self.edit_card(row, |card| {
                    card.finish_plain(item, entry.ok, &entry.summary);
                    Some((item, None))
                });
            }
        }
        self.close_card();
        if let Some(turn) = self.live.turn.as_mut() {
            turn.calls.clear();
        }
    }

    /// Ends every running call without a result, unless the dialect keeps their count (X4).
    pub(super) fn interrupt_calls(&mut self) {
        let calls = self.live.turn.as_mut().map(|turn| core::mem::take(&mut turn.calls));
        if self.rules.keep_pending_on_end {
            return;
        }
        for (row, item) in calls.unwrap_or_default() {
            self.interrupt_call(row, item);
        }
    }

    fn interrupt_call(&mut self, row: u64, item: u32) {
        self.edit_card(row, |card| {
            card.interrupt(item);
            Some((item, None))
        });
        self.store_card(row);
    }
}
