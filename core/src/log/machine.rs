//! The machine: appends and store on one side, readers on the other.

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;

use super::ring::{Ring, Weigh};
use super::subscriber::{CloseReason, ResyncReason, Start, Subscriber};
use crate::error::{CallerError, Code, Diagnostics};
use crate::ids::{EventId, is_epoch};
use crate::limits::{
    EVENT_ID_MAX_BYTES, LOG_CAPACITY_ENTRIES, LOG_FETCH_MAX_ENTRIES, LOG_MAX_BYTES,
    LOG_WAITING_MAX_ENTRIES,
};

/// What a [`Log`] is made with.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct LogOptions {
    /// The epoch of its numbers: begins with a letter; then letters, digits, `.`, `-`, `_`.
    pub epoch: String,
    /// Stored entries that are kept, and as many that are live only.
    pub capacity: usize,
    /// Bytes of stored entries that are kept, and as many of those that are live only.
    pub max_bytes: usize,
    /// Whether a store behind the log has what is no longer kept.
    pub store: bool,
    /// The newest number in the store, for a log that goes on.
    pub head: u64,
    /// Numbers of the anchors in the store, oldest first, as far back as they are known.
    pub anchors: Vec<u64>,
    /// Stored entries that a reader may lag behind before it is cut off; no bound if absent.
    pub max_lag: Option<u64>,
}

impl LogOptions {
    /// A log in memory that keeps 500 entries.
    #[must_use]
    pub fn new(epoch: &str) -> Self {
        Self {
            epoch: String::from(epoch),
            capacity: LOG_CAPACITY_ENTRIES,
            max_bytes: LOG_MAX_BYTES,
            store: false,
            head: 0,
            anchors: Vec::new(),
            max_lag: None,
        }
    }
}

/// A reader of one log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ReaderId(pub u64);

/// What a reader is to be given, or what it needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Record<'a, T> {
    /// An entry.
    Deliver {
        /// Its number; none for one that is live only.
        seq: Option<u64>,
        /// The entry.
        entry: &'a T,
        /// It lies behind the reader and only brings an encoder up to date: not to be sent.
        prime: bool,
    },
    /// Entries that only the store has.
    Fetch {
        /// The number before the first that is missing.
        after: u64,
        /// How many at most.
        limit: usize,
    },
    /// Something was missed for good. What is kept follows from its oldest on, unless the reader
    /// was too slow.
    Resync {
        /// Why.
        reason: ResyncReason,
        /// The oldest number that is kept.
        oldest_seq: u64,
        /// The newest that may be given.
        head_seq: u64,
    },
    /// The reader is closed and forgotten.
    Closed {
        /// Why.
        reason: CloseReason,
    },
}

/// A decided record, before what it lends is looked up.
enum Next {
    Closed(CloseReason),
    Resync(ResyncReason),
    Fetch { after: u64 },
    Fetched { seq: u64, prime: bool },
    Live { ordinal: u64 },
    Kept { seq: u64, prime: bool },
}

/// A log of entries with dense numbers from 1.
///
/// > After each `handle_*` and `append`, poll the store; poll a reader as fast as it can take.
///
/// | class | methods |
/// |---|---|
/// | what happens | [`append`](Self::append), [`append_live`](Self::append_live), [`handle_observed`](Self::handle_observed) |
/// | the store | [`poll_store`](Self::poll_store), [`handle_persisted`](Self::handle_persisted), [`handle_persist_failed`](Self::handle_persist_failed), [`handle_fetched`](Self::handle_fetched) |
/// | readers | [`subscribe`](Self::subscribe), [`poll_reader`](Self::poll_reader), [`ready`](Self::ready), [`unsubscribe`](Self::unsubscribe) |
///
/// Every step is constant but for the entries that it lets go; [`ready`](Self::ready) and the
/// check for slow readers look once at each reader. Kept: at most `capacity` entries and
/// `max_bytes` of each kind, what waits for the store (at most 4,096 entries), and one fetch a
/// reader that reads from the store.
#[derive(Debug)]
pub struct Log<T> {
    options: LogOptions,
    ring: Ring<T>,
    /// The newest number that the store has.
    persisted: u64,
    /// The newest number that the store was given.
    handed: u64,
    /// Nothing from this number on is ever given.
    failed: Option<u64>,
    readers: BTreeMap<ReaderId, Subscriber<T>>,
    next_reader: u64,
    diagnostics: Diagnostics,
}

