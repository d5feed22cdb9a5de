//! Fields of a frame, read with forgiveness: one bad field costs that field, with a diagnostic.

use alloc::borrow::Cow;
use alloc::string::String;
use alloc::vec::Vec;

use crate::error::{Code, Diagnostics};
use crate::event::{Envelope, Event, Str, TraceEntry};
use crate::ids::EventId;
use crate::limits::CARRY_KEEP_BYTES;
use crate::text::parse_timestamp_ms;
use crate::wire::Frame;
use crate::wire::json::{Halves, JsonErrorKind, Kind, Value, read_object};

/// A slot that [`read_object`] filled, or not.
pub(super) type Slot<'a> = Option<Value<'a>>;

/// Reads the top level of a frame; a frame that is no object becomes a diagnostic.
pub(super) fn read<'a, const N: usize>(
    frame: &'a Frame<'_>,
    names: &[&str; N],
    diagnostics: &mut Diagnostics,
) -> Option<[Slot<'a>; N]> {
    match read_object(&frame.data, names) {
        Ok(slots) => Some(slots),
        Err(error) => {
            let code = match error.kind {
                JsonErrorKind::NotAnObject => Code::NotAnObject,
                JsonErrorKind::TooDeep => Code::NestedTooDeep,
                _ => Code::BadStreamJson,
            };
            diagnostics.push_with(code, frame.at, &frame.data);
            None
        }
    }
}

/// The fields of an object that has been checked before.
pub(super) fn slots<'a, const N: usize>(
    object: &'a str,
    names: &[&str; N],
) -> Option<[Slot<'a>; N]> {
    read_object(object, names).ok()
}

/// Reads fields of one frame and notes what is odd about them.
pub(super) struct Fields<'d> {
    /// Where the frame began.
    pub(super) at: u64,
    pub(super) diagnostics: &'d mut Diagnostics,
}

impl Fields<'_> {
    /// Text that may be absent; `null` is as absent.
    pub(super) fn text<'a>(&mut self, slot: Slot<'a>, name: &str) -> Option<Str<'a>> {
        self.typed(slot, name, |v| v.str())
    }

    /// Text that the event cannot do without.
    pub(super) fn need_text<'a>(&mut self, slot: Slot<'a>, name: &str) -> Option<Str<'a>> {
        let text = self.text(slot, name);
        if text.is_none() {
            self.diagnostics.push_with(Code::MissingField, self.at, name);
        }
        text
    }

    /// A truth value that may be absent.
    pub(super) fn bool(&mut self, slot: Slot<'_>, name: &str) -> Option<bool> {
        self.typed(slot, name, |v| v.bool())
    }

    /// A whole number from 0 that may be absent.
    pub(super) fn u64(&mut self, slot: Slot<'_>, name: &str) -> Option<u64> {
        self.typed(slot, name, |v| v.u64())
    }

    /// A whole number that may be absent.
    pub(super) fn i64(&mut self, slot: Slot<'_>, name: &str) -> Option<i64> {
        self.typed(slot, name, |v| v.i64())
    }

    /// A number that may be absent.
    pub(super) fn f64(&mut self, slot: Slot<'_>, name: &str) -> Option<f64> {
        self.typed(slot, name, |v| v.f64())
    }

    /// An HTTP status that may be absent.
    pub(super) fn status(&mut self, slot: Slot<'_>, name: &str) -> Option<u16> {
        self.typed(slot, name, |v| v.u64().and_then(|n| u16::try_from(n).ok()))
    }

    /// A moment in Unix milliseconds, given as a number of them or as RFC 3339.
    pub(super) fn moment(&mut self, slot: Slot<'_>, name: &str) -> Option<u64> {
        self.typed(slot, name, |v| match v.kind() {
            Kind::Str => parse_timestamp_ms(&v.str()?),
            _ => v.u64(),
        })
    }

    /// An object that may be absent.
    pub(super) fn object<'a>(&mut self, slot: Slot<'a>, name: &str) -> Option<Value<'a>> {
        self.typed(slot, name, |v| (v.kind() == Kind::Object).then_some(v))
    }

    /// The values of a list that may be absent.
    pub(super) fn elements<'a>(
        &mut self,
        slot: Slot<'a>,
        name: &str,
    ) -> impl Iterator<Item = Value<'a>> + use<'a> {
        let list = self.typed(slot, name, |v| (v.kind() == Kind::Array).then_some(v));
        list.into_iter().flat_map(|v| v.elements())
    }

    /// A list of texts; an element of another type is left out.
    pub(super) fn texts<'a>(&mut self, slot: Slot<'a>, name: &str) -> Vec<Str<'a>> {
        let elements = self.elements(slot, name);
        elements.filter_map(|v| self.typed(Some(v), name, |v| v.str())).collect()
    }

    /// Notes that the event cannot do without `name`.
    pub(super) fn missing(&mut self, name: &str) {
        self.diagnostics.push_with(Code::MissingField, self.at, name);
    }

    /// Notes that a part of `name` has the wrong type.
    pub(super) fn wrong(&mut self, name: &str) {
        self.diagnostics.push_with(Code::WrongType, self.at, name);
    }

    /// A tool trace; an entry without a name is left out.
    pub(super) fn trace<'a>(&mut self, slot: Slot<'a>, name: &str) -> Vec<TraceEntry<'a>> {
        let mut trace = Vec::new();
        for entry in self.elements(slot, name) {
            let Ok([tool, ok, summary]) = read_object(entry.raw(), &["name", "ok", "summary"])
            else {
                self.wrong(name);
                continue;
            };
            let Some(tool) = self.need_text(tool, "name") else { continue };
            let outcome = self.outcome(&tool, ok, summary);
            trace.push(TraceEntry::new(tool, outcome.0, outcome.1));
        }
        trace
    }

    /// `ok` and `summary` of a result: where one is missing it is told from the other.
    pub(super) fn outcome<'a>(
        &mut self,
        tool: &str,
        ok: Slot<'a>,
        summary: Slot<'a>,
    ) -> (bool, Str<'a>) {
        let (ok, summary) = (self.bool(ok, "ok"), self.text(summary, "summary"));
        let ok = ok.unwrap_or_else(|| {
            self.diagnostics.push_with(Code::MissingField, self.at, "ok");
            summary.as_deref().is_none_or(|line| !line.contains("✗ failed"))
        });
        (ok, summary.unwrap_or_else(|| plain_summary(tool, ok)))
    }

    fn typed<'a, T>(
        &mut self,
        slot: Slot<'a>,
        name: &str,
        read: impl FnOnce(Value<'a>) -> Option<T>,
    ) -> Option<T> {
        let value = slot.filter(|v| !v.is_null())?;
        let read = read(value);
        if read.is_none() {
            self.diagnostics.push_with(Code::WrongType, self.at, name);
        }
        read
    }
}

