//! What waits to be drained: the order of ops, and how several changes of a row become one op.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::fold::Live;
use super::op::{CardChange, Lifecycle, Op, PatchSet, Rows, StoreAction, WindowReason};
use super::ring::{Mark, Ring, Slot};
use super::session::Session;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
enum Pending {
    Push(u64),
    Touch(u64),
    Drop(u64),
    Window(WindowReason),
    Lifecycle(Lifecycle),
    State(String),
    Store(StoreAction, usize),
    Cancelled(Box<str>),
}

/// Entries for which the list keeps its room: what a chunk of a stream mostly leads to.
const QUEUE_KEEP: usize = 256;

/// Ops to come, by what they speak of; their content is read when they are drained.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Queue {
    list: Vec<Pending>,
    /// Messages of the session that were there at the last drain.
    stored: usize,
    /// A window is in the list, which shows every row as it will be.
    window: bool,
    /// The length at which the list is next looked through for rows that are gone.
    compact_at: usize,
}

/// The shortest list that is looked through.
const COMPACT_MIN: usize = 4096;

impl Queue {
    pub(super) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Notes a new row; `oldest` is the oldest that is left. What waits for rows that came and
    /// went without a drain is forgotten, at a cost that is shared out over the rows.
    pub(super) fn push(&mut self, row: u64, oldest: u64) {
        if self.window {
            return;
        }
        self.list.push(Pending::Push(row));
        if self.list.len() >= self.compact_at.max(COMPACT_MIN) {
            self.list.retain(|pending| match pending {
                Pending::Push(id) | Pending::Touch(id) => *id >= oldest,
                _ => true,
            });
            self.compact_at = self.list.len() * 2;
        }
    }

    /// Notes that a painted row changed.
    pub(super) fn touch(&mut self, row: u64, mark: &mut Mark) {
        if !mark.pushed && !mark.queued && !self.window {
            mark.queued = true;
            // With room made first, the entry is written where it stays.
            self.list.reserve(1);
            self.list.push(Pending::Touch(row));
        }
    }

    /// Notes that a row left the ring; gives whether a painter has it.
    pub(super) fn evict(&mut self, slot: &Slot) -> bool {
        let painted = !slot.mark.pushed && !self.window;
        if painted {
            self.list.push(Pending::Drop(slot.row.id));
        }
        painted
    }

    /// All rows are painted anew: what waits for single rows is void.
    pub(super) fn window(&mut self, reason: WindowReason) {
        self.list.retain(|pending| {
            !matches!(
                pending,
                Pending::Push(_) | Pending::Touch(_) | Pending::Drop(_) | Pending::Window(_)
            )
        });
        self.list.push(Pending::Window(reason));
        self.window = true;
    }

    pub(super) fn lifecycle(&mut self, lifecycle: Lifecycle) {
        self.list.push(Pending::Lifecycle(lifecycle));
    }

    pub(super) fn state(&mut self, key: &str) {
        let same = |pending: &Pending| matches!(pending, Pending::State(other) if other == key);
        if !self.list.iter().rev().take(16).any(same) {
            self.list.push(Pending::State(key.into()));
        }
    }

    pub(super) fn append(&mut self, message: usize) {
        self.list.push(Pending::Store(StoreAction::Append, message));
    }

    /// A message that the store has already changed.
    pub(super) fn patch(&mut self, message: usize) {
        if message < self.stored {
            self.list.push(Pending::Store(StoreAction::Patch, message));
        }
    }

    /// The messages from this one on are no more.
    pub(super) fn forget_from(&mut self, message: usize) {
        self.list.retain(|p| !matches!(p, Pending::Store(_, index) if *index >= message));
        self.stored = self.stored.min(message);
    }

    pub(super) fn cancelled(&mut self, by: &str) {
        self.list.push(Pending::Cancelled(by.into()));
    }

    /// A session was put in: the store knows its messages.
    pub(super) fn hydrated(&mut self, messages: usize) {
        self.list.retain(|pending| !matches!(pending, Pending::Store(..)));
        self.stored = messages;
    }

    pub(super) fn drain(
        &mut self,
        ring: &mut Ring,
        session: &Session,
        live: &Live,
        sink: &mut dyn FnMut(Op<'_>),
    ) {
        let bridge = live.bridge;
        for pending in self.list.drain(..) {
            match pending {
                Pending::Push(id) => {
                    if let Some(slot) = ring.slot_mut(id) {
                        sink(Op::Push { row: &slot.row, bridge });
                        slot.mark = Mark::default();
                    }
                }
                Pending::Touch(id) => {
                    let newest = ring.newest_id() == Some(id);
                    if let Some(slot) = ring.slot_mut(id) {
                        if let Some(op) = touched(slot, newest, bridge) {
                            sink(op);
                        }
                        slot.mark = Mark::default();
                    }
                }
                Pending::Drop(id) => sink(Op::Drop { row_ids: &[id] }),
                Pending::Window(reason) => {
                    ring.settle();
                    let rows = Rows { ring, bridge };
                    sink(Op::Window { rows, earlier: live.earlier, reason });
                }
                Pending::Lifecycle(lifecycle) => sink(Op::Lifecycle(lifecycle)),
                Pending::State(key) => {
                    let value = live.state.get(&key).unwrap_or(&Value::Null);
                    sink(Op::State { key: &key, value });
                }
                Pending::Store(action, index) => {
                    if let Some(row) = session.lend(index, ring) {
                        sink(Op::Store { action, row });
                    }
                }
                Pending::Cancelled(by) => sink(Op::Cancelled { by: &by }),
            }
        }
        if self.list.capacity() > QUEUE_KEEP {
            self.list.shrink_to(QUEUE_KEEP);
        }
        self.stored = session.messages.len();
        self.window = false;
        self.compact_at = 0;
    }
}

#[inline]
/// The one op that says what changed in a painted row.
fn touched(slot: &Slot, newest: bool, bridge: bool) -> Option<Op<'_>> {
    let (row, mark) = (&slot.row, &slot.mark);
    let plain = mark.fields == 0 && !mark.payload;
    let card = row.card().filter(|_| !mark.items.is_empty());
    if let (Some(card), true) = (card, plain) {
        if let (Some((item_id, from)), false) = (mark.items.only_growth(), bridge) {
            let text = card.item(item_id)?.detail.get(from..)?;
            return Some(Op::Grow { row_id: row.id, text, item_id: Some(item_id) });
        }
        if newest {
            let card = Some(CardChange { card, marks: &mark.items });
            return Some(Op::Update { row, text: bridge, card });
        }
    }
    if let (Some(from), true, false) = (mark.grown_from, plain, mark.text) {
        let text = row.text.get(from..)?;
        return Some(Op::Grow { row_id: row.id, text, item_id: None });
    }
    if mark.text && plain && newest {
        return Some(Op::Update { row, text: true, card: None });
    }
    let set = PatchSet {
        row,
        fields: mark.fields,
        text: mark.text || mark.grown_from.is_some(),
        payload: mark.payload || card.is_some(),
        bridge,
    };
    Some(Op::Patch { row_id: row.id, set })
}
