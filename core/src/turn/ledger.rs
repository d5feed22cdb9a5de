//! The ids of one kind of thing: which are open, and which were settled how.

use alloc::collections::VecDeque;
use alloc::string::String;
use alloc::vec::Vec;

use crate::limits::{OPEN_CALLS_MAX, SETTLED_IDS_MAX, SETTLED_IDS_MAX_BYTES};

/// Something that was begun and not yet settled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Open {
    /// Its id; empty for a call that runs without one.
    pub id: String,
    /// A call's tool, a subagent's name, or the call that makes an image.
    pub label: String,
    /// A call: whether it runs. One that does not is still being written, or waits.
    pub running: bool,
    /// A call: whether its arguments are complete.
    pub args_done: bool,
}

/// Open and settled ids. Both are bounded: at most [`OPEN_CALLS_MAX`] open, and the newest
/// [`SETTLED_IDS_MAX`] settled ones of together [`SETTLED_IDS_MAX_BYTES`].
///
/// A look-up goes backward through the open ones, of which a turn has a handful; the bound caps
/// the cost of a hostile one.
#[derive(Clone, Debug, Default)]
pub(super) struct Ledger {
    open: Vec<Open>,
    settled: VecDeque<(String, &'static str)>,
    settled_bytes: usize,
}

impl Ledger {
    /// What is open, oldest first.
    pub fn open(&self) -> &[Open] {
        &self.open
    }

    /// Whether nothing more may be opened.
    pub fn is_full(&self) -> bool {
        self.open.len() >= OPEN_CALLS_MAX
    }

    /// The open thing of this id; an empty id names nothing.
    pub fn position(&self, id: &str) -> Option<usize> {
        if id.is_empty() {
            return None;
        }
        self.open.iter().rposition(|open| open.id == id)
    }

    /// How the thing of this id was settled, as far back as is remembered.
    pub fn outcome(&self, id: &str) -> Option<&'static str> {
        self.settled.iter().rev().find(|(settled, _)| settled == id).map(|(_, outcome)| *outcome)
    }

    /// Opens something. An id that was settled before is used again, which is what providers do
    /// that number their calls anew in every step.
    pub fn begin(&mut self, open: Open) {
        if let Some(at) = self.settled.iter().position(|(id, _)| *id == open.id) {
            self.forget(at);
        }
        if !self.is_full() {
            self.open.push(open);
        }
    }

    pub fn at_mut(&mut self, index: usize) -> Option<&mut Open> {
        self.open.get_mut(index)
    }

    /// Closes the thing at `index` and remembers how.
    pub fn settle(&mut self, index: usize, outcome: &'static str) {
        if index < self.open.len() {
            let open = self.open.remove(index);
            self.remember(open.id, outcome);
        }
    }

    /// Closes everything and gives it back, oldest first.
    pub fn drain(&mut self, outcome: &'static str) -> Vec<Open> {
        let drained = core::mem::take(&mut self.open);
        for open in &drained {
            self.remember(open.id.clone(), outcome);
        }
        drained
    }

    /// Drops what is open without settling it.
    pub fn abandon(&mut self) {
        self.open.clear();
    }

    fn remember(&mut self, id: String, outcome: &'static str) {
        if id.is_empty() {
            return;
        }
        self.settled_bytes += id.len();
        self.settled.push_back((id, outcome));
        while self.settled.len() > SETTLED_IDS_MAX || self.settled_bytes > SETTLED_IDS_MAX_BYTES {
            self.forget(0);
        }
    }

    fn forget(&mut self, at: usize) {
        if let Some((id, _)) = self.settled.remove(at) {
            self.settled_bytes = self.settled_bytes.saturating_sub(id.len());
        }
    }
}
