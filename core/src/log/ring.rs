//! The retained tail of a log: stored entries with dense numbers, and what is live only.

use alloc::collections::VecDeque;

use crate::limits::LOG_ANCHORS_MAX;

/// How much of the bounds an entry takes.
pub trait Weigh {
    /// Bytes that keeping it costs.
    fn weight(&self) -> usize;
}

impl Weigh for alloc::vec::Vec<u8> {
    fn weight(&self) -> usize {
        self.len()
    }
}

impl Weigh for alloc::string::String {
    fn weight(&self) -> usize {
        self.len()
    }
}

impl Weigh for [u8] {
    fn weight(&self) -> usize {
        self.len()
    }
}

impl<T: Weigh + ?Sized> Weigh for alloc::sync::Arc<T> {
    fn weight(&self) -> usize {
        (**self).weight()
    }
}

/// An entry that is live only: it comes after the stored entry `after` and has no number.
#[derive(Clone, Debug)]
pub(super) struct Ephemeral<T> {
    pub after: u64,
    pub entry: T,
}

/// Stored entries from `oldest` on, without a hole, and live ones by their ordinal.
///
/// Appending and looking up are constant; leaving the bounds costs one step an entry that leaves.
#[derive(Clone, Debug)]
pub(super) struct Ring<T> {
    stored: VecDeque<T>,
    oldest: u64,
    bytes: usize,
    live: VecDeque<Ephemeral<T>>,
    first_live: u64,
    live_bytes: usize,
    /// Numbers of anchors, kept or not, oldest first; at most [`LOG_ANCHORS_MAX`].
    anchors: VecDeque<u64>,
    capacity: usize,
    max_bytes: usize,
}

impl<T: Weigh> Ring<T> {
    pub fn new(oldest: u64, capacity: usize, max_bytes: usize) -> Self {
        Self {
            stored: VecDeque::new(),
            oldest,
            bytes: 0,
            live: VecDeque::new(),
            first_live: 0,
            live_bytes: 0,
            anchors: VecDeque::new(),
            capacity,
            max_bytes,
        }
    }

    /// The oldest number that is kept; one after the newest if none is.
    pub const fn oldest(&self) -> u64 {
        self.oldest
    }

    /// The number after the newest.
    pub fn next(&self) -> u64 {
        self.oldest.saturating_add(self.stored.len() as u64)
    }

    /// The ordinal of the next live entry.
    pub fn next_live(&self) -> u64 {
        self.first_live.saturating_add(self.live.len() as u64)
    }

    pub fn get(&self, seq: u64) -> Option<&T> {
        let index = usize::try_from(seq.checked_sub(self.oldest)?).ok()?;
        self.stored.get(index)
    }

    /// The first live entry at or after an ordinal, with its own.
    pub fn live_from(&self, ordinal: u64) -> Option<(u64, &Ephemeral<T>)> {
        let ordinal = ordinal.max(self.first_live);
        let index = usize::try_from(ordinal - self.first_live).ok()?;
        self.live.get(index).map(|live| (ordinal, live))
    }

    pub fn push(&mut self, entry: T, anchor: bool) {
        if anchor {
            self.note_anchor(self.next());
        }
        self.bytes = self.bytes.saturating_add(entry.weight());
        self.stored.push_back(entry);
    }

    /// Notes an anchor that the store has.
    pub fn note_anchor(&mut self, seq: u64) {
        if self.anchors.back().is_none_or(|last| *last < seq) {
            if self.anchors.len() >= LOG_ANCHORS_MAX {
                self.anchors.pop_front();
            }
            self.anchors.push_back(seq);
        }
    }

    pub fn push_live(&mut self, after: u64, entry: T) {
        self.live_bytes = self.live_bytes.saturating_add(entry.weight());
        self.live.push_back(Ephemeral { after, entry });
        while self.live.len() > self.capacity || self.live_bytes > self.max_bytes {
            let Some(gone) = self.live.pop_front() else { break };
            self.live_bytes = self.live_bytes.saturating_sub(gone.entry.weight());
            self.first_live = self.first_live.saturating_add(1);
        }
    }

    /// Lets entries up to `settled` leave while the bounds are passed.
    pub fn evict(&mut self, settled: u64) {
        while (self.stored.len() > self.capacity || self.bytes > self.max_bytes)
            && self.oldest <= settled
        {
            let Some(gone) = self.stored.pop_front() else { break };
            self.bytes = self.bytes.saturating_sub(gone.weight());
            self.oldest = self.oldest.saturating_add(1);
        }
    }

    /// Forgets everything and goes on with `seq` as the next number.
    pub fn restart(&mut self, seq: u64) {
        self.stored.clear();
        self.bytes = 0;
        self.oldest = seq;
    }

    /// Where priming for a reader at `cursor` begins: the newest anchor at or before it; 1 if none
    /// is known. Logarithmic in the anchors.
    pub fn anchor_before(&self, cursor: u64) -> u64 {
        let behind = self.anchors.partition_point(|anchor| *anchor <= cursor);
        behind.checked_sub(1).and_then(|at| self.anchors.get(at)).copied().unwrap_or(1)
    }
}