impl<T: Weigh> Log<T> {
    /// A log with nothing kept yet.
    ///
    /// # Errors
    ///
    /// [`Code::BadOption`] for an epoch that is none, or a capacity of 0.
    pub fn new(options: LogOptions) -> Result<Self, CallerError> {
        // An id holds the epoch, a dash and up to twenty digits.
        if !is_epoch(&options.epoch) || options.epoch.len() + 21 > EVENT_ID_MAX_BYTES {
            return Err(CallerError::new(Code::BadOption).with("epoch"));
        }
        if options.capacity == 0 {
            return Err(CallerError::new(Code::BadOption).with("capacity"));
        }
        let next = options.head.saturating_add(1);
        let mut ring = Ring::new(next, options.capacity, options.max_bytes);
        options.anchors.iter().for_each(|anchor| ring.note_anchor(*anchor));
        Ok(Self {
            ring,
            persisted: options.head,
            handed: options.head,
            failed: None,
            readers: BTreeMap::new(),
            next_reader: 1,
            diagnostics: Diagnostics::default(),
            options,
        })
    }

    /// The newest number, stored or not.
    #[must_use]
    pub fn head(&self) -> u64 {
        self.ring.next().saturating_sub(1)
    }

    /// The newest number that the store has.
    #[must_use]
    pub const fn persisted(&self) -> u64 {
        self.persisted
    }

    /// The oldest number that is kept.
    #[must_use]
    pub const fn oldest(&self) -> u64 {
        self.ring.oldest()
    }

    /// The epoch of the numbers.
    #[must_use]
    pub fn epoch(&self) -> &str {
        &self.options.epoch
    }

