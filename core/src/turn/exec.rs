//! The output of `exec`, as text: its command, how it ended, and what it wrote where.

use alloc::format;
use alloc::string::String;

use crate::limits::SUMMARY_STDERR_MAX_CHARS;
use crate::text::{collapse, head_chars};

/// The parts of the text that begins with the line `exec CMD`.
struct Parts<'t> {
    command: &'t str,
    /// `exit=N` or `TIMED_OUT`, where the text says it.
    status: Option<&'t str>,
    stdout: &'t str,
    stderr: &'t str,
}

/// The bits of an `exec` summary (`agent` 3).
pub(super) fn exec_bits(text: &str) -> String {
    let parts = read(text);
    let mut bits = collapse(parts.command);
    if let Some(status) = parts.status {
        bits.push_str(" · ");
        bits.push_str(status);
    }
    for (name, part) in [("stdout", parts.stdout), ("stderr", parts.stderr)] {
        if !part.is_empty() {
            bits.push_str(&format!(" · {name} {}L", line_count(part)));
        }
    }
    let failed = parts.status.is_some_and(|status| status != "exit=0");
    if failed && let Some(line) = parts.stderr.lines().next() {
        bits.push_str(" · ");
        bits.push_str(head_chars(collapse(line).trim(), SUMMARY_STDERR_MAX_CHARS));
    }
    bits
}

/// Splits at the first line that is `stdout:` and the first after it that is `stderr:`.
fn read(text: &str) -> Parts<'_> {
    let (command, rest) = text.split_once('\n').unwrap_or((text, ""));
    let (head, stdout, stderr) = match split_at_line(rest, "stdout:") {
        Some((head, tail)) => match split_at_line(tail, "stderr:") {
            Some((stdout, stderr)) => (head, stdout, stderr),
            None => (head, tail, ""),
        },
        None => match split_at_line(rest, "stderr:") {
            Some((head, stderr)) => (head, "", stderr),
            None => (rest, "", ""),
        },
    };
    let is_status = |line: &&str| *line == "TIMED_OUT" || line.starts_with("exit=");
    let status = head.lines().map(str::trim).find(is_status);
    Parts { command, status, stdout: stdout.trim(), stderr: stderr.trim() }
}

/// What stands before and after the first line that is `mark`.
fn split_at_line<'t>(text: &'t str, mark: &str) -> Option<(&'t str, &'t str)> {
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let end = start + line.len();
        if line.trim_end() == mark {
            return Some((text.get(..start)?, text.get(end..)?));
        }
        start = end;
    }
    None
}

/// Lines of a text, of which an empty one has none.
pub(super) fn line_count(text: &str) -> usize {
    if text.is_empty() { 0 } else { memchr::memchr_iter(b'\n', text.as_bytes()).count() + 1 }
}
