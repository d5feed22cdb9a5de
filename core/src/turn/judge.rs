//! What an output's text says about its tool: whether it failed, and where it went.

/// Whether a tool did its work, by its flattened output: it does not begin, after blanks, with the
/// word `ERROR` in any case, and holds no word `TIMED_OUT` (`agent` 2).
///
/// ```
/// use turnwire::turn::judge;
/// assert!(!judge("  error: no such file"));
/// assert!(judge("Errors: 0"));
/// assert!(!judge("exec sleep 9\nTIMED_OUT"));
/// ```
#[must_use]
pub fn judge(text: &str) -> bool {
    !begins_with_error(text.trim_start()) && !says_timed_out(text)
}

/// Where a successful `change_dir` went, by its output `change_dir P: ok cwd=C`; as it stands
/// there, not yet normalised.
#[must_use]
pub fn changed_dir(text: &str) -> Option<&str> {
    let text = text.trim();
    parse_change_dir(text.lines().next()?).map(|(_, cwd)| cwd)
}

/// `P` and `C` of `change_dir P: ok cwd=C`.
pub(super) fn parse_change_dir(line: &str) -> Option<(&str, &str)> {
    let (path, cwd) = line.strip_prefix("change_dir ")?.split_once(": ok cwd=")?;
    (!cwd.trim().is_empty()).then_some((path, cwd.trim()))
}

pub(super) fn begins_with_error(text: &str) -> bool {
    const WORD: &str = "error";
    text.get(..WORD.len()).is_some_and(|head| head.eq_ignore_ascii_case(WORD))
        && !text.get(WORD.len()..).is_some_and(|rest| rest.starts_with(is_word))
}

pub(super) fn says_timed_out(text: &str) -> bool {
    const WORD: &str = "TIMED_OUT";
    memchr::memmem::find_iter(text.as_bytes(), WORD).any(|at| {
        let before = text.get(..at).and_then(|head| head.chars().next_back());
        let after = text.get(at + WORD.len()..).and_then(|tail| tail.chars().next());
        !before.is_some_and(is_word) && !after.is_some_and(is_word)
    })
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}
