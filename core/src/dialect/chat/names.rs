//! Names of tools as types of parts: `bash` is `tool-Bash` (seed of `chat`, Tool naming; `chat` 5
//! and A19).

use alloc::string::String;

/// What the type of a tool's part begins with.
const PREFIX: &str = "tool-";

/// Words that are not spelt by the rule: `web` would be an acronym, and the seed writes WebSearch.
const WORDS: [(&str, &str); 2] = [("ipython", "IPython"), ("web", "Web")];

/// The longest word in lower case that is taken for an acronym, in characters (`chat` 5).
const ACRONYM_MAX_CHARS: usize = 3;

/// The type of the part of a tool.
pub(super) fn part_type(name: &str) -> String {
    let mut out = String::from(PREFIX);
    for word in name.split(|c: char| matches!(c, '_' | '-') || c.is_whitespace()) {
        let known = WORDS.iter().find(|(from, _)| *from == word);
        if let Some((_, spelt)) = known {
            out.push_str(spelt);
        } else if word.len() <= ACRONYM_MAX_CHARS && word.bytes().all(|b| b.is_ascii_lowercase()) {
            out.push_str(&word.to_ascii_uppercase());
        } else {
            let mut chars = word.chars();
            out.extend(chars.next().into_iter().flat_map(char::to_uppercase));
            out.push_str(chars.as_str());
        }
    }
    out
}

/// The most likely name of the tool of such a part: its words in lower case, joined by `_`. Other
/// names lead to the same type, so an encoder writes the name beside the type where this is not it.
pub(super) fn tool_name(part_type: &str) -> String {
    let mut rest = part_type.strip_prefix(PREFIX).unwrap_or(part_type);
    let mut out = String::with_capacity(rest.len() + 4);
    while !rest.is_empty() {
        let (word, after) = rest.split_at(first_word(rest));
        if !out.is_empty() {
            out.push('_');
        }
        out.extend(word.chars().flat_map(char::to_lowercase));
        rest = after;
    }
    out
}

/// Where the first word ends: before a capital that follows another letter than a capital, or that
/// begins a word after an acronym.
fn first_word(text: &str) -> usize {
    let ends = |rest: &str| rest.chars().next().is_none_or(char::is_uppercase);
    let is_first = |spelt: &str| text.strip_prefix(spelt).is_some_and(ends);
    if let Some(spelt) = WORDS.iter().map(|(_, spelt)| spelt).find(|spelt| is_first(spelt)) {
        return spelt.len();
    }
    let mut before = None;
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let next_is_small = chars.peek().is_some_and(|(_, next)| next.is_lowercase());
        let begins = match before {
            None => false,
            Some(true) => c.is_uppercase() && next_is_small,
            Some(false) => c.is_uppercase(),
        };
        if begins {
            return at;
        }
        before = Some(c.is_uppercase());
    }
    text.len()
}
