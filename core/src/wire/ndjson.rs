//! The decoder of newline-delimited JSON: one record a line.

use core::ops::Range;

use memchr::memchr2;

use super::lines::{Carry, Mark, bound, text};
use super::{Frame, Step};
use crate::error::{CallerError, Code, Diagnostics};
use crate::limits::EVENT_MAX_BYTES;

/// How an [`NdjsonDecoder`] reads.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct NdjsonOptions {
    /// The longest line that is kept, in bytes. A longer one is skipped.
    pub max_line_bytes: usize,
}

impl Default for NdjsonOptions {
    fn default() -> Self {
        Self { max_line_bytes: EVENT_MAX_BYTES }
    }
}

/// Bytes of newline-delimited JSON in, one frame for each record out.
///
/// Only CR and LF end a line; lines of nothing but blanks and tabs are skipped, and so is a
/// byte-order mark at the start. A record is not looked into: whether it is JSON is for the reader
/// to say, and whether a last line without its end ([`Frame::terminated`]) counts depends on that
/// (`truncated_tail` if it does not parse).
///
/// Linear in the bytes seen whatever the chunking: each byte is searched once, and copied only if
/// chunks cut its line. Diagnostics: `invalid_utf8` and `event_too_large`, with the offset at which
/// the line began.
///
/// ```
/// use turnwire::wire::{NdjsonDecoder, Step};
/// let mut decoder = NdjsonDecoder::default();
/// let mut input = &b"{\"type\":\"start\"}\r\n\n{\"type\":\"do"[..];
/// let Step::Frame(frame) = decoder.next(&mut input) else { unreachable!() };
/// assert_eq!((&*frame.data, frame.terminated), ("{\"type\":\"start\"}", true));
/// assert_eq!(decoder.next(&mut input), Step::NeedMore);
/// let Step::Frame(tail) = decoder.finish() else { unreachable!() };
/// assert_eq!((&*tail.data, tail.terminated), ("{\"type\":\"do", false));
/// ```
#[derive(Clone, Debug)]
pub struct NdjsonDecoder {
    options: NdjsonOptions,
    mark: Mark,
    /// Offset of the next byte of input.
    at: u64,
    /// Offset of the line that the carry has the start of.
    line_at: u64,
    carry: Carry,
    /// The carry's line was given as a frame.
    lent: bool,
    /// The rest of an oversized line is being passed over.
    skip: bool,
    finished: bool,
    diagnostics: Diagnostics,
}

impl Default for NdjsonDecoder {
    fn default() -> Self {
        Self::build(NdjsonOptions::default())
    }
}

/// A record: where it is (`None`: in the carry) and where it began in the stream.
struct Found {
    range: Option<Range<usize>>,
    at: u64,
}

impl NdjsonDecoder {
    /// A decoder at the start of a stream.
    ///
    /// # Errors
    /// `bad_option` if the bound is under
    /// [`EVENT_MAX_BYTES_FLOOR`](crate::limits::EVENT_MAX_BYTES_FLOOR).
    pub fn new(options: NdjsonOptions) -> Result<Self, CallerError> {
        bound(options.max_line_bytes, "max_line_bytes")?;
        Ok(Self::build(options))
    }

    fn build(options: NdjsonOptions) -> Self {
        Self {
            options,
            mark: Mark::default(),
            at: 0,
            line_at: 0,
            carry: Carry::default(),
            lent: false,
            skip: false,
            finished: false,
            diagnostics: Diagnostics::default(),
        }
    }

    /// The next record of `input`, whose consumed part is taken off its front.
    ///
    /// Call it until it says [`Step::NeedMore`]; then `input` is empty.
    pub fn next<'s, 'i: 's>(&'s mut self, input: &mut &'i [u8]) -> Step<Frame<'s>> {
        if self.finished {
            return Step::Finished;
        }
        self.release();
        let whole: &'i [u8] = input;
        match self.scan(input) {
            Some(found) => Step::Frame(self.frame(found, whole, true)),
            None => Step::NeedMore,
        }
    }

