//! The encoded body of a card, version 1 (`agent` 5).
//!
//! Rows joined by LF, no LF at the end; fields joined by tabs. The first row is `toolrun`, `1` and
//! the counts `ok/fail/pending`; each other row is an item of exactly five fields. In a field,
//! backslash, LF and tab are written as two characters.

use alloc::string::String;
use core::fmt::Write as _;

use super::card::{Card, Item, ItemStatus};

const WORD: &str = "toolrun";
const VERSION: &str = "1";

/// Bytes that `text` takes when escaped. Linear in `text`.
pub(super) fn escaped_len(text: &str) -> usize {
    let is_escaped = |byte: &u8| u8::from(matches!(byte, b'\\' | b'\n' | b'\t'));
    // As many at a time as one byte can count, which compilers make vector instructions of.
    let more = |part: &[u8]| usize::from(part.iter().map(is_escaped).sum::<u8>());
    text.len() + text.as_bytes().chunks(255).map(more).sum::<usize>()
}

/// The longest prefix whose escaped form has at most `max` bytes.
pub(super) fn head_escaped(text: &str, max: usize) -> &str {
    let mut used = 0;
    for (at, c) in text.char_indices() {
        used += if matches!(c, '\\' | '\n' | '\t') { 2 } else { c.len_utf8() };
        if used > max {
            return &text[..at];
        }
    }
    text
}

fn escape_into(text: &str, out: &mut String) {
    let mut rest = text;
    while let Some(at) = memchr::memchr3(b'\\', b'\n', b'\t', rest.as_bytes()) {
        out.push_str(&rest[..at]);
        out.push_str(match rest.as_bytes()[at] {
            b'\\' => "\\\\",
            b'\n' => "\\n",
            _ => "\\t",
        });
        rest = &rest[at + 1..];
    }
    out.push_str(rest);
}

/// Undoes the escapes; a backslash before anything else stays.
fn unescape(field: &str) -> String {
    let mut out = String::with_capacity(field.len());
    let mut rest = field;
    while let Some(at) = rest.find('\\') {
        out.push_str(&rest[..at]);
        let (c, used) = match rest.as_bytes().get(at + 1) {
            Some(b'\\') => ('\\', 2),
            Some(b'n') => ('\n', 2),
            Some(b't') => ('\t', 2),
            _ => ('\\', 1),
        };
        out.push(c);
        rest = &rest[at + used..];
    }
    out.push_str(rest);
    out
}

const fn digits(mut n: u32) -> usize {
    let mut count = 1;
    while n >= 10 {
        n /= 10;
        count += 1;
    }
    count
}

pub(super) const fn header_len(ok: u32, fail: u32, pending: u32) -> usize {
    WORD.len() + 1 + VERSION.len() + 1 + digits(ok) + 1 + digits(fail) + 1 + digits(pending)
}

/// Encoded bytes of an item's row and the LF before it; `detail` is what its detail takes.
pub(super) fn item_len(item: &Item, detail: usize) -> usize {
    let names = escaped_len(&item.name) + escaped_len(&item.brief);
    1 + digits(item.id) + 4 + item.status.as_str().len() + names + detail
}

pub(super) fn encode(card: &Card) -> String {
    let mut out = String::with_capacity(card.encoded_len());
    // Writing to a string cannot fail.
    let _ = write!(out, "{WORD}\t{VERSION}\t{}/{}/{}", card.ok(), card.fail(), card.pending());
    for item in card.items() {
        let _ = write!(out, "\n{}\t{}\t", item.id, item.status.as_str());
        escape_into(&item.name, &mut out);
        out.push('\t');
        escape_into(&item.brief, &mut out);
        out.push('\t');
        escape_into(&item.detail, &mut out);
    }
    out
}

pub(super) fn decode(body: &str) -> Option<Card> {
    let mut rows = body.split('\n');
    let mut header = rows.next()?.split('\t');
    let good = header.next() == Some(WORD)
        && header.next() == Some(VERSION)
        && header.next().is_some_and(are_counts)
        && header.next().is_none();
    if !good {
        return None;
    }
    let mut card = Card::default();
    for item in rows.filter_map(decode_item) {
        if card.add(item).is_none() {
            break;
        }
    }
    Some(card)
}

fn are_counts(text: &str) -> bool {
    let is_count = |t: &str| !t.is_empty() && t.bytes().all(|b| b.is_ascii_digit());
    text.split('/').count() == 3 && text.split('/').all(is_count)
}

fn decode_item(row: &str) -> Option<Item> {
    let mut fields = row.split('\t');
    let id: u32 = fields.next()?.parse().ok().filter(|id| *id > 0)?;
    let status = match fields.next()? {
        "running" => ItemStatus::Running,
        "ok" => ItemStatus::Ok,
        "fail" => ItemStatus::Fail,
        _ => return None,
    };
    let (name, brief, detail) = (fields.next()?, fields.next()?, fields.next()?);
    if fields.next().is_some() {
        return None;
    }
    let mut item = Item { id, status, ..Item::default() };
    item.name = unescape(name);
    item.brief = unescape(brief);
    item.detail = unescape(detail);
    Some(item)
}