/// The summary line of a tool that said nothing (`agent` 3, the row *empty*).
pub(super) fn plain_summary(tool: &str, ok: bool) -> Str<'static> {
    Cow::Owned([tool, if ok { " · ✓ ok" } else { " · ✗ failed" }].concat())
}

/// The channel of deltas that spoke last.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Spoken {
    #[default]
    Text,
    Reasoning,
}

/// The id of the last frame that had one: frames repeat it until the next.
#[derive(Debug, Default)]
pub(super) struct LastId(String);

impl LastId {
    /// The id that this frame brought itself.
    #[inline]
    pub(super) fn own<'a>(&mut self, frame: &Frame<'a>) -> Option<EventId<'a>> {
        if self.0 == frame.id {
            return None;
        }
        self.0.clear();
        self.0.push_str(frame.id);
        EventId::parse(frame.id)
    }
}

/// The envelope of an event whose frame has the id of a stored one.
#[inline]
pub(super) fn numbered<'a>(event: Event<'a>, id: Option<EventId<'a>>) -> Envelope<'a> {
    let mut envelope = Envelope::new(event);
    envelope.seq = id.map(|id| id.seq);
    envelope.epoch = id.and_then(|id| id.epoch).map(Str::Borrowed);
    envelope
}

/// Joins the text of one channel of deltas where a pair of surrogates was cut between two of them.
///
/// The first half is held until the next delta of the channel; a half that stays alone becomes
/// U+FFFD.
#[derive(Debug, Default)]
pub(super) struct Joiner {
    held: Option<u16>,
    scratch: String,
}

impl Joiner {
    /// The text of a delta. Borrows unless a half is involved or the string has escapes.
    #[inline]
    pub(super) fn text<'a>(&mut self, value: Value<'a>) -> Option<Str<'a>> {
        let halves = value.str_halves()?;
        if self.held.is_none() && halves.low.is_none() && halves.high.is_none() {
            return Some(halves.text);
        }
        Some(Cow::Owned(self.join(halves)))
    }

    /// [`Joiner::text`], lent: a text with escapes is in a buffer that the next one reuses.
    #[inline(always)]
    pub(super) fn lend<'a>(&'a mut self, value: Value<'a>) -> Option<Str<'a>> {
        match value.plain_str() {
            Some(text) if self.held.is_none() => Some(Cow::Borrowed(text)),
            _ => self.lend_unescaped(value),
        }
    }

    #[inline(never)]
    fn lend_unescaped<'a>(&'a mut self, value: Value<'a>) -> Option<Str<'a>> {
        if self.held.is_none() {
            if self.scratch.capacity() > CARRY_KEEP_BYTES {
                self.scratch = String::new();
            }
            if value.unescape_into(&mut self.scratch)? == (None, None) {
                return Some(Cow::Borrowed(&self.scratch));
            }
        }
        self.text(value)
    }

    /// What is held at the end of the channel.
    pub(super) fn rest(&mut self) -> Option<&'static str> {
        self.held.take().map(|_| "\u{FFFD}")
    }

    fn join(&mut self, halves: Halves<'_>) -> String {
        let mut text = String::with_capacity(halves.text.len() + 4);
        match (self.held.take(), halves.low) {
            (None, None) => {}
            (Some(high), Some(low)) => match Halves::join(high, low) {
                Some(joined) => text.push(joined),
                None => text.push_str("\u{FFFD}\u{FFFD}"),
            },
            _ => text.push('\u{FFFD}'),
        }
        text.push_str(&halves.text);
        self.held = halves.high;
        text
    }
}
