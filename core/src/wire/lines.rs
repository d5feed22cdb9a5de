//! What both line-based decoders need: the byte-order mark, the carry, text out of bytes.

use alloc::borrow::Cow;
use alloc::string::String;
use alloc::vec::Vec;

use crate::error::{CallerError, Code};
use crate::limits::{CARRY_KEEP_BYTES, EVENT_MAX_BYTES_FLOOR};

const MARK: &[u8; 3] = b"\xEF\xBB\xBF";

/// Takes exactly one byte-order mark off the start of a stream, also when chunks cut it.
#[derive(Clone, Debug, Default)]
pub(super) struct Mark {
    seen: usize,
    done: bool,
}

impl Mark {
    /// Whether the start of the stream has been dealt with.
    pub(super) const fn is_done(&self) -> bool {
        self.done
    }

    /// Looks at the start of the stream. Gives the bytes of earlier chunks that turned out to be no
    /// mark after all; they belong in front of `input`.
    pub(super) fn strip(&mut self, input: &mut &[u8]) -> &'static [u8] {
        while !self.done {
            match input.split_first() {
                None => return &[],
                Some((byte, rest)) if MARK.get(self.seen) == Some(byte) => {
                    *input = rest;
                    self.seen += 1;
                    self.done = self.seen == MARK.len();
                }
                Some(_) => return self.give_up(),
            }
        }
        &[]
    }

    /// Ends the search: gives the bytes that were taken for a mark and are none.
    pub(super) fn give_up(&mut self) -> &'static [u8] {
        if self.done {
            return &[];
        }
        self.done = true;
        MARK.get(..self.seen).unwrap_or(&[])
    }
}

/// A buffer that is reused from event to event, and gives room back that a large one left behind.
#[derive(Clone, Debug, Default)]
pub(super) struct Carry {
    pub(super) bytes: Vec<u8>,
    /// What recent events needed: the largest, fading by half with each event.
    need: usize,
}

impl Carry {
    /// Appends `more`; capacity doubles while it is small, then grows by a quarter, so that one
    /// large event does not take twice its size; not past `max`.
    pub(super) fn push(&mut self, more: &[u8], max: usize) {
        let len = self.bytes.len().saturating_add(more.len());
        if len > self.bytes.capacity() {
            let held = self.bytes.capacity();
            let step = if held < CARRY_KEEP_BYTES { held } else { held / 4 };
            let room = held.saturating_add(step).min(max).max(len);
            self.bytes.reserve_exact(room - self.bytes.len());
        }
        self.bytes.extend_from_slice(more);
    }

    /// Empties the buffer after an event.
    #[inline]
    pub(super) fn clear(&mut self) {
        self.need = (self.need / 2).max(self.bytes.len());
        self.bytes.clear();
        if self.bytes.capacity() > 2 * CARRY_KEEP_BYTES {
            self.give_back();
        }
    }

    fn give_back(&mut self) {
        let keep = self.need.saturating_mul(2).max(CARRY_KEEP_BYTES);
        if self.bytes.capacity() > keep.saturating_mul(2) {
            self.bytes.shrink_to(keep);
        }
    }
}

/// The text that a chunk begins with, up to its first byte that is none.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Clean<'i> {
    text: &'i str,
    chunk_len: usize,
}

impl<'i> Clean<'i> {
    /// Looks at each byte of the chunk at most twice.
    pub(crate) fn of(chunk: &'i [u8]) -> Self {
        let text = core::str::from_utf8(chunk).or_else(|bad| {
            let good = chunk.get(..bad.valid_up_to()).unwrap_or_default();
            core::str::from_utf8(good)
        });
        Self { text: text.unwrap_or_default(), chunk_len: chunk.len() }
    }

    /// The `len` bytes in front of the last `rest` of the chunk, if they are known to be text.
    #[inline]
    pub(super) fn text_before(self, rest: usize, len: usize) -> Option<&'i str> {
        let end = self.chunk_len.checked_sub(rest)?;
        self.text.get(end.checked_sub(len)?..end)
    }
}

/// The text of `bytes`, and whether something in them was not UTF-8 and became U+FFFD (one for each
/// maximal part of a character, as the Encoding standard has it).
pub(super) fn text(bytes: &[u8]) -> (Cow<'_, str>, bool) {
    match core::str::from_utf8(bytes) {
        Ok(text) => (Cow::Borrowed(text), false),
        Err(_) => (String::from_utf8_lossy(bytes), true),
    }
}

/// The bound of a decoder, checked.
pub(super) fn bound(max: usize, option: &str) -> Result<usize, CallerError> {
    if max < EVENT_MAX_BYTES_FLOOR {
        return Err(CallerError::new(Code::BadOption).with(option));
    }
    Ok(max)
}
