//! Frames to bytes, so that no text can become a second frame.
//!
//! The output never holds a CR: lines end in LF alone, in both framings (cases 2 and 9).

use alloc::borrow::Cow;
use alloc::vec::Vec;

use memchr::memchr2;

use super::json::{ObjectWriter, RawJson, write_str, write_u64};
use crate::error::{CallerError, Code};
use crate::ids::{EventId, is_epoch};

/// A text that fits on one line of an event stream: no CR, no LF, no NUL.
///
/// ```
/// use turnwire::wire::FieldValue;
/// assert_eq!(FieldValue::new("e5-7").map(|v| v.as_str().len()), Ok(4));
/// assert!(FieldValue::new("7\ndata: {}").is_err());
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldValue<'a>(Cow<'a, str>);

impl<'a> FieldValue<'a> {
    /// Checks `text`.
    ///
    /// # Errors
    /// `bad_field` if it has a CR, LF or NUL.
    pub fn new(text: impl Into<Cow<'a, str>>) -> Result<Self, CallerError> {
        let text = text.into();
        if is_one_line(&text) { Ok(Self(text)) } else { Err(CallerError::new(Code::BadField)) }
    }

    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

#[inline(always)]
fn is_one_line(text: &str) -> bool {
    !text.bytes().any(breaks_line)
}

const fn breaks_line(byte: u8) -> bool {
    matches!(byte, b'\r' | b'\n' | 0)
}

/// Appends one event with any text as its data: a data line for each line of `data`, whether CR, LF
/// or CRLF ends it. A decoder gets the text back with LF for all of them. Linear.
///
/// ```
/// let mut out = Vec::new();
/// turnwire::wire::encode::encode_sse("a\r\nb", None, None, Some(2000), &mut out);
/// assert_eq!(out, b"retry: 2000\ndata: a\ndata: b\n\n");
/// ```
pub fn encode_sse(
    data: &str,
    event: Option<&FieldValue<'_>>,
    id: Option<&FieldValue<'_>>,
    retry_ms: Option<u64>,
    out: &mut Vec<u8>,
) {
    if let Some(event) = event {
        line(b"event: ", event.as_str(), out);
    }
    if let Some(id) = id {
        line(b"id: ", id.as_str(), out);
    }
    if let Some(ms) = retry_ms {
        retry_line(ms, out);
    }
    lines(b"data: ", data, out);
    out.push(b'\n');
}

/// Appends a comment, which keeps a silent connection open: one comment line for each line of
/// `text`, and a blank line.
pub fn encode_comment(text: &str, out: &mut Vec<u8>) {
    lines(b": ", text, out);
    out.push(b'\n');
}

/// Appends a block that says nothing but how long to wait before connecting again.
pub fn encode_retry(ms: u64, out: &mut Vec<u8>) {
    retry_line(ms, out);
    out.push(b'\n');
}

fn retry_line(ms: u64, out: &mut Vec<u8>) {
    out.extend_from_slice(b"retry: ");
    write_u64(ms, out);
    out.push(b'\n');
}

fn line(prefix: &[u8], text: &str, out: &mut Vec<u8>) {
    out.extend_from_slice(prefix);
    out.extend_from_slice(text.as_bytes());
    out.push(b'\n');
}

fn lines(prefix: &[u8], text: &str, out: &mut Vec<u8>) {
    let mut rest = text;
    while let Some(end) = memchr2(b'\r', b'\n', rest.as_bytes()) {
        line(prefix, &rest[..end], out);
        let after = &rest[end..];
        rest = after.strip_prefix("\r\n").unwrap_or(&after[1..]);
    }
    line(prefix, rest, out);
}

/// How frames are put into a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Framing {
    /// Server-sent events: `data: {…}` and a blank line.
    Sse,
    /// Newline-delimited JSON: `{…}` and a line end.
    Ndjson,
}