    /// The id of the entry with this number.
    #[must_use]
    pub fn event_id(&self, seq: u64) -> EventId<'_> {
        EventId { epoch: Some(&self.options.epoch), seq }
    }

    /// An entry; an `anchor` is one that a reader can begin with, such as the start of a turn.
    /// Returns its number.
    ///
    /// # Errors
    ///
    /// [`Code::StoreFailed`] after the store failed, [`Code::TooManyWaiting`] while too much waits
    /// for it.
    pub fn append(&mut self, entry: T, anchor: bool) -> Result<u64, CallerError> {
        if self.failed.is_some() {
            return Err(Code::StoreFailed.into());
        }
        if self.head() - self.persisted >= LOG_WAITING_MAX_ENTRIES {
            return Err(Code::TooManyWaiting.into());
        }
        self.ring.push(entry, anchor);
        Ok(self.head())
    }

    /// An entry that is live only: it has no number and is never replayed, comes after what was
    /// appended before it, and moves no cursor.
    ///
    /// # Errors
    ///
    /// [`Code::StoreFailed`] after the store failed.
    pub fn append_live(&mut self, entry: T) -> Result<(), CallerError> {
        if self.failed.is_some() {
            return Err(Code::StoreFailed.into());
        }
        let after = self.head();
        self.ring.push_live(after, entry);
        Ok(())
    }

    /// The next entry for the store, each once, in order.
    #[must_use]
    pub fn poll_store(&mut self) -> Option<(u64, &T)> {
        if self.failed.is_some() || self.handed >= self.head() {
            return None;
        }
        self.handed += 1;
        self.ring.get(self.handed).map(|entry| (self.handed, entry))
    }

    /// The store has everything up to `seq`. A number that it was not given, or said before,
    /// changes nothing.
    pub fn handle_persisted(&mut self, seq: u64) {
        let last = self.failed.map_or(self.handed, |failed| failed.saturating_sub(1));
        if seq <= self.persisted || seq > last {
            if seq > self.handed {
                self.diagnostics.push(Code::UnknownId, seq);
            }
            return;
        }
        self.persisted = seq;
        self.ring.evict(seq);
        self.cut_off_slow();
    }

    /// The store could not take `seq`: nothing from it on is ever given, and every reader is closed
    /// when it has what came before.
    pub fn handle_persist_failed(&mut self, seq: u64) {
        if seq > self.persisted && self.failed.is_none_or(|failed| seq < failed) {
            self.failed = Some(seq);
        }
    }

    /// Another process stored this entry. One that is here already changes nothing; a gap before
    /// it is for the store to fill.
    pub fn handle_observed(&mut self, seq: u64, entry: T, anchor: bool) {
        let next = self.ring.next();
        if seq < next || self.failed.is_some() || self.handed != self.persisted {
            return;
        }
        if seq > next {
            self.ring.restart(seq);
        }
        self.ring.push(entry, anchor);
        self.persisted = seq;
        self.handed = seq;
        self.ring.evict(seq);
        self.cut_off_slow();
    }

    /// A reader, from where it says. What it cannot have is told by its first record.
    pub fn subscribe(&mut self, start: Start<'_>) -> ReaderId {
        let id = ReaderId(self.next_reader);
        self.next_reader += 1;
        let mut reader = Subscriber::at(0, self.ring.next_live());
        match start {
            Start::Beginning => {}
            Start::Live => self.prime(&mut reader, self.persisted),
            Start::NewestTurn => reader.cursor = self.ring.anchor_before(self.persisted) - 1,
            Start::Junk => reader.resync = Some(ResyncReason::Junk),
            Start::After(id) if id.epoch.is_some_and(|epoch| epoch != self.options.epoch) => {
                reader.resync = Some(ResyncReason::Epoch);
            }
            Start::After(id) if id.seq > self.persisted => {
                reader.resync = Some(ResyncReason::Ahead);
            }
            Start::After(id) => self.prime(&mut reader, id.seq),
        }
        if reader.resync.is_some() {
            reader.cursor = self.ring.oldest() - 1;
        }
        self.readers.insert(id, reader);
        id
    }

    /// The reader is gone. Anything for it after this changes nothing.
    pub fn unsubscribe(&mut self, reader: ReaderId) {
        if self.readers.remove(&reader).is_none() {
            self.diagnostics.push(Code::UnknownId, reader.0);
        }
    }

    /// What the store answered to a [`Record::Fetch`]: entries from the first after the one asked
    /// for on, in order. What is out of order is left out; a store that lacks what it should have
    /// is told to the reader as an overflow.
    pub fn handle_fetched(
        &mut self,
        reader: ReaderId,
        entries: impl IntoIterator<Item = (u64, T)>,
    ) {
        let oldest = self.ring.oldest();
        let Some(found) = self.readers.get_mut(&reader) else {
            self.diagnostics.push(Code::UnknownId, reader.0);
            return;
        };
        if !core::mem::take(&mut found.fetching) {
            return;
        }
        let mut next = found.cursor.saturating_add(1);
        for (seq, entry) in entries.into_iter().take(LOG_FETCH_MAX_ENTRIES) {
            if seq == next && seq <= self.persisted {
                found.fetched.push_back((seq, entry));
                next += 1;
            }
        }
        if found.fetched.is_empty() {
            found.resync = Some(ResyncReason::Overflow);
            found.cursor = oldest - 1;
            found.primed_to = 0;
        }
    }

    /// The next record of one reader.
    #[must_use]
    pub fn poll_reader(&mut self, id: ReaderId) -> Option<Record<'_, T>> {
        let next = self.step(id)?;
        if matches!(next, Next::Closed(_)) {
            self.readers.remove(&id);
        }
        Some(match next {
            Next::Closed(reason) => Record::Closed { reason },
            Next::Fetch { after } => Record::Fetch { after, limit: LOG_FETCH_MAX_ENTRIES },
            Next::Resync(reason) => {
                let (oldest_seq, head_seq) = (self.ring.oldest(), self.persisted);
                Record::Resync { reason, oldest_seq, head_seq }
            }
            Next::Live { ordinal } => {
                let (_, live) = self.ring.live_from(ordinal)?;
                Record::Deliver { seq: None, entry: &live.entry, prime: false }
            }
            Next::Kept { seq, prime } => {
                Record::Deliver { seq: Some(seq), entry: self.ring.get(seq)?, prime }
            }
            Next::Fetched { seq, prime } => {
                let entry = self.readers.get(&id)?.given.as_ref()?;
                Record::Deliver { seq: Some(seq), entry, prime }
            }
        })
    }

    /// Decides on the next record of a reader, and moves it.
    fn step(&mut self, id: ReaderId) -> Option<Next> {
        let oldest = self.ring.oldest();
        let reader = self.readers.get_mut(&id)?;
        if let Some(reason) = reader.resync.take() {
            return Some(Next::Resync(reason));
        }
        if reader.slow {
            return Some(Next::Closed(CloseReason::Slow));
        }
        if let Some((seq, entry)) = reader.fetched.pop_front() {
            reader.cursor = seq;
            reader.given = Some(entry);
            return Some(Next::Fetched { seq, prime: seq <= reader.primed_to });
        }
        reader.given = None;
        if reader.cursor.saturating_add(1) < oldest {
            if self.options.store {
                let asked = core::mem::replace(&mut reader.fetching, true);
                return (!asked).then_some(Next::Fetch { after: reader.cursor });
            }
            reader.cursor = oldest - 1;
            reader.primed_to = 0;
            return Some(Next::Resync(ResyncReason::Overflow));
        }
        if let Some((ordinal, live)) = self.ring.live_from(reader.live)
            && live.after <= reader.cursor
        {
            reader.live = ordinal + 1;
            return Some(Next::Live { ordinal });
        }
        if reader.cursor < self.persisted {
            reader.cursor += 1;
            let seq = reader.cursor;
            return Some(Next::Kept { seq, prime: seq <= reader.primed_to });
        }
        self.failed.map(|_| Next::Closed(CloseReason::Store))
    }

    /// The readers for which there is something, in the order in which they came.
    pub fn ready(&self) -> impl Iterator<Item = ReaderId> + '_ {
        let some = move |reader: &Subscriber<T>| {
            let live = || self.ring.live_from(reader.live);
            reader.resync.is_some()
                || reader.slow
                || !reader.fetched.is_empty()
                || !reader.fetching
                    && (reader.cursor < self.persisted
                        || self.failed.is_some()
                        || live().is_some_and(|(_, live)| live.after <= reader.cursor))
        };
        self.readers.iter().filter(move |(_, reader)| some(reader)).map(|(id, _)| *id)
    }

    /// An entry that is kept, stored or not.
    #[must_use]
    pub fn entry(&self, seq: u64) -> Option<&T> {
        self.ring.get(seq)
    }

    /// The number from which the newest turn is kept: its anchor, or the oldest entry if that is
    /// newer.
    #[must_use]
    pub fn newest_turn(&self) -> u64 {
        self.ring.anchor_before(self.head()).max(self.ring.oldest())
    }

    /// How many readers there are.
    #[must_use]
    pub fn readers(&self) -> usize {
        self.readers.len()
    }

    /// Stored entries that a reader has not been given yet.
    #[must_use]
    pub fn lag(&self, reader: ReaderId) -> Option<u64> {
        self.readers.get(&reader).map(|reader| reader.lag(self.persisted))
    }

    /// Calls that came too late.
    pub const fn diagnostics(&mut self) -> &mut Diagnostics {
        &mut self.diagnostics
    }

    /// Puts a reader behind `cursor`, with what an encoder needs to go on from there: entries back
    /// to the anchor, from the store where it is no longer kept.
    fn prime(&self, reader: &mut Subscriber<T>, cursor: u64) {
        let oldest = self.ring.oldest();
        if self.options.store {
            reader.cursor = self.ring.anchor_before(cursor).saturating_sub(1).min(cursor);
        } else if cursor.saturating_add(1) < oldest {
            reader.resync = Some(ResyncReason::Overflow);
            return;
        } else {
            let anchor = self.ring.anchor_before(cursor).max(oldest);
            reader.cursor = anchor.saturating_sub(1).min(cursor);
        }
        reader.primed_to = cursor;
    }

    /// Readers that lag too far get a resync and are closed.
    fn cut_off_slow(&mut self) {
        let Some(max_lag) = self.options.max_lag else { return };
        for reader in self.readers.values_mut() {
            if !reader.slow && reader.lag(self.persisted) > max_lag {
                reader.slow = true;
                reader.resync = Some(ResyncReason::Slow);
            }
        }
    }
}
