//! The summary line of a tool's result (`agent` 3): what matters of its output, in one line.

use alloc::borrow::Cow;
use alloc::format;
use alloc::string::{String, ToString};

use super::exec::{exec_bits, line_count};
use super::judge::{begins_with_error, parse_change_dir, says_timed_out};
use crate::limits::{
    SUMMARY_FIRST_LINE_MAX_CHARS, SUMMARY_MAX_CHARS, SUMMARY_NAMES_MAX_CHARS,
    SUMMARY_URL_KEPT_CHARS, SUMMARY_URL_MAX_CHARS, SUMMARY_WHOLE_MAX_CHARS,
};
use crate::text::{clip_chars, collapse, head_chars, longer_than};

/// `name · ✓ ok` or `name · ✗ failed`, then what matters of the output, together at most 320
/// characters. Sizes (`B`) are UTF-8 bytes of the text with CRLF as LF, trimmed. Linear.
///
/// ```
/// use turnwire::turn::summary;
/// assert_eq!(summary("read_file", true, "read_file a.txt:\nx\ny"), "read_file · ✓ ok · a.txt · 2 lines · 3 B");
/// assert_eq!(summary("ping", false, ""), "ping · ✗ failed");
/// ```
#[must_use]
pub fn summary(name: &str, ok: bool, output: &str) -> String {
    let plain = match memchr::memchr(b'\r', output.as_bytes()) {
        Some(_) => Cow::Owned(output.replace("\r\n", "\n")),
        None => Cow::Borrowed(output),
    };
    let bits = bits(name, plain.trim());
    let status = if ok { "✓ ok" } else { "✗ failed" };
    let line = match bits.is_empty() {
        true => format!("{name} · {status}"),
        false => format!("{name} · {status} · {bits}"),
    };
    clip_chars(&line, SUMMARY_MAX_CHARS).into_owned()
}

/// The salient bits of a text that is trimmed.
fn bits(name: &str, text: &str) -> String {
    let (first, body) = text.split_once('\n').unwrap_or((text, ""));
    if text.is_empty() || begins_with_error(text) || says_timed_out(first) {
        return collapse(first);
    }
    let known = match name {
        "change_dir" => Some(change_dir(text)),
        "pwd" => first.strip_prefix("pwd: ").map(collapse),
        "read_file" => Some(read_file(first, body).unwrap_or_else(|| size(text))),
        "list_dir" => list_dir(text),
        "write_file" => write_file(first),
        "str_replace" => str_replace(first),
        "exec" => text.starts_with("exec ").then(|| exec_bits(text)),
        "http_get" => http_get(first, body),
        "http_head" => Some(collapse(text)),
        _ if name.ends_with("_read_file") => Some(size(text)),
        _ => None,
    };
    known.unwrap_or_else(|| other(first, text))
}

fn change_dir(text: &str) -> String {
    match parse_change_dir(text) {
        Some((path, cwd)) if !text.contains('\n') => format!("{path} · cwd={cwd}"),
        _ => head_chars(&collapse(text), SUMMARY_MAX_CHARS).to_string(),
    }
}

/// `read_file P[ (truncated)][ cwd=C]:` and the body on the lines after it.
fn read_file(first: &str, body: &str) -> Option<String> {
    let head = first.strip_prefix("read_file ")?.trim_end().strip_suffix(':')?;
    let (head, cwd) = match head.rsplit_once(" cwd=") {
        Some((head, cwd)) => (head, format!(" · cwd={cwd}")),
        None => (head, String::new()),
    };
    let (path, truncated) = match head.strip_suffix(" (truncated)") {
        Some(path) => (path, " truncated"),
        None => (head, ""),
    };
    Some(format!("{path}{truncated}{cwd} · {}", size(body)))
}

/// `list_dir P: N entries[ — names]`.
fn list_dir(text: &str) -> Option<String> {
    let rest = text.strip_prefix("list_dir ")?;
    // The path may hold the word too.
    let counted = |at: &usize| {
        let count = rest.get(..*at).and_then(|head| head.rsplit_once(": "));
        count.is_some_and(|(_, count)| number(count).is_some())
    };
    let at = rest.match_indices(" entries").map(|(at, _)| at).find(counted)?;
    let (head, tail) = rest.split_at_checked(at)?;
    let names = tail.strip_prefix(" entries — ").map(collapse);
    let mut bits = format!("{head} entries");
    if let Some(names) = names.filter(|names| !longer_than(names, SUMMARY_NAMES_MAX_CHARS)) {
        bits.push_str(" — ");
        bits.push_str(&names);
    }
    Some(bits)
}

/// `write_file P: ok bytes=N`.
fn write_file(first: &str) -> Option<String> {
    let (path, bytes) = first.strip_prefix("write_file ")?.split_once(": ok bytes=")?;
    Some(format!("{path} · {} B written", number(bytes.trim_end())?))
}

/// `str_replace P: ok replacements=N bytes=M`.
fn str_replace(first: &str) -> Option<String> {
    let (path, rest) = first.strip_prefix("str_replace ")?.split_once(": ok replacements=")?;
    let (count, bytes) = rest.trim_end().split_once(" bytes=")?;
    let plural = if number(count)? == "1" { "" } else { "s" };
    Some(format!("{path} · {count} replacement{plural} · {} B", number(bytes)?))
}

/// `http_get U → S flags` and the body.
fn http_get(first: &str, body: &str) -> Option<String> {
    let (url, status) = first.strip_prefix("http_get ")?.split_once(" → ")?;
    let (url, mark) = if longer_than(url, SUMMARY_URL_MAX_CHARS) {
        (head_chars(url, SUMMARY_URL_KEPT_CHARS), "…")
    } else {
        (url, "")
    };
    Some(format!("{url}{mark} → {} · {} B", collapse(status), body.len()))
}

/// Anything else.
fn other(first: &str, text: &str) -> String {
    if first.len() == text.len() && !longer_than(text, SUMMARY_WHOLE_MAX_CHARS) {
        return collapse(text);
    }
    let line = collapse(first);
    let mark = if longer_than(&line, SUMMARY_FIRST_LINE_MAX_CHARS) { "…" } else { "" };
    format!("{} · {}{mark}", size(text), head_chars(&line, SUMMARY_FIRST_LINE_MAX_CHARS))
}

fn size(text: &str) -> String {
    format!("{} lines · {} B", line_count(text), text.len())
}

/// The text, if it is a decimal number.
fn number(text: &str) -> Option<&str> {
    (!text.is_empty() && text.bytes().all(|b| b.is_ascii_digit())).then_some(text)
}
