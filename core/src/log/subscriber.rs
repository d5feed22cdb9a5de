//! One reader of a log: a cursor, and what it has to be told besides entries.

use alloc::collections::VecDeque;

use crate::ids::EventId;

/// Where a reader begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Start<'a> {
    /// With the first entry that there ever was.
    Beginning,
    /// With the newest turn: its anchor, or the oldest entry that is kept if that is newer.
    NewestTurn,
    /// With what comes next.
    Live,
    /// After the entry of this id.
    After(EventId<'a>),
    /// With an id that is none.
    Junk,
}

impl<'a> Start<'a> {
    /// What a reader handed back; nothing, or a blank id, is the beginning.
    #[must_use]
    pub fn from_last_event_id(id: Option<&'a str>) -> Self {
        match id.filter(|id| !id.is_empty()) {
            None => Self::Beginning,
            Some(id) => EventId::parse(id).map_or(Self::Junk, Self::After),
        }
    }
}

/// Why a reader cannot be given all that it missed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ResyncReason {
    /// What it missed is no longer kept.
    Overflow,
    /// Its id is of another epoch.
    Epoch,
    /// Its id is ahead of the log.
    Ahead,
    /// Its id is none.
    Junk,
    /// It read too slowly.
    Slow,
}

impl ResyncReason {
    /// The word in JSON.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Overflow => "overflow",
            Self::Epoch => "epoch",
            Self::Ahead => "ahead",
            Self::Junk => "junk",
            Self::Slow => "slow",
        }
    }
}

/// Why a reader is closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CloseReason {
    /// The store failed: nothing more can be given to anybody.
    Store,
    /// It read too slowly.
    Slow,
}

impl CloseReason {
    /// The word in JSON.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Store => "store",
            Self::Slow => "slow",
        }
    }
}

#[derive(Clone, Debug)]
pub(super) struct Subscriber<T> {
    /// The last entry that was given, or lies behind the reader.
    pub cursor: u64,
    /// Entries up to here are only to bring an encoder up to date.
    pub primed_to: u64,
    /// The ordinal of the next live entry.
    pub live: u64,
    /// To be told before anything else.
    pub resync: Option<ResyncReason>,
    /// Too slow: told by a resync, then closed.
    pub slow: bool,
    /// The store was asked and has not answered.
    pub fetching: bool,
    /// What the store gave and was not given on yet; at most one fetch.
    pub fetched: VecDeque<(u64, T)>,
    /// What was given on last of it: lent until the next call.
    pub given: Option<T>,
}

impl<T> Subscriber<T> {
    pub const fn at(cursor: u64, live: u64) -> Self {
        Self {
            cursor,
            primed_to: 0,
            live,
            resync: None,
            slow: false,
            fetching: false,
            fetched: VecDeque::new(),
            given: None,
        }
    }

    /// Stored entries, up to `persisted`, that it was not sent.
    pub fn lag(&self, persisted: u64) -> u64 {
        persisted.saturating_sub(self.cursor.max(self.primed_to))
    }
}
