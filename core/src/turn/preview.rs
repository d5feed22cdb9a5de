//! The preview of a tool's output: its real head and tail (`agent` 4).

use alloc::borrow::Cow;
use alloc::format;
use alloc::string::String;

use crate::limits::{PREVIEW_HEAD_LINES, PREVIEW_MAX_CHARS, PREVIEW_TAIL_LINES, SUMMARY_MAX_CHARS};
use crate::text::{clip_chars, longer_than};

/// The bounded second level of a tool's output; `None` where the summary line says it all.
///
/// Of more than 50 lines the first 40 and the last 10 stay, with the number of those between. All
/// is at most 100,000 characters; the tail is kept before the head. Linear in the text.
///
/// ```
/// use turnwire::turn::preview;
/// assert_eq!(preview("one short line\n"), None);
/// assert_eq!(preview("a\tb\r\nc").as_deref(), Some("a    b\nc"));
/// ```
#[must_use]
pub fn preview(text: &str) -> Option<String> {
    let plain = normalise(text);
    let body = plain.trim();
    if body.is_empty() {
        return None;
    }
    let Some((head, skipped, tail)) = split(body) else {
        let one_line = memchr::memchr(b'\n', body.as_bytes()).is_none();
        if one_line && !longer_than(body, SUMMARY_MAX_CHARS) {
            return None;
        }
        return Some(clip_chars(body, PREVIEW_MAX_CHARS).into_owned());
    };
    let marker = format!("… ({skipped} more lines)");
    let room = PREVIEW_MAX_CHARS.saturating_sub(marker.chars().count() + 2);
    let tail = clip_chars(tail, room);
    let room = room.saturating_sub(tail.chars().count());
    // A tail that fills everything leaves no place for a mark of the head; the marker says it.
    let head = if room == 0 { Cow::Borrowed("") } else { clip_chars(head, room) };
    Some(format!("{head}\n{marker}\n{tail}"))
}

/// CRLF as LF, tabs as four blanks.
fn normalise(text: &str) -> Cow<'_, str> {
    if memchr::memchr2(b'\r', b'\t', text.as_bytes()).is_none() {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.replace("\r\n", "\n").replace('\t', "    "))
}

/// The first 40 lines, how many follow, the last 10; `None` for at most 50 lines.
fn split(body: &str) -> Option<(&str, usize, &str)> {
    let breaks = memchr::memchr_iter(b'\n', body.as_bytes());
    let skipped =
        (breaks.clone().count() + 1).checked_sub(PREVIEW_HEAD_LINES + PREVIEW_TAIL_LINES)?;
    if skipped == 0 {
        return None;
    }
    let head_end = breaks.clone().nth(PREVIEW_HEAD_LINES - 1)?;
    let tail_start = breaks.rev().nth(PREVIEW_TAIL_LINES - 1)? + 1;
    Some((body.get(..head_end)?, skipped, body.get(tail_start..)?))
}
