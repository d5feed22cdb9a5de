//! The decoder of server-sent events, by the letter of the standard.
//!
//! The rules are those of "Interpreting an event stream" in the HTML standard
//! (<https://html.spec.whatwg.org/multipage/server-sent-events.html#event-stream-interpretation>).
//! Added to them: a bound, diagnostics, and an option for peers that forget the last blank line.

use alloc::string::String;
use core::ops::Range;

use memchr::memchr2;

use super::block::{BLOCK_END, Block, Data, Found, Name, Skip, SseOptions, digits, field};
use super::lines::{Carry, Clean, Mark, bound, text};
use super::{Frame, Step};
use crate::error::{CallerError, Code, Diagnostics};
use crate::limits::CARRY_KEEP_BYTES;

/// Bytes of an event stream in, frames out.
///
/// Linear in the bytes seen whatever the chunking: each byte is searched for the end of its line at
/// most twice, and copied only if its event is cut over chunks or has several data lines (then once
/// to keep it and at most once more to join the lines).
///
/// Odd input is told by [`diagnostics`](Self::diagnostics), with the offset at which the event
/// began: `invalid_utf8` (once an event, for text that reaches the frame), `event_too_large`,
/// `bad_retry`, and `truncated_tail` for an event that the end cut off. An event that is skipped or
/// cut off leaves the last event id as it was; a `retry` line takes effect at its end, as the
/// standard has it.
///
/// ```
/// use turnwire::wire::{SseDecoder, Step};
/// let mut decoder = SseDecoder::default();
/// let mut input = &b"id: e5-7\nevent: token\ndata: a\ndata: b\n\n: ping\n\n"[..];
/// let Step::Frame(frame) = decoder.next(&mut input) else { unreachable!() };
/// assert_eq!((frame.event, &*frame.data, frame.id), ("token", "a\nb", "e5-7"));
/// assert_eq!(decoder.next(&mut input), Step::NeedMore);
/// assert_eq!((decoder.last_event_id(), decoder.comments()), ("e5-7", 1));
/// ```
#[derive(Clone, Debug)]
pub struct SseDecoder {
    options: SseOptions,
    mark: Mark,
    /// Offset of the next byte of input.
    at: u64,
    /// A CR ended the last line: an LF that comes next belongs to it.
    after_cr: bool,
    block: Block,
    /// Data that had to be kept (`block.data`), then the start of a line that is not complete.
    carry: Carry,
    line_start: usize,
    skip: Option<Skip>,
    event: String,
    /// The id that the current block names, which its end makes the last one.
    id: String,
    last_id: String,
    retry_ms: Option<u64>,
    comments: u64,
    finished: bool,
    diagnostics: Diagnostics,
}

impl Default for SseDecoder {
    fn default() -> Self {
        Self::build(SseOptions::default())
    }
}

impl SseDecoder {
    /// A decoder at the start of a stream.
    ///
    /// # Errors
    /// `bad_option` if the bound is under
    /// [`EVENT_MAX_BYTES_FLOOR`](crate::limits::EVENT_MAX_BYTES_FLOOR).
    pub fn new(options: SseOptions) -> Result<Self, CallerError> {
        bound(options.max_event_bytes, "max_event_bytes")?;
        Ok(Self::build(options))
    }

    fn build(options: SseOptions) -> Self {
        Self {
            options,
            mark: Mark::default(),
            at: 0,
            after_cr: false,
            block: Block::default(),
            carry: Carry::default(),
            line_start: 0,
            skip: None,
            event: String::new(),
            id: String::new(),
            last_id: String::new(),
            retry_ms: None,
            comments: 0,
            finished: false,
            diagnostics: Diagnostics::default(),
        }
    }

    /// The next frame of `input`, whose consumed part is taken off its front.
    ///
    /// Call it until it says [`Step::NeedMore`]; then `input` is empty.
    pub fn next<'s, 'i: 's>(&'s mut self, input: &mut &'i [u8]) -> Step<Frame<'s>> {
        self.next_of(input, Clean::default())
    }

