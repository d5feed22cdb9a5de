//! What to do about a connection: stop, wait and watch again, or report that the turn was cut.
//!
//! A [`Link`] is told what happened to one connection and gives advice; it opens nothing itself.
//! It never advises to repeat a request that starts work, and it stops on a terminal event, on a
//! 204 and on every status other than 200 (design, Channels).
//!
//! ```
//! use turnwire::ids::Seed;
//! use turnwire::link::{Advice, Link, LinkOptions};
//! use turnwire::time::Millis;
//!
//! let mut link = Link::new(LinkOptions::watching(Seed([1; 16])));
//! link.handle_event("e1-6");
//! let Advice::Resume { after_ms, .. } = link.handle_close(Millis(1_000)) else {
//!     panic!("a watching connection is opened again");
//! };
//! assert_eq!(link.last_event_id(), Some("e1-6"));
//! assert!(link.poll_timeout().is_some_and(|(at, _)| at == Millis(1_000 + after_ms)));
//! ```

use alloc::string::String;

use crate::ids::Seed;
use crate::limits::{
    RECONNECT_BASE_MS, RECONNECT_CAP_MS, RECONNECT_JITTER_PERCENT, RECONNECT_TRIES_MAX,
    RETRY_MAX_MS,
};
use crate::time::{Millis, TimeoutReason};

/// What a connection is for, and how long to wait before it is made again.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct LinkOptions {
    /// Whether the connection only watches. One that starts work is never made twice.
    pub watches: bool,
    /// First delay, in milliseconds, where the stream names none by `retry:`.
    pub base_ms: u64,
    /// Longest delay that growth leads to, in milliseconds. A longer `retry:` is obeyed.
    pub cap_ms: u64,
    /// How much of a delay may be added to it, in percent, so that clients do not return as one.
    pub jitter_percent: u64,
    /// The source of the jitter.
    pub seed: Seed,
}

impl LinkOptions {
    /// A connection that watches a session.
    #[must_use]
    pub const fn watching(seed: Seed) -> Self {
        Self {
            watches: true,
            base_ms: RECONNECT_BASE_MS,
            cap_ms: RECONNECT_CAP_MS,
            jitter_percent: RECONNECT_JITTER_PERCENT,
            seed,
        }
    }

    /// A connection whose request starts a turn.
    #[must_use]
    pub const fn starting_work(seed: Seed) -> Self {
        Self { watches: false, ..Self::watching(seed) }
    }
}

/// What to do about a connection that has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Advice {
    /// Nothing: the work is done, or the server said that there is no more.
    Stop,
    /// Open it again with [`Link::last_event_id`] after a wait; the deadline is also polled.
    Resume {
        /// Milliseconds to wait.
        after_ms: u64,
    },
    /// The request started work and its answer broke off: say so. Never send it again.
    ReportInterrupted,
    /// The connection failed too often in a row, or the server refused it: the stream is lost.
    GiveUp,
}

/// The state of one connection, over all its attempts.
#[derive(Clone, Debug)]
pub struct Link {
    options: LinkOptions,
    last_event_id: Option<String>,
    retry_ms: Option<u64>,
    tries: u32,
    finished: bool,
    refused: bool,
    deadline: Option<Millis>,
}

impl Link {
    /// A connection that was never opened.
    #[must_use]
    pub const fn new(options: LinkOptions) -> Self {
        Self {
            options,
            last_event_id: None,
            retry_ms: None,
            tries: 0,
            finished: false,
            refused: false,
            deadline: None,
        }
    }

    /// The id to hand back as `Last-Event-ID`.
    #[must_use]
    pub fn last_event_id(&self) -> Option<&str> {
        self.last_event_id.as_deref()
    }

    /// Attempts in a row that brought no event.
    #[must_use]
    pub const fn tries(&self) -> u32 {
        self.tries
    }

    /// Starts from an id that an earlier connection saw.
    pub fn resume_from(&mut self, last_event_id: Option<&str>) {
        self.last_event_id = last_event_id.map(String::from);
    }

    /// The server answered. A status other than 200 ends the link; 204 says that there is no more.
    pub fn handle_response(&mut self, status: u16) {
        self.deadline = None;
        match status {
            200 => {}
            204 => self.finished = true,
            _ => self.refused = true,
        }
    }

    /// An event came, with the stream's last event id (empty if it has none). The count of failed
    /// attempts starts again.
    pub fn handle_event(&mut self, last_event_id: &str) {
        self.tries = 0;
        self.handle_id(last_event_id);
    }

    /// The stream's last event id may have changed without an event (empty if it has none).
    pub fn handle_id(&mut self, last_event_id: &str) {
        if !last_event_id.is_empty() && self.last_event_id.as_deref() != Some(last_event_id) {
            let id = self.last_event_id.get_or_insert_with(String::new);
            id.clear();
            id.push_str(last_event_id);
        }
    }

    /// The stream named a delay. Past a day it is taken as a day.
    pub fn handle_retry(&mut self, retry_ms: u64) {
        self.retry_ms = Some(retry_ms.min(RETRY_MAX_MS));
    }

    /// What the connection was for is over: its end will be no surprise.
    pub fn handle_terminal(&mut self) {
        self.finished = true;
        self.deadline = None;
    }

    /// A new piece of work on the same link, after a terminal.
    pub fn reset(&mut self) {
        self.finished = false;
        self.refused = false;
        self.tries = 0;
        self.deadline = None;
    }

    /// The connection ended or failed. For [`Advice::Resume`] a deadline is set.
    #[must_use = "the advice says what to do now"]
    pub fn handle_close(&mut self, now: Millis) -> Advice {
        self.deadline = None;
        if self.finished {
            return Advice::Stop;
        }
        if !self.options.watches {
            return Advice::ReportInterrupted;
        }
        if self.refused || self.tries >= RECONNECT_TRIES_MAX {
            return Advice::GiveUp;
        }
        let after_ms = self.delay();
        self.tries += 1;
        self.deadline = Some(now + after_ms);
        Advice::Resume { after_ms }
    }

    /// When to open the connection again.
    #[must_use]
    pub fn poll_timeout(&self) -> Option<(Millis, TimeoutReason)> {
        self.deadline.map(|at| (at, TimeoutReason::Reconnect))
    }

    /// Whether the connection is to be opened now. A spurious wake-up gives `false`.
    #[must_use = "`true` asks for the connection"]
    pub fn handle_timeout(&mut self, now: Millis) -> bool {
        let due = self.deadline.is_some_and(|at| at <= now);
        if due {
            self.deadline = None;
        }
        due
    }

    /// Twice as long for each attempt in a row, up to the cap, plus the jitter.
    fn delay(&self) -> u64 {
        let base = self.retry_ms.unwrap_or(self.options.base_ms);
        let grown = base.saturating_mul(1 << self.tries.min(32));
        let delay = grown.min(self.options.cap_ms.max(base));
        let room = delay.saturating_mul(self.options.jitter_percent) / 100;
        delay.saturating_add(self.options.seed.mix(u64::from(self.tries)) % (room + 1))
    }
}
