//! What of a session goes into the next prompt (`agent` 9).

use alloc::string::String;
use alloc::vec::Vec;

use super::outcome::LINE_START;
use super::session::SessionRole;
use crate::limits::{HISTORY_MAX_CHARS, HISTORY_MAX_ROWS, HISTORY_PARTIAL_LINE_CHARS};
use crate::text::{head_chars, tail_chars};

/// The line before the first message.
const PREFACE: &str = "Conversation so far:";

/// Folds messages and a new prompt into one text of at most `max_chars` characters, where the
/// oldest text gives way first and the prompt never does.
///
/// Of the messages, roles user, assistant, system and error count: the last 400, then the last
/// 3,500,000 characters. With nothing to fold the answer is the prompt alone.
pub(super) fn fold<'a>(
    messages: impl DoubleEndedIterator<Item = (SessionRole, &'a str)>,
    prompt: &str,
    max_chars: usize,
) -> String {
    let mut last: Vec<_> = messages
        .rev()
        .filter(|(role, _)| *role != SessionRole::ToolRun)
        .take(HISTORY_MAX_ROWS)
        .collect();
    last.reverse();
    let mut body = String::new();
    for (role, text) in last {
        if let Some(label) = label(role, text) {
            if !body.is_empty() {
                body.push('\n');
            }
            body.push_str(label);
            body.push_str(text);
        }
    }
    if body.is_empty() {
        return prompt.into();
    }
    let frame = PREFACE.chars().count() + "\n\n\nUser: \n\nAssistant:".len();
    let room = max_chars.saturating_sub(frame + prompt.chars().count()).min(HISTORY_MAX_CHARS);
    let kept = newest(&body, room);
    if kept.is_empty() {
        return prompt.into();
    }
    let mut out = String::with_capacity(PREFACE.len() + kept.len() + prompt.len() + 24);
    for part in [PREFACE, "\n", kept, "\n\nUser: ", prompt, "\n\nAssistant:"] {
        out.push_str(part);
    }
    out
}

/// What stands before a message; `None` for one that is not folded.
fn label(role: SessionRole, text: &str) -> Option<&'static str> {
    match role {
        SessionRole::User => Some("User: "),
        SessionRole::Assistant => Some("Assistant: "),
        SessionRole::Error => Some("Error: "),
        SessionRole::System if text.starts_with(LINE_START) => None,
        SessionRole::System => Some("Tool: "),
        SessionRole::ToolRun => None,
    }
}

/// The last `max` characters, without the part of a line that a cut may leave in front.
fn newest(body: &str, max: usize) -> &str {
    let tail = tail_chars(body, max);
    if tail.len() == body.len() {
        return body;
    }
    match head_chars(tail, HISTORY_PARTIAL_LINE_CHARS).find('\n') {
        Some(at) => &tail[at + 1..],
        None => tail,
    }
}