/// Writes JSON frames straight into the caller's buffer, framing and all.
///
/// An event may become several frames; the id goes into the last of them, so that a reader who saw
/// only a part of them asks for the event again.
///
/// ```
/// use turnwire::ids::EventId;
/// use turnwire::wire::{FrameWriter, Framing};
/// let mut out = Vec::new();
/// let mut frames = FrameWriter::new(Framing::Sse, &mut out);
/// frames.object(None).str("type", "text_delta").str("text", "a\n\ndata: b");
/// frames.object(Some("end")).str("type", "done");
/// frames.finish(EventId::parse("e5-8"));
/// let text = concat!(
///     "data: {\"type\":\"text_delta\",\"text\":\"a\\n\\ndata: b\"}\n\n",
///     "event: end\ndata: {\"type\":\"done\"}\nid: e5-8\n\n",
/// );
/// assert_eq!(String::from_utf8(out).as_deref(), Ok(text));
/// ```
#[derive(Debug)]
pub struct FrameWriter<'o> {
    framing: Framing,
    out: &'o mut Vec<u8>,
    open: bool,
}

impl<'o> FrameWriter<'o> {
    /// Frames at the end of `out`.
    pub const fn new(framing: Framing, out: &'o mut Vec<u8>) -> Self {
        Self { framing, out, open: false }
    }

    /// Begins a frame, which ends the one before, and its object. `event` names it in an event
    /// stream (line ends and NUL in it are left out); the other framing has no names.
    #[inline]
    pub fn object(&mut self, event: Option<&str>) -> ObjectWriter<'_> {
        self.begin(event);
        ObjectWriter::begin(self.out)
    }

    /// As [`FrameWriter::object`], for frames that come by the thousand: the object begins with
    /// `head`, which goes from its bracket to a colon, and `text` as a JSON string.
    #[inline(always)]
    pub(crate) fn text_object(
        &mut self,
        event: Option<&'static str>,
        head: &'static str,
        text: &str,
    ) -> ObjectWriter<'_> {
        self.begin(event);
        self.out.extend_from_slice(head.as_bytes());
        write_str(text, self.out);
        ObjectWriter::resume(self.out)
    }

    /// A frame whose JSON is there already.
    pub fn raw(&mut self, event: Option<&str>, json: &RawJson<'_>) {
        self.begin(event);
        self.out.extend_from_slice(json.as_str().as_bytes());
    }

    /// Ends the last frame, which gets the id; without a frame nothing is written. An id whose epoch
    /// is none ([`is_epoch`]) is left out, and so is any in newline-delimited JSON.
    #[inline]
    pub fn finish(mut self, id: Option<EventId<'_>>) {
        self.write_id(id);
    }

    /// [`finish`](Self::finish) without the end, which dropping brings: a writer that stays in its
    /// place costs less than one that is moved.
    #[inline]
    pub(crate) fn write_id(&mut self, id: Option<EventId<'_>>) {
        let Some(id) = id.filter(|id| id.epoch.is_none_or(is_epoch)) else { return };
        if self.open && self.framing == Framing::Sse {
            self.out.extend_from_slice(b"\nid: ");
            if let Some(epoch) = id.epoch {
                self.out.extend_from_slice(epoch.as_bytes());
                self.out.push(b'-');
            }
            write_u64(id.seq, self.out);
        }
    }

    #[inline(always)]
    fn begin(&mut self, event: Option<&str>) {
        self.end_frame();
        self.open = true;
        if self.framing == Framing::Sse {
            if let Some(event) = event {
                self.out.extend_from_slice(b"event: ");
                // Nearly always a literal, for which the compiler has the answer.
                if is_one_line(event) {
                    self.out.extend_from_slice(event.as_bytes());
                } else {
                    self.out.extend(event.bytes().filter(|byte| !breaks_line(*byte)));
                }
                self.out.push(b'\n');
            }
            self.out.extend_from_slice(b"data: ");
        }
    }

    #[inline]
    fn end_frame(&mut self) {
        if core::mem::take(&mut self.open) {
            self.out.extend_from_slice(match self.framing {
                Framing::Sse => b"\n\n",
                Framing::Ndjson => b"\n",
            });
        }
    }
}

impl Drop for FrameWriter<'_> {
    /// Ends the last frame, without an id if [`FrameWriter::finish`] gave none.
    #[inline]
    fn drop(&mut self) {
        self.end_frame();
    }
}