    /// Says that the stream has ended. Gives a last line that had no end, if there is one, and then
    /// `Finished` at the next call.
    pub fn finish(&mut self) -> Step<Frame<'_>> {
        if self.finished {
            return Step::Finished;
        }
        self.finished = true;
        self.release();
        let start = self.mark.give_up();
        self.hold(start, 0);
        if self.skip || is_blank(&self.carry.bytes) {
            self.carry.clear();
            return Step::Finished;
        }
        let found = Found { range: None, at: self.line_at };
        Step::Frame(self.frame(found, &[], false))
    }

    /// Makes ready for a new stream. Undrained diagnostics stay.
    pub fn restart(&mut self) {
        let options = self.options.clone();
        let diagnostics = core::mem::take(&mut self.diagnostics);
        *self = Self { diagnostics, ..Self::build(options) };
    }

    /// What was odd.
    pub const fn diagnostics(&mut self) -> &mut Diagnostics {
        &mut self.diagnostics
    }

    /// Bytes held of a line that is not complete, at most `max_line_bytes`.
    #[must_use]
    pub const fn buffered(&self) -> usize {
        if self.lent { 0 } else { self.carry.bytes.len() }
    }

    fn scan(&mut self, input: &mut &[u8]) -> Option<Found> {
        let whole = *input;
        if !self.mark.is_done() {
            let start = self.mark.strip(input);
            self.at += (whole.len() - input.len()) as u64;
            self.hold(start, 0);
        }
        while !input.is_empty() {
            let start = whole.len() - input.len();
            let at = self.at;
            let Some(len) = memchr2(b'\r', b'\n', input) else {
                self.at += input.len() as u64;
                self.hold(core::mem::take(input), at);
                return None;
            };
            *input = &input[len + 1..];
            self.at += len as u64 + 1;
            let found = self.line(whole, start..start + len, at);
            if found.is_some() {
                return found;
            }
        }
        None
    }

    /// One line has its end: `range` of the input, behind what is held of it.
    fn line(&mut self, whole: &[u8], range: Range<usize>, at: u64) -> Option<Found> {
        let piece = &whole[range.clone()];
        if self.skip {
            self.skip = false;
            return None;
        }
        if self.carry.bytes.is_empty() && piece.len() <= self.options.max_line_bytes {
            return (!is_blank(piece)).then_some(Found { range: Some(range), at });
        }
        self.hold(piece, at);
        if self.skip || is_blank(&self.carry.bytes) {
            self.skip = false;
            self.carry.clear();
            return None;
        }
        Some(Found { range: None, at: self.line_at })
    }

    /// Keeps a piece of a line, the first of which is at `at`, or goes over to skipping the line.
    fn hold(&mut self, piece: &[u8], at: u64) {
        if self.skip || piece.is_empty() {
            return;
        }
        if self.carry.bytes.is_empty() {
            self.line_at = at;
        }
        if piece.len() > self.options.max_line_bytes - self.carry.bytes.len() {
            self.diagnostics.push(Code::EventTooLarge, self.line_at);
            self.carry.clear();
            self.skip = true;
        } else {
            self.carry.push(piece, self.options.max_line_bytes);
        }
    }

    /// Lets go of what the frame before this call lent.
    fn release(&mut self) {
        if core::mem::take(&mut self.lent) {
            self.carry.clear();
        }
    }

    fn frame<'s>(&'s mut self, found: Found, whole: &'s [u8], terminated: bool) -> Frame<'s> {
        let bytes = match found.range {
            Some(range) => &whole[range],
            None => {
                self.lent = true;
                &*self.carry.bytes
            }
        };
        let (data, bad) = text(bytes);
        if bad {
            self.diagnostics.push(Code::InvalidUtf8, found.at);
        }
        Frame { event: "message", data, id: "", at: found.at, terminated }
    }
}

fn is_blank(line: &[u8]) -> bool {
    line.iter().all(|byte| matches!(byte, b' ' | b'\t'))
}
