//! Text as the inside of a JSON string.

use alloc::vec::Vec;

use super::words::{WORDS_BEFORE_BLOCKS, any_may_escape, may_escape_in, short_word};

const HEX: &[u8; 16] = b"0123456789abcdef";

/// The letter of a byte's short escape; 0 for a byte that has none.
const SHORT: [u8; 256] = {
    let mut table = [0; 256];
    table[b'"' as usize] = b'"';
    table[b'\\' as usize] = b'\\';
    table[0x08] = b'b';
    table[b'\t' as usize] = b't';
    table[b'\n' as usize] = b'n';
    table[0x0C] = b'f';
    table[b'\r' as usize] = b'r';
    table
};

/// How a character that cannot stand as it is gets written.
#[derive(Clone, Copy)]
enum Escape {
    /// `\` and this byte.
    Short(u8),
    /// `\u00` and two digits.
    Control(u8),
    /// `\u2028` or `\u2029`, of which this is the last digit.
    Separator(u8),
}

impl Escape {
    /// The escape for the character that `bytes` begins with, and that character's length; `None`
    /// if it can stand as it is.
    #[inline]
    fn of(bytes: &[u8]) -> Option<(Self, usize)> {
        let byte = *bytes.first()?;
        Some(match SHORT[usize::from(byte)] {
            0 if byte < b' ' => (Self::Control(byte), 1),
            // Line ends to old JavaScript and to careless peers, so never written as they are.
            0 => match bytes {
                [0xE2, 0x80, 0xA8, ..] => (Self::Separator(b'8'), 3),
                [0xE2, 0x80, 0xA9, ..] => (Self::Separator(b'9'), 3),
                _ => return None,
            },
            letter => (Self::Short(letter), 1),
        })
    }

    const fn len(self) -> usize {
        match self {
            Self::Short(_) => 2,
            Self::Control(_) | Self::Separator(_) => 6,
        }
    }

    #[inline(always)]
    fn write(self, out: &mut Vec<u8>) {
        match self {
            Self::Short(byte) => out.extend_from_slice(&[b'\\', byte]),
            Self::Control(byte) => {
                let [high, low] = [byte >> 4, byte & 15].map(|n| HEX[usize::from(n)]);
                out.extend_from_slice(&[b'\\', b'u', b'0', b'0', high, low]);
            }
            Self::Separator(digit) => {
                out.extend_from_slice(&[b'\\', b'u', b'2', b'0', b'2', digit])
            }
        }
    }
}

/// Appends `text` as it stands between the quotes of a JSON string. Linear.
#[inline]
pub(super) fn write_escaped(text: &str, out: &mut Vec<u8>) {
    // A vector of one's own: its length stays in a register from piece to piece.
    let mut own = core::mem::take(out);
    // With room for the whole words in which it is written.
    own.reserve(text.len() + 8);
    let mut rest = text.as_bytes();
    loop {
        rest = write_plain(rest, &mut own);
        match Escape::of(rest) {
            Some((escape, len)) => {
                escape.write(&mut own);
                rest = rest.get(len..).unwrap_or(&[]);
            }
            None => match rest.split_first() {
                Some((byte, after)) => {
                    own.push(*byte);
                    rest = after;
                }
                None => break,
            },
        }
    }
    *out = own;
}

/// Appends what comes before the next byte that may need an escape, and gives the rest. Pieces of a
/// fixed size are copied as they are looked at, which is cheaper than to find the end of a short run
/// and then to copy it.
#[inline(always)]
fn write_plain<'t>(mut rest: &'t [u8], out: &mut Vec<u8>) -> &'t [u8] {
    let mut words = 0;
    while let Some((word, after)) = rest.split_first_chunk::<8>() {
        out.extend_from_slice(word);
        if let Some(n) = may_escape_in(word) {
            out.truncate(out.len() - (word.len() - n));
            return &rest[n..];
        }
        rest = after;
        words += 1;
        if words == WORDS_BEFORE_BLOCKS {
            while let Some((block, after)) = rest.split_first_chunk::<32>() {
                if any_may_escape(block) {
                    break;
                }
                out.extend_from_slice(block);
                rest = after;
            }
        }
    }
    let word = short_word(rest);
    let n = may_escape_in(&word).unwrap_or(word.len()).min(rest.len());
    out.extend_from_slice(&word);
    out.truncate(out.len() - (word.len() - n));
    &rest[n..]
}

/// What is left from the next byte on that may need an escape.
#[inline(always)]
fn skip_plain(mut rest: &[u8]) -> &[u8] {
    while let Some((block, after)) = rest.split_first_chunk::<32>() {
        if any_may_escape(block) {
            break;
        }
        rest = after;
    }
    while let Some((word, after)) = rest.split_first_chunk::<8>() {
        if let Some(n) = may_escape_in(word) {
            return &rest[n..];
        }
        rest = after;
    }
    // The zeros behind a short word may be escaped too.
    let n = may_escape_in(&short_word(rest)).unwrap_or(rest.len()).min(rest.len());
    &rest[n..]
}

/// How many bytes `text` takes between the quotes of a JSON string, as the writer here escapes it.
///
/// ```
/// use turnwire::wire::json::escaped_len;
/// assert_eq!(escaped_len("a\"\n\u{1}\u{2028}é"), 1 + 2 + 2 + 6 + 6 + 2);
/// ```
#[must_use]
pub fn escaped_len(text: &str) -> usize {
    let mut rest = text.as_bytes();
    let mut len = rest.len();
    loop {
        rest = skip_plain(rest);
        let (more, taken) = match Escape::of(rest) {
            Some((escape, taken)) => (escape.len() - taken, taken),
            None if rest.is_empty() => return len,
            None => (0, 1),
        };
        len += more;
        rest = rest.get(taken..).unwrap_or(&[]);
    }
}

/// `text`, which is checked JSON, on one line: without the CR and LF between its tokens, and with
/// U+2028 and U+2029, which only its strings can have, as escapes. `None` if it is so already.
pub(super) fn one_line(text: &str) -> Option<Vec<u8>> {
    let bytes = text.as_bytes();
    let stop = |at: usize| {
        memchr::memchr3(b'\n', b'\r', 0xE2, &bytes[at..]).map_or(bytes.len(), |n| at + n)
    };
    let mut out = Vec::new();
    let (mut done, mut at) = (0, stop(0));
    while at < bytes.len() {
        let (escape, taken) = match bytes[at] {
            b'\n' | b'\r' => (None, 1),
            _ => match Escape::of(&bytes[at..]) {
                Some((escape, taken)) => (Some(escape), taken),
                None => {
                    at = stop(at + 1);
                    continue;
                }
            },
        };
        out.extend_from_slice(&bytes[done..at]);
        if let Some(escape) = escape {
            escape.write(&mut out);
        }
        done = at + taken;
        at = stop(done);
    }
    if done == 0 {
        return None;
    }
    out.extend_from_slice(&bytes[done..]);
    Some(out)
}