    /// [`next`](Self::next), for a caller that looked for the text in the whole chunk: that is
    /// quicker than to look for it in each frame.
    pub(crate) fn next_of<'s, 'i: 's>(
        &'s mut self,
        input: &mut &'i [u8],
        clean: Clean<'i>,
    ) -> Step<Frame<'s>> {
        if self.finished {
            return Step::Finished;
        }
        self.release();
        if input.is_empty() {
            return Step::NeedMore;
        }
        if let Some((at, data)) = self.one_line_block(input) {
            let text = clean.text_before(input.len() + BLOCK_END.len(), data.len());
            return Step::Frame(self.plain_frame(at, data, text));
        }
        let whole: &'i [u8] = input;
        match self.scan(input) {
            Some(found) => Step::Frame(self.frame(found, whole)),
            None => Step::NeedMore,
        }
    }

    /// Says that the stream has ended. Gives a frame only with
    /// [`lenient_eof`](SseOptions::lenient_eof), and then `Finished` at the next call.
    pub fn finish(&mut self) -> Step<Frame<'_>> {
        if self.finished {
            return Step::Finished;
        }
        self.finished = true;
        self.release();
        let start = self.mark.give_up();
        self.hold_mark(start);
        if self.options.lenient_eof && self.skip.is_none() {
            if self.partial() > 0 {
                self.end_line(None, &[]);
            }
            if let Some(mut found) = self.end_block() {
                found.terminated = false;
                return Step::Frame(self.frame(found, &[]));
            }
            return Step::Finished;
        }
        let cut = self.carry.bytes.get(self.line_start).is_some_and(|byte| *byte != b':');
        let said = self.block.named || self.block.has_id || self.block.data != Data::None;
        // Of a block that is being skipped nothing is left here: it was told of.
        if cut || said {
            self.diagnostics.push(Code::TruncatedTail, self.block.at.unwrap_or(self.at));
        }
        self.drop_block();
        Step::Finished
    }

    /// Makes ready for a new connection to the same stream: the last event id, `retry` and the
    /// counts stay, everything else is as at the start. Undrained diagnostics stay too.
    pub fn restart(&mut self) {
        self.drop_block();
        self.mark = Mark::default();
        self.at = 0;
        self.after_cr = false;
        self.skip = None;
        self.finished = false;
    }

    /// The id of the last complete block that had one; empty if there was none.
    #[must_use]
    pub fn last_event_id(&self) -> &str {
        &self.last_id
    }

    /// The last `retry` that the peer sent, in milliseconds.
    #[must_use]
    pub const fn retry_ms(&self) -> Option<u64> {
        self.retry_ms
    }

    /// How many comment lines there were: a sign of life of a peer that has nothing to say.
    #[must_use]
    pub const fn comments(&self) -> u64 {
        self.comments
    }

    /// What was odd.
    pub const fn diagnostics(&mut self) -> &mut Diagnostics {
        &mut self.diagnostics
    }

    /// Bytes held for the block being read, at most `max_event_bytes`. The last event id is held
    /// besides.
    #[must_use]
    pub fn buffered(&self) -> usize {
        self.held() + self.partial()
    }

    /// Bytes held of complete lines.
    fn held(&self) -> usize {
        let data = match &self.block.data {
            Data::None => 0,
            Data::Input(range) | Data::Held(range) => range.len(),
        };
        let event = if self.block.named { self.event.len() } else { 0 };
        let id = if self.block.has_id { self.id.len() } else { 0 };
        data + event + id
    }

    /// Bytes that the current line may still bring.
    fn room(&self) -> usize {
        self.options.max_event_bytes.saturating_sub(self.buffered())
    }

    /// Bytes held of the line that is not complete.
    fn partial(&self) -> usize {
        self.carry.bytes.len() - self.line_start
    }

    /// The commonest block, one data line and a blank one, without the state that others need. It
    /// leaves everything else, and everything in doubt, to `scan`.
    #[inline]
    fn one_line_block<'i>(&mut self, input: &mut &'i [u8]) -> Option<(u64, &'i [u8])> {
        let idle = self.block.at.is_none() && self.skip.is_none() && !self.after_cr;
        if !(idle && self.mark.is_done()) {
            return None;
        }
        let line = input.strip_prefix(b"data: ")?;
        let end = memchr2(b'\r', b'\n', line)?;
        let (data, rest) = line.split_at(end);
        let rest = rest.strip_prefix(BLOCK_END)?;
        let taken = input.len() - rest.len();
        if taken > self.options.max_event_bytes {
            return None;
        }
        let at = self.at;
        *input = rest;
        self.at += taken as u64;
        Some((at, data))
    }

    /// The frame of a block that is its data.
    #[inline]
    fn plain_frame<'s>(&'s mut self, at: u64, data: &'s [u8], known: Option<&'s str>) -> Frame<'s> {
        let (data, bad) = known.map_or_else(|| text(data), |known| (known.into(), false));
        if bad {
            self.diagnostics.push(Code::InvalidUtf8, at);
        }
        Frame { event: "message", data, id: &self.last_id, at, terminated: true }
    }

    /// Goes on line by line, up to the end of a block that has data.
    fn scan(&mut self, input: &mut &[u8]) -> Option<Found> {
        let whole = *input;
        if !self.mark.is_done() {
            let start = self.mark.strip(input);
            self.at += (whole.len() - input.len()) as u64;
            self.hold_mark(start);
        }
        if self.after_cr && !input.is_empty() {
            self.swallow_lf(input);
        }
        while !input.is_empty() {
            let start = whole.len() - input.len();
            let Some(len) = memchr2(b'\r', b'\n', input) else {
                let rest = core::mem::take(input);
                self.open_block();
                self.at += rest.len() as u64;
                self.hold_data(whole);
                self.hold_line(rest);
                return None;
            };
            let found = self.line(whole, start..start + len);
            let cr = whole.get(start + len) == Some(&b'\r');
            *input = &input[len + 1..];
            self.at += len as u64 + 1;
            if cr {
                self.after_cr = true;
                self.swallow_lf(input);
            }
            if found.is_some() {
                return found;
            }
        }
        self.hold_data(whole);
        None
    }

    /// The stream begins with bytes that look like the start of a mark and are none.
    fn hold_mark(&mut self, start: &[u8]) {
        if !start.is_empty() {
            self.block.at = Some(0);
            self.hold_line(start);
        }
    }

    fn swallow_lf(&mut self, input: &mut &[u8]) {
        if let Some((byte, rest)) = input.split_first() {
            self.after_cr = false;
            if *byte == b'\n' {
                *input = rest;
                self.at += 1;
            }
        }
    }

    /// Notes where the block begins, once it has a byte.
    fn open_block(&mut self) {
        if self.block.at.is_none() && self.skip.is_none() {
            self.block.at = Some(self.at);
        }
    }

    /// One line has its end: `range` of the input, behind what is held of it.
    fn line(&mut self, whole: &[u8], range: Range<usize>) -> Option<Found> {
        if let Some(skip) = self.skip {
            let blank = range.is_empty() && skip == Skip::LineStart;
            self.skip = if blank { None } else { Some(Skip::LineStart) };
            return None;
        }
        if self.partial() > 0 {
            self.hold_line(&whole[range]);
            if self.skip.is_some() {
                self.skip = Some(Skip::LineStart);
            } else {
                self.end_line(None, whole);
            }
            return None;
        }
        if range.is_empty() {
            return self.end_block();
        }
        self.open_block();
        if range.len() > self.room() {
            self.skip_block(Skip::LineStart);
        } else {
            self.end_line(Some(range), whole);
        }
        None
    }

    /// Interprets one complete line: `range` of the input, or what the carry has behind the data.
    fn end_line(&mut self, range: Option<Range<usize>>, whole: &[u8]) {
        let line = match &range {
            Some(range) => &whole[range.clone()],
            None => &self.carry.bytes[self.line_start..],
        };
        let (name, skip) = field(line);
        let value = &line[skip..];
        match name {
            Name::Data => return self.add_data(range, skip, whole),
            Name::Comment => self.comments += 1,
            Name::Event => {
                let (name, bad) = text(value);
                self.event.clear();
                self.event.push_str(&name);
                self.block.named = true;
                self.block.bad_utf8 |= bad;
            }
            Name::Id if !value.contains(&0) => {
                let (value, bad) = text(value);
                self.id.clear();
                self.id.push_str(&value);
                self.block.has_id = true;
                self.block.bad_utf8 |= bad;
            }
            Name::Retry => match digits(value) {
                Some(ms) => self.retry_ms = Some(ms),
                None => self.diagnostics.push(Code::BadRetry, self.block.at.unwrap_or(self.at)),
            },
            // "If the field value contains U+0000 NULL, ignore the field"; as any other name.
            Name::Id | Name::Unknown => {}
        }
        self.carry.bytes.truncate(self.line_start);
        // U+FFFD can be longer than what it stands for.
        if self.held() > self.options.max_event_bytes {
            self.skip_block(Skip::LineStart);
        }
    }

    /// Adds a data line's value, which begins `skip` bytes into the line.
    fn add_data(&mut self, range: Option<Range<usize>>, skip: usize, whole: &[u8]) {
        let max = self.options.max_event_bytes;
        if self.block.data != Data::None {
            self.hold_data(whole);
        }
        let bytes = &mut self.carry.bytes;
        match (range, &mut self.block.data) {
            (Some(line), Data::Held(data)) => {
                self.carry.push(b"\n", max);
                self.carry.push(&whole[line.start + skip..line.end], max);
                data.end = self.carry.bytes.len();
            }
            (Some(line), slot) => {
                *slot = Data::Input(line.start + skip..line.end);
                return;
            }
            (None, Data::Held(data)) => {
                // The field's name is longer than the LF that takes its place.
                let value = self.line_start + skip;
                let len = bytes.len() - value;
                bytes[data.end] = b'\n';
                bytes.copy_within(value.., data.end + 1);
                bytes.truncate(data.end + 1 + len);
                data.end = bytes.len();
            }
            (None, slot) => *slot = Data::Held(self.line_start + skip..bytes.len()),
        }
        self.line_start = self.carry.bytes.len();
    }

    /// Copies data that is in the input to the carry, before the input goes.
    fn hold_data(&mut self, whole: &[u8]) {
        if let Data::Input(range) = &self.block.data {
            let data = &whole[range.clone()];
            self.carry.push(data, self.options.max_event_bytes);
            self.block.data = Data::Held(0..data.len());
            self.line_start = data.len();
        }
    }

    /// Keeps the start of a line, or goes over to skipping if it gets too long.
    fn hold_line(&mut self, piece: &[u8]) {
        if piece.is_empty() {
            return;
        }
        if self.skip.is_some() {
            self.skip = Some(Skip::MidLine);
        } else if piece.len() > self.room() {
            self.skip_block(Skip::MidLine);
        } else {
            self.carry.push(piece, self.options.max_event_bytes);
        }
    }

    fn skip_block(&mut self, from: Skip) {
        self.diagnostics.push(Code::EventTooLarge, self.block.at.unwrap_or(self.at));
        self.drop_block();
        self.skip = Some(from);
    }

    fn drop_block(&mut self) {
        self.block = Block::default();
        self.carry.clear();
        self.line_start = 0;
    }

    /// "Dispatch the event": a blank line ended the block. The id counts even without data.
    fn end_block(&mut self) -> Option<Found> {
        let block = core::mem::take(&mut self.block);
        let at = block.at?;
        self.line_start = 0;
        if block.has_id {
            core::mem::swap(&mut self.last_id, &mut self.id);
        }
        if block.data == Data::None {
            self.carry.clear();
            if block.bad_utf8 {
                self.diagnostics.push(Code::InvalidUtf8, at);
            }
            return None;
        }
        Some(Found { at, block, terminated: true })
    }

    fn frame<'s>(&'s mut self, found: Found, whole: &'s [u8]) -> Frame<'s> {
        let Found { at, block, terminated } = found;
        let bytes = match block.data {
            Data::None => &[],
            Data::Input(range) => &whole[range],
            Data::Held(range) => &self.carry.bytes[range],
        };
        let (data, bad) = text(bytes);
        if bad || block.bad_utf8 {
            self.diagnostics.push(Code::InvalidUtf8, at);
        }
        // "If the event type buffer is a value other than the empty string, change the type".
        let named = block.named && !self.event.is_empty();
        let event = if named { &*self.event } else { "message" };
        Frame { event, data, id: &self.last_id, at, terminated }
    }

    /// Lets go of what the frame before this call lent.
    #[inline]
    fn release(&mut self) {
        if self.block.at.is_none() {
            self.carry.clear();
            self.line_start = 0;
            if self.event.capacity() > CARRY_KEEP_BYTES {
                self.event = String::new();
            }
            if self.id.capacity() > CARRY_KEEP_BYTES {
                self.id = String::new();
            }
        }
    }
}
