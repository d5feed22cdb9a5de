//! The sentences that the built-in model understands.

/// One sentence, as understood. Texts and paths are as the user wrote them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sentence {
    /// `list P`, or `list` alone for the turn's folder.
    List(String),
    /// `read P`.
    Read(String),
    /// `find WORD`.
    Find(String),
    /// `pwd`.
    Pwd,
    /// `cd P`.
    Cd(String),
    /// `write TEXT to P`.
    Write {
        /// What the file is to hold.
        text: String,
        /// The file.
        path: String,
    },
    /// `replace A with B in P`.
    Replace {
        /// What is looked for.
        old: String,
        /// What takes its place.
        new: String,
        /// The file.
        path: String,
    },
    /// `run CMD`.
    Run(String),
    /// `fetch URL`.
    Fetch(String),
    /// `say X`.
    Say(String),
    /// `count to N`.
    Count(u64),
    /// `wait N seconds`.
    Wait(u64),
    /// `think about X`.
    Think(String),
    /// `fail`.
    Fail,
    /// Anything else.
    Unknown(String),
}

/// What joins two sentences.
const JOIN: &str = ", then ";

/// The sentences of a prompt, in order; at least one.
///
/// A piece after `, then` that is no sentence of its own goes on with the one before, if that one
/// takes free text: `say first this, then that` is one sentence.
#[must_use]
pub fn parse(prompt: &str) -> Vec<Sentence> {
    let lower = prompt.to_ascii_lowercase();
    let mut out: Vec<Sentence> = Vec::new();
    let mut begin = 0;
    while begin <= prompt.len() {
        let end = lower.get(begin..).and_then(|rest| rest.find(JOIN)).map(|at| begin + at);
        let piece = prompt.get(begin..end.unwrap_or(prompt.len())).unwrap_or_default();
        let sentence = one(piece);
        let joined = match (&sentence, out.last_mut()) {
            (Sentence::Unknown(_), Some(Sentence::Say(text) | Sentence::Think(text))) => {
                // Its own spelling of the joint, letter case included.
                text.push_str(prompt.get(begin - JOIN.len()..begin).unwrap_or(JOIN));
                text.push_str(piece);
                true
            }
            _ => false,
        };
        if !joined {
            out.push(sentence);
        }
        let Some(end) = end else { break };
        begin = end + JOIN.len();
    }
    out
}

fn one(piece: &str) -> Sentence {
    if let Some(text) = after(piece.trim_start(), "say") {
        return Sentence::Say(text.to_owned());
    }
    let piece = piece.trim();
    let unknown = || Sentence::Unknown(piece.to_owned());
    let word = |verb: &str| after(piece, verb).map(|rest| unquoted(rest.trim()).to_owned());
    if is(piece, "pwd") {
        return Sentence::Pwd;
    }
    if is(piece, "fail") {
        return Sentence::Fail;
    }
    if is(piece, "list") {
        return Sentence::List(".".to_owned());
    }
    if let Some(path) = word("list") {
        return Sentence::List(path);
    }
    if let Some(path) = word("read") {
        return Sentence::Read(path);
    }
    if let Some(what) = word("find") {
        return Sentence::Find(what);
    }
    if let Some(path) = word("cd") {
        return Sentence::Cd(path);
    }
    if let Some(url) = word("fetch") {
        return Sentence::Fetch(url);
    }
    if let Some(command) = after(piece, "run") {
        return Sentence::Run(command.trim().to_owned());
    }
    if let Some(what) = after(piece, "think about") {
        return Sentence::Think(what.trim().to_owned());
    }
    if let Some(rest) = after(piece, "write") {
        return last(rest, " to ").map_or_else(unknown, |(text, path)| Sentence::Write {
            text: unquoted(text.trim()).to_owned(),
            path: unquoted(path.trim()).to_owned(),
        });
    }
    if let Some(rest) = after(piece, "replace") {
        return replace(rest).unwrap_or_else(unknown);
    }
    if let Some(rest) = after(piece, "count to") {
        return number(rest, "").map_or_else(unknown, Sentence::Count);
    }
    if let Some(rest) = after(piece, "wait") {
        let unit = |name| number(rest, name);
        let seconds = unit("seconds").or_else(|| unit("second"));
        return seconds.map_or_else(unknown, Sentence::Wait);
    }
    unknown()
}

