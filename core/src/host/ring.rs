//! The ring of rows: bounded, with ids that rise by one, and a note of what changed in each row
//! since ops were last drained.

use alloc::collections::VecDeque;
use alloc::vec::Vec;

use super::row::{Field, Row};

/// What changed in a row since the last drain.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub(super) struct Mark {
    /// Not painted yet: its push is in the queue.
    pub pushed: bool,
    /// Its touch is in the queue.
    pub queued: bool,
    /// The text was replaced.
    pub text: bool,
    /// The text grew from this many bytes.
    pub grown_from: Option<usize>,
    /// Fields that changed, by [`Field::bit`].
    pub fields: u8,
    /// Something of the payload changed (of a card: see `items`).
    pub payload: bool,
    /// What changed in a card.
    pub items: ItemMarks,
}

/// Which items of a card changed since the last drain.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub(super) struct ItemMarks {
    ids: Vec<u32>,
    /// The one item whose detail did nothing but grow, and the bytes it had.
    grown: Option<(u32, usize)>,
    /// Counts or items changed otherwise.
    other: bool,
}

impl ItemMarks {
    pub(super) fn ids(&self) -> &[u32] {
        &self.ids
    }

    /// The item and its former length, if one detail grew and nothing else happened.
    pub(super) fn only_growth(&self) -> Option<(u32, usize)> {
        if self.other || self.ids.len() != 1 { None } else { self.grown }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }

    /// Notes that the detail of `id` grew from `bytes`.
    pub(super) fn grew(&mut self, id: u32, bytes: usize) {
        self.add(id);
        if self.grown.is_none() {
            self.grown = Some((id, bytes));
        }
    }

    /// Notes that `id` changed in some other way.
    pub(super) fn changed(&mut self, id: u32) {
        self.add(id);
        self.other = true;
    }

    /// At most 200 ids, and mostly the same one again.
    fn add(&mut self, id: u32) {
        if self.ids.last() != Some(&id) && !self.ids.contains(&id) {
            self.ids.push(id);
        }
    }
}

/// A row and what changed in it.
#[derive(Clone, Debug)]
pub(super) struct Slot {
    pub row: Row,
    pub mark: Mark,
}

/// The rows, oldest first. Their ids rise, and mostly follow each other without a gap: then a row
/// is found in constant time, else in logarithmic time.
#[derive(Clone, Debug)]
pub(super) struct Ring {
    slots: VecDeque<Slot>,
    max_rows: usize,
    next_id: u64,
}

impl Ring {
    pub(super) const fn new(max_rows: usize, next_id: u64) -> Self {
        Self { slots: VecDeque::new(), max_rows, next_id }
    }

    pub(super) fn len(&self) -> usize {
        self.slots.len()
    }

    pub(super) const fn max_rows(&self) -> usize {
        self.max_rows
    }

    pub(super) const fn next_id(&self) -> u64 {
        self.next_id
    }

    pub(super) fn rows(
        &self,
    ) -> impl DoubleEndedIterator<Item = &Row> + ExactSizeIterator + use<'_> {
        self.slots.iter().map(|slot| &slot.row)
    }

    pub(super) fn slots(&self) -> impl Iterator<Item = &Slot> {
        self.slots.iter()
    }

    pub(super) fn newest(&self) -> Option<&Row> {
        self.slots.back().map(|slot| &slot.row)
    }

    /// The oldest row's id; the next one's if there is none.
    pub(super) fn oldest_id(&self) -> u64 {
        self.slots.front().map_or(self.next_id, |slot| slot.row.id)
    }

    pub(super) fn newest_id(&self) -> Option<u64> {
        self.newest().map(|row| row.id)
    }

    #[inline]
    fn index(&self, id: u64) -> Option<usize> {
        // What is said is nearly always said of the newest row.
        match self.slots.back() {
            Some(newest) if newest.row.id == id => Some(self.slots.len() - 1),
            _ => self.index_of_older(id),
        }
    }

    fn index_of_older(&self, id: u64) -> Option<usize> {
        let first = self.slots.front()?.row.id;
        let guess = usize::try_from(id.checked_sub(first)?).ok()?;
        let is = |at: &usize| self.slots.get(*at).is_some_and(|slot| slot.row.id == id);
        // Rows that were taken back left a gap.
        Some(guess).filter(is).or_else(|| self.slots.binary_search_by_key(&id, |s| s.row.id).ok())
    }

    pub(super) fn get(&self, id: u64) -> Option<&Row> {
        self.slots.get(self.index(id)?).map(|slot| &slot.row)
    }

    pub(super) fn slot_mut(&mut self, id: u64) -> Option<&mut Slot> {
        let index = self.index(id)?;
        self.slots.get_mut(index)
    }

    /// Adds a row under the next id and gives what fell out at the other end.
    pub(super) fn push(&mut self, mut row: Row) -> (u64, Option<Slot>) {
        let evicted = if self.slots.len() >= self.max_rows { self.slots.pop_front() } else { None };
        let id = self.next_id;
        self.next_id += 1;
        row.id = id;
        self.slots.push_back(Slot { row, mark: Mark { pushed: true, ..Mark::default() } });
        (id, evicted)
    }

    /// Takes back the rows from this id on; their ids are not used again.
    pub(super) fn truncate(&mut self, id: u64) -> impl Iterator<Item = Row> + use<> {
        let from = self.slots.partition_point(|slot| slot.row.id < id);
        self.slots.split_off(from).into_iter().map(|slot| slot.row)
    }

    /// Forgets all rows, but not the ids they had.
    pub(super) fn clear(&mut self) {
        self.slots.clear();
    }

    /// Forgets what changed in every row.
    pub(super) fn settle(&mut self) {
        for slot in &mut self.slots {
            slot.mark = Mark::default();
        }
    }

    /// The ring with these rows, whose ids must rise below `next_id`.
    pub(super) fn restore(max_rows: usize, next_id: u64, slots: VecDeque<Slot>) -> Option<Self> {
        let ring = Self { slots, max_rows, next_id };
        let later = ring.slots.iter().skip(1);
        let rising = ring.slots.iter().zip(later).all(|(a, b)| a.row.id < b.row.id);
        let ends = ring.slots.back().is_none_or(|slot| slot.row.id < next_id);
        let room = next_id < 1 << 62;
        (rising && ends && room && max_rows > 0 && ring.slots.len() <= max_rows).then_some(ring)
    }
}

impl Slot {
    /// Notes that `field` changed.
    pub(super) fn touch(&mut self, field: Field) {
        self.mark.fields |= field.bit();
    }
}
