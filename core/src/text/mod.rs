//! Cuts and counts of text, none of them inside a scalar value; paths below a workspace.

use alloc::borrow::Cow;
use alloc::string::String;

mod path;
mod stamp;

pub use path::{PathFault, relative_path};
pub use stamp::parse_timestamp_ms;

/// The longest prefix of `text` with at most `max` bytes that ends on a scalar value.
#[must_use]
pub fn head_bytes(text: &str, max: usize) -> &str {
    if text.len() <= max {
        return text;
    }
    let mut end = max;
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

/// The longest suffix of `text` with at most `max` bytes that begins on a scalar value.
#[must_use]
pub fn tail_bytes(text: &str, max: usize) -> &str {
    if text.len() <= max {
        return text;
    }
    let mut start = text.len() - max;
    while !text.is_char_boundary(start) {
        start += 1;
    }
    &text[start..]
}

/// The first `max` characters of `text`. Linear in what it returns.
#[must_use]
pub fn head_chars(text: &str, max: usize) -> &str {
    if text.len() <= max {
        return text;
    }
    match text.char_indices().nth(max) {
        Some((end, _)) => &text[..end],
        None => text,
    }
}

/// The last `max` characters of `text`. Linear in what it returns.
#[must_use]
pub fn tail_chars(text: &str, max: usize) -> &str {
    if text.len() <= max {
        return text;
    }
    if max == 0 {
        return "";
    }
    match text.char_indices().nth_back(max - 1) {
        Some((start, _)) => &text[start..],
        None => text,
    }
}

/// Whether `text` has more than `max` characters, without counting further than that.
#[must_use]
pub fn longer_than(text: &str, max: usize) -> bool {
    text.len() > max && text.chars().nth(max).is_some()
}

/// `text` cut to `max` characters, the last of which is `…` if anything was cut.
#[must_use]
pub fn clip_chars(text: &str, max: usize) -> Cow<'_, str> {
    if !longer_than(text, max) {
        return Cow::Borrowed(text);
    }
    let mut out = String::from(head_chars(text, max.saturating_sub(1)));
    out.push('…');
    Cow::Owned(out)
}

/// Whether there is nothing but white space.
#[must_use]
pub fn is_blank(text: &str) -> bool {
    text.chars().all(char::is_whitespace)
}

/// Each run of white space becomes one blank; none at either end.
#[must_use]
pub fn collapse(text: &str) -> String {
    let mut out = String::with_capacity(text.len().min(1024));
    for word in text.split_whitespace() {
        if !out.is_empty() {
            out.push(' ');
        }
        out.push_str(word);
    }
    out
}