fn replace(rest: &str) -> Option<Sentence> {
    let (change, path) = last(rest, " in ")?;
    let at = change.to_ascii_lowercase().find(" with ")?;
    let (old, new) = (change.get(..at)?, change.get(at + " with ".len()..)?);
    Some(Sentence::Replace {
        old: unquoted(old.trim()).to_owned(),
        new: unquoted(new.trim()).to_owned(),
        path: unquoted(path.trim()).to_owned(),
    })
}

fn is(piece: &str, word: &str) -> bool {
    piece.eq_ignore_ascii_case(word)
}

/// What follows `verb` and one blank, if anything that is not blank does.
fn after<'a>(piece: &'a str, verb: &str) -> Option<&'a str> {
    let head = piece.get(..verb.len())?;
    let rest = piece.get(verb.len()..)?;
    let mut chars = rest.chars();
    let blank = chars.next()?.is_whitespace();
    (is(head, verb) && blank && !rest.trim().is_empty()).then_some(chars.as_str())
}

/// Split at the last `joint`, in any letter case.
fn last<'a>(text: &'a str, joint: &str) -> Option<(&'a str, &'a str)> {
    let at = text.to_ascii_lowercase().rfind(joint)?;
    Some((text.get(..at)?, text.get(at + joint.len()..)?))
}

fn number(text: &str, unit: &str) -> Option<u64> {
    let text = text.trim().to_ascii_lowercase();
    text.strip_suffix(unit)?.trim().parse().ok()
}

/// Without the quotes or backticks around it, if it has a pair of them.
fn unquoted(text: &str) -> &str {
    for quote in ['"', '\'', '`'] {
        let inner = text.strip_prefix(quote).and_then(|t| t.strip_suffix(quote));
        if let Some(inner) = inner.filter(|t| !t.is_empty()) {
            return inner;
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::Sentence::{Cd, Count, Find, List, Read, Replace, Say, Unknown, Wait, Write};
    use super::parse;

    #[test]
    fn sentences_are_read_in_any_letter_case() {
        assert_eq!(parse("LIST src"), [List("src".into())]);
        assert_eq!(parse("Count To 12"), [Count(12)]);
        assert_eq!(parse("wait 1 second"), [Wait(1)]);
        assert_eq!(parse("find \"two words\""), [Find("two words".into())]);
    }

    #[test]
    fn joined_sentences_keep_their_order() {
        let all = parse("cd src, then list, THEN read a, b.txt");
        assert_eq!(all, [Cd("src".into()), List(".".into()), Read("a, b.txt".into())]);
    }

    #[test]
    fn free_text_goes_on_over_a_joint_that_begins_no_sentence() {
        assert_eq!(parse("say one, Then two"), [Say("one, Then two".into())]);
        assert_eq!(parse("say one, then say two"), [Say("one".into()), Say("two".into())]);
    }

    #[test]
    fn what_is_said_keeps_its_blanks() {
        assert_eq!(parse("say  a  b "), [Say(" a  b ".into())]);
    }

    #[test]
    fn the_last_joint_parts_a_text_from_its_path() {
        let write = Write { text: "from a to b".into(), path: "t.txt".into() };
        assert_eq!(parse("write from a to b to t.txt"), [write]);
        let replace = Replace { old: "x in y".into(), new: "z".into(), path: "p".into() };
        assert_eq!(parse("replace x in y with z in p"), [replace]);
    }

    #[test]
    fn what_is_no_sentence_is_kept_as_it_is() {
        for text in ["say", "say  ", "listen", "count to ten", "wait", "write x", "", "é"] {
            assert_eq!(parse(text), [Unknown(text.trim().into())], "{text:?}");
        }
    }
}
