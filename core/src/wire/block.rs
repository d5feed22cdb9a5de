//! One block of an event stream: what a line says, and what the lines have said so far.

use core::ops::Range;

use crate::limits::EVENT_MAX_BYTES;

/// What ends a block whose last line it ends too.
pub(super) const BLOCK_END: &[u8] = b"\n\n";

/// How an [`SseDecoder`](super::SseDecoder) reads.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct SseOptions {
    /// The most that one event may make the decoder hold, in bytes: its data, its name, its id and
    /// the line being read. An event over it is skipped.
    pub max_event_bytes: usize,
    /// Whether what is left at the end counts as one more event (`agent` 1, *Client parser*). The
    /// standard says no.
    pub lenient_eof: bool,
}

impl Default for SseOptions {
    fn default() -> Self {
        Self { max_event_bytes: EVENT_MAX_BYTES, lenient_eof: false }
    }
}

/// What the lines of the current block said so far.
#[derive(Clone, Debug, Default)]
pub(super) struct Block {
    /// Offset of its first byte; `None` before its first line.
    pub(super) at: Option<u64>,
    pub(super) data: Data,
    /// `SseDecoder::id` is of this block.
    pub(super) has_id: bool,
    /// `SseDecoder::event` is of this block.
    pub(super) named: bool,
    /// The name or the id had bytes that are not UTF-8.
    pub(super) bad_utf8: bool,
}

/// Where the data of the current block is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) enum Data {
    /// No data line yet: no frame.
    #[default]
    None,
    /// In the input of this call, which only one line can be.
    Input(Range<usize>),
    /// In the carry.
    Held(Range<usize>),
}

/// An oversized block being passed over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Skip {
    LineStart,
    MidLine,
}

/// A block that has ended and has data.
pub(super) struct Found {
    pub(super) at: u64,
    pub(super) block: Block,
    pub(super) terminated: bool,
}

#[derive(Clone, Copy)]
pub(super) enum Name {
    Comment,
    Data,
    Event,
    Id,
    Retry,
    Unknown,
}

/// Splits a line into its field and the offset of the value.
#[inline]
pub(super) fn field(line: &[u8]) -> (Name, usize) {
    // The common line first; the rest of the function says the same at greater length.
    if line.starts_with(b"data: ") {
        return (Name::Data, 6);
    }
    let (name, value) = match memchr::memchr(b':', line) {
        Some(0) => return (Name::Comment, line.len()),
        // "If value starts with a U+0020 SPACE character, remove it": one at most.
        Some(colon) => {
            (&line[..colon], colon + 1 + usize::from(line.get(colon + 1) == Some(&b' ')))
        }
        None => (line, line.len()),
    };
    let name = match name {
        b"data" => Name::Data,
        b"event" => Name::Event,
        b"id" => Name::Id,
        b"retry" => Name::Retry,
        _ => Name::Unknown,
    };
    (name, value)
}

/// A number of ASCII digits only; one that is too large for 64 bits is as large as can be.
pub(super) fn digits(value: &[u8]) -> Option<u64> {
    if value.is_empty() || !value.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let digit = |n: u64, byte: &u8| n.saturating_mul(10).saturating_add(u64::from(byte - b'0'));
    Some(value.iter().fold(0, digit))
}
