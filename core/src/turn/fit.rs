//! What fits into an event, so that none becomes a frame that a decoder would refuse.
//!
//! | what is over its bound | what becomes of it |
//! |---|---|
//! | deltas and live output | several events, nothing lost |
//! | the text that a `message` covers | a message earlier, nothing lost |
//! | a tool's output | its head and tail, with the number of bytes between them |
//! | the text of `done` | left out, with a diagnostic |
//! | the tool trace of `done` | its first entries, with a diagnostic |
//! | what an error or a cancel says | its start, with `…` |
//! | all else | the call is refused with `event_too_large`, or `bad_field` for ids and names |
//!
//! An event then takes at most half of [`EVENT_MAX_BYTES`](crate::limits::EVENT_MAX_BYTES), a
//! `done` a little more.

use alloc::borrow::Cow;
use alloc::format;

use crate::error::{CallerError, Code};
use crate::event::Event;
use crate::limits::{EVENT_GIVEN_MAX_BYTES, NAME_MAX_BYTES, TOOL_OUTPUT_MAX_ESCAPED_BYTES};

/// Most bytes that one byte of text becomes in a JSON string (`\u0001`).
pub(super) const ESCAPED_BYTES_MAX: usize = 6;

/// Bytes that are left for the line between head and tail of an output.
const MARK_BYTES: usize = 64;

/// Bytes of `text` inside a JSON string, with the escapes that JSON demands and those of U+2028
/// and U+2029, which writers of event streams escape too. Linear.
pub(super) fn escaped_len(text: &str) -> usize {
    // Pieces whose sum fits into a byte, so that many bytes are looked at in one step.
    let sum = |piece: &[u8]| usize::from(piece.iter().map(|byte| more(*byte)).sum::<u8>());
    let (pieces, rest) = text.as_bytes().as_chunks::<COUNTED_AT_ONCE_BYTES>();
    let plain = text.len() + pieces.iter().map(|piece| sum(piece)).sum::<usize>() + sum(rest);
    if memchr::memchr(0xE2, text.as_bytes()).is_none() {
        return plain;
    }
    plain + 3 * text.matches(['\u{2028}', '\u{2029}']).count()
}

/// Bytes whose escapes add at most 255 together, five each: three vectors of sixteen.
const COUNTED_AT_ONCE_BYTES: usize = 48;

/// Bytes that an escape adds to this one. Without a branch, since it is asked of every byte.
#[inline(always)]
const fn more(byte: u8) -> u8 {
    let control = (byte < b' ') as u8;
    let short =
        ((byte == b'\n') | (byte == b'\r') | (byte == b'\t') | (byte == 8) | (byte == 12)) as u8;
    let quoted = ((byte == b'"') | (byte == b'\\')) as u8;
    control * 5 - short * 4 + quoted
}

fn char_escaped_len(c: char) -> usize {
    match c {
        '\u{2028}' | '\u{2029}' => 6,
        c => c.len_utf8() + u8::try_from(c).map_or(0, |byte| usize::from(more(byte))),
    }
}

/// The longest start of `text` that takes at most `max` bytes when escaped.
fn head_escaped(text: &str, max: usize) -> &str {
    let mut taken = 0;
    for (at, c) in text.char_indices() {
        taken += char_escaped_len(c);
        if taken > max {
            return text.get(..at).unwrap_or_default();
        }
    }
    text
}

/// The longest end of `text` that takes at most `max` bytes when escaped.
fn tail_escaped(text: &str, max: usize) -> &str {
    let mut taken = 0;
    for (at, c) in text.char_indices().rev() {
        taken += char_escaped_len(c);
        if taken > max {
            return text.get(at + c.len_utf8()..).unwrap_or_default();
        }
    }
    text
}

/// `text` in pieces of at most `max` bytes when escaped, none of them empty. `max` must have room
/// for one character. Linear.
pub(super) fn pieces(text: &str, max: usize) -> impl Iterator<Item = &str> {
    let mut rest = text;
    core::iter::from_fn(move || {
        let piece = match rest.len().checked_mul(ESCAPED_BYTES_MAX) {
            Some(most) if most <= max => rest,
            // Asked only of the last few pieces, so each byte is counted a few times at most.
            _ if rest.len() <= max && escaped_len(rest) <= max => rest,
            _ => head_escaped(rest, max),
        };
        rest = rest.get(piece.len()..)?;
        (!piece.is_empty()).then_some(piece)
    })
}

/// A tool's output within its bound: whole, or its head and tail around a line that says how many
/// bytes are not there.
pub(super) fn clip_output(text: Cow<'_, str>) -> Cow<'_, str> {
    if escaped_len(&text) <= TOOL_OUTPUT_MAX_ESCAPED_BYTES {
        return text;
    }
    let half = (TOOL_OUTPUT_MAX_ESCAPED_BYTES - MARK_BYTES) / 2;
    let (head, tail) = (head_escaped(&text, half), tail_escaped(&text, half));
    let skipped = text.len() - head.len() - tail.len();
    format!("{head}\n… ({skipped} more bytes)\n{tail}").into()
}

/// Refuses a name, an id or a word that is longer than one can be.
pub(super) fn short(text: &str, what: &str) -> Result<(), CallerError> {
    if text.len() > NAME_MAX_BYTES {
        return Err(CallerError::new(Code::BadField).with(what));
    }
    Ok(())
}

/// Refuses an event that is too large to be given on, or that has no JSON form because some raw
/// JSON in it is none. Linear in the event, which is written once for it.
pub(super) fn fits(event: &Event<'_>) -> Result<(), CallerError> {
    let name = event.kind().name();
    let Ok(json) = serde_json::to_vec(event) else {
        return Err(CallerError::new(Code::BadJson).with(name));
    };
    if json.len() > EVENT_GIVEN_MAX_BYTES {
        return Err(CallerError::new(Code::EventTooLarge).with(name));
    }
    Ok(())
}
