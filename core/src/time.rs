//! Time as the machines see it: a monotonic number of milliseconds that the caller passes in.
//!
//! The core owns no clock. Every call that depends on time takes `now: Millis`, and wall time is
//! derived from the one pair of stamps given at construction ([`Clock`]).

use core::ops::Add;

/// A moment on the caller's monotonic clock, in milliseconds since any fixed origin.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Millis(pub u64);

impl Millis {
    /// Milliseconds from `earlier` to `self`; 0 if `earlier` is later.
    #[must_use]
    pub const fn since(self, earlier: Self) -> u64 {
        self.0.saturating_sub(earlier.0)
    }
}

impl Add<u64> for Millis {
    type Output = Self;

    fn add(self, ms: u64) -> Self {
        Self(self.0.saturating_add(ms))
    }
}

/// Ties the monotonic clock to Unix time at one moment, so that wall stamps can be derived.
///
/// ```
/// use turnwire::time::{Clock, Millis};
/// let clock = Clock::new(Millis(500), 1_764_536_400_000);
/// assert_eq!(clock.wall(Millis(750)), 1_764_536_400_250);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Clock {
    base: Millis,
    wall_ms: u64,
}

impl Clock {
    /// `now` on the monotonic clock was `wall_ms` in Unix milliseconds.
    #[must_use]
    pub const fn new(now: Millis, wall_ms: u64) -> Self {
        Self { base: now, wall_ms }
    }

    /// Unix milliseconds at `now`. A `now` before the base gives the base's stamp.
    #[must_use]
    pub const fn wall(&self, now: Millis) -> u64 {
        self.wall_ms.saturating_add(now.since(self.base))
    }
}

/// Why a machine wants to be woken at its deadline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TimeoutReason {
    /// The connection was silent for the keepalive interval: a comment or blank line is due.
    Keepalive,
    /// A question, approval or plan reached its deadline.
    Expiry,
    /// The stream has been silent for longer than the host allows.
    Stall,
    /// The connection is to be opened again.
    Reconnect,
}

impl TimeoutReason {
    /// The reason's stable name, as the bindings give it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Keepalive => "keepalive",
            Self::Expiry => "expiry",
            Self::Stall => "stall",
            Self::Reconnect => "reconnect",
        }
    }
}
