//! The text of a JSON string, and half characters.

use alloc::borrow::Cow;
use alloc::string::String;

/// The text of a string that may begin or end with half of a surrogate pair.
///
/// A peer that cuts its text by UTF-16 units can cut a pair in two: one delta ends in the first
/// half, the next begins with the second. Both halves are given apart, so that a reader can join
/// them ([`Halves::join`]); a half in the middle has no partner and is U+FFFD in the text.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Halves<'a> {
    /// The second half of a pair that the string began with.
    pub low: Option<u16>,
    /// What is between.
    pub text: Cow<'a, str>,
    /// The first half of a pair that the string ended in.
    pub high: Option<u16>,
    /// Whether a half in the middle became U+FFFD.
    pub lost: bool,
}

impl<'a> Halves<'a> {
    /// A text with nothing cut.
    pub(super) const fn plain(text: &'a str) -> Self {
        Self { low: None, text: Cow::Borrowed(text), high: None, lost: false }
    }

    /// The character that two halves make.
    ///
    /// ```
    /// use turnwire::wire::json::Halves;
    /// assert_eq!(Halves::join(0xD83D, 0xDE00), Some('😀'));
    /// assert_eq!(Halves::join(0xDE00, 0xD83D), None);
    /// ```
    #[must_use]
    pub fn join(high: u16, low: u16) -> Option<char> {
        let mut units = char::decode_utf16([high, low]);
        units.next()?.ok().filter(|c| c.len_utf16() == 2)
    }
}

/// The text of `inner`, a valid string without its quotes; each lone half becomes U+FFFD.
pub(super) fn unescape(inner: &str) -> Cow<'_, str> {
    let Halves { low, text, high, .. } = halves(inner);
    if low.is_none() && high.is_none() {
        return text;
    }
    let mut out = String::with_capacity(text.len() + 6);
    out.extend(low.map(|_| char::REPLACEMENT_CHARACTER));
    out.push_str(&text);
    out.extend(high.map(|_| char::REPLACEMENT_CHARACTER));
    Cow::Owned(out)
}

/// The text of `inner`, a valid string without its quotes, with halves at its ends apart.
pub(super) fn halves(inner: &str) -> Halves<'_> {
    let mut out = String::with_capacity(inner.len());
    let Ends { low, high, lost } = halves_into(inner, &mut out);
    Halves { low, text: Cow::Owned(out), high, lost }
}

/// What [`halves_into`] found besides text.
pub(super) struct Ends {
    pub(super) low: Option<u16>,
    pub(super) high: Option<u16>,
    pub(super) lost: bool,
}

/// [`halves`], with the text at the end of `out`, which is empty. Linear.
pub(super) fn halves_into(inner: &str, out: &mut String) -> Ends {
    let mut found = Ends { low: None, high: None, lost: false };
    out.reserve(inner.len());
    // The first half of a pair whose second half may come next.
    let mut high = None;
    let mut rest = inner;
    while let Some((plain, escaped)) = split_at_escape(rest) {
        if !plain.is_empty() {
            if high.take().is_some() {
                out.push(char::REPLACEMENT_CHARACTER);
                found.lost = true;
            }
            out.push_str(plain);
        }
        let (unit, after) = escape(escaped);
        let is_first = escaped.len() == inner.len();
        rest = after;
        let char = match (high.take(), unit) {
            (Some(high), unit) => match Halves::join(high, unit) {
                Some(char) => Some(char),
                None => {
                    out.push(char::REPLACEMENT_CHARACTER);
                    found.lost = true;
                    char::from_u32(unit.into())
                }
            },
            (None, unit) => char::from_u32(unit.into()),
        };
        match char {
            Some(char) => out.push(char),
            None if unit < 0xDC00 => high = Some(unit),
            None if is_first => found.low = Some(unit),
            None => {
                out.push(char::REPLACEMENT_CHARACTER);
                found.lost = true;
            }
        }
    }
    if !rest.is_empty() && high.take().is_some() {
        out.push(char::REPLACEMENT_CHARACTER);
        found.lost = true;
    }
    out.push_str(rest);
    found.high = high;
    found
}

/// What is before the next backslash of `text`, and the rest; `None` if there is none.
#[inline]
fn split_at_escape(text: &str) -> Option<(&str, &str)> {
    let at = match text.as_bytes().first()? {
        b'\\' => 0,
        _ => memchr::memchr(b'\\', text.as_bytes())?,
    };
    text.split_at_checked(at)
}

/// The UTF-16 unit of the escape that `text` begins with, and what is behind it.
fn escape(text: &str) -> (u16, &str) {
    let unit = match text.as_bytes().get(1) {
        Some(b'b') => 0x08,
        Some(b't') => 0x09,
        Some(b'n') => 0x0A,
        Some(b'f') => 0x0C,
        Some(b'r') => 0x0D,
        Some(b'u') => {
            let digits = text.get(2..6).unwrap_or("");
            let unit = u16::from_str_radix(digits, 16).unwrap_or(0xFFFD);
            return (unit, text.get(6..).unwrap_or(""));
        }
        Some(byte) => u16::from(*byte),
        None => 0xFFFD,
    };
    (unit, text.get(2..).unwrap_or(""))
}
