//! Ids: made of a seed and a counter, never of randomness; and the ids of stored events.

use alloc::format;
use alloc::string::String;
use core::fmt;

use crate::limits::EVENT_ID_MAX_BYTES;

/// Sixteen bytes from the caller, the source of every id and every jitter of one machine.
///
/// The same seed, clock and input give the same bytes.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub struct Seed(pub [u8; 16]);

impl fmt::Debug for Seed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Seed(..)")
    }
}

impl Seed {
    /// A 64-bit value that depends on the whole seed and on `n` (SplitMix64 over both halves).
    #[must_use]
    pub const fn mix(&self, n: u64) -> u64 {
        let b = &self.0;
        let low = u64::from_le_bytes([b[0], b[1], b[2], b[3], b[4], b[5], b[6], b[7]]);
        let high = u64::from_le_bytes([b[8], b[9], b[10], b[11], b[12], b[13], b[14], b[15]]);
        splitmix(splitmix(low ^ n).wrapping_add(high))
    }
}

const fn splitmix(seed: u64) -> u64 {
    let mut z = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// Makes ids of the form `<prefix><16 hex digits>-<n>`, with `n` counting from 1.
///
/// ```
/// use turnwire::ids::{IdMaker, Seed};
/// let mut ids = IdMaker::new(Seed([7; 16]));
/// let id = ids.next("m_");
/// assert!(id.starts_with("m_") && id.ends_with("-1"));
/// assert_eq!(id.len(), 2 + 16 + 2);
/// ```
#[derive(Clone, Debug, Default)]
pub struct IdMaker {
    seed: Seed,
    count: u64,
}

impl IdMaker {
    /// Ids from `seed`; none made yet.
    #[must_use]
    pub const fn new(seed: Seed) -> Self {
        Self { seed, count: 0 }
    }

    /// As [`IdMaker::new`], with `made` ids already made.
    #[must_use]
    pub const fn resume(seed: Seed, made: u64) -> Self {
        Self { seed, count: made }
    }

    /// How many ids were made, for [`IdMaker::resume`].
    #[must_use]
    pub const fn made(&self) -> u64 {
        self.count
    }

    /// The seed given at construction.
    #[must_use]
    pub const fn seed(&self) -> Seed {
        self.seed
    }

    /// The next id, with `prefix` in front.
    pub fn next(&mut self, prefix: &str) -> String {
        self.count = self.count.saturating_add(1);
        format!("{prefix}{:016x}-{}", self.seed.mix(0), self.count)
    }
}

/// The id of a stored event as a reader hands it back: `epoch-seq`, or a plain decimal.
///
/// At most 128 bytes of letters, digits, `.`, `-` and `_`; the epoch begins with a letter; the
/// split is at the last `-` (design, The log).
///
/// ```
/// use turnwire::ids::EventId;
/// let id = EventId::parse("e5a-1-17").expect("well-formed");
/// assert_eq!((id.epoch, id.seq), (Some("e5a-1"), 17));
/// assert_eq!(EventId::parse("17").map(|id| (id.epoch, id.seq)), Some((None, 17)));
/// assert_eq!(EventId::parse("17 "), None);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EventId<'a> {
    /// The epoch, or `None` for a plain decimal cursor.
    pub epoch: Option<&'a str>,
    /// The sequence number.
    pub seq: u64,
}

impl<'a> EventId<'a> {
    /// Reads an id; `None` for anything that is not one.
    #[must_use]
    pub fn parse(text: &'a str) -> Option<Self> {
        if text.len() > EVENT_ID_MAX_BYTES {
            return None;
        }
        let Some((epoch, seq)) = text.rsplit_once('-') else {
            return Some(Self { epoch: None, seq: decimal(text)? });
        };
        is_epoch(epoch).then_some(())?;
        Some(Self { epoch: Some(epoch), seq: decimal(seq)? })
    }
}

impl fmt::Display for EventId<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.epoch {
            Some(epoch) => write!(f, "{epoch}-{}", self.seq),
            None => write!(f, "{}", self.seq),
        }
    }
}

/// Whether `text` can be an epoch: begins with a letter, then letters, digits, `.`, `-`, `_`.
#[must_use]
pub fn is_epoch(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'-' | b'_'))
}

fn decimal(text: &str) -> Option<u64> {
    if text.is_empty() || !text.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    text.parse().ok()
}
