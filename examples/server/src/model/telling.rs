//! What the built-in model says about what its tools gave.

use turnwire::text::{clip_chars, collapse};

use super::Sentence;

/// Lines of a file or an output that are quoted.
const QUOTED_LINES: usize = 12;

/// Characters of one line that is quoted.
const QUOTED_CHARS: usize = 160;

/// What the model can do, for whoever asks for anything else.
pub(super) const ABILITIES: &str = "I am the built-in model: I need no key, and I understand plain \
sentences only. Try one of these, or join several with \", then\":\n\n\
- list P, read P, find WORD, pwd, cd P\n\
- write TEXT to P, replace A with B in P\n\
- run CMD (where the server allows it), fetch URL (this machine only)\n\
- say X, count to N, wait N seconds, think about X, fail\n";

/// What is to be done, as the model thinks of it before it calls the tool.
pub(super) fn intention(sentence: &Sentence) -> String {
    match sentence {
        Sentence::List(path) => format!("look at what is in {path}"),
        Sentence::Read(path) => format!("read {path}"),
        Sentence::Find(word) => format!("look for {word}"),
        Sentence::Pwd => "see which folder I am in".to_owned(),
        Sentence::Cd(path) => format!("go to {path}"),
        Sentence::Write { path, .. } => format!("write {path}"),
        Sentence::Replace { path, .. } => format!("change {path}"),
        Sentence::Run(command) => format!("run {command}"),
        Sentence::Fetch(url) => format!("fetch {url}"),
        _ => "answer".to_owned(),
    }
}

/// One paragraph about the result of a tool that `sentence` asked for.
pub(super) fn told(sentence: &Sentence, output: &str) -> String {
    if let Some(why) = output.strip_prefix("ERROR ") {
        return format!("That failed: {}\n", collapse(why));
    }
    let (first, body) = output.split_once('\n').unwrap_or((output, ""));
    match sentence {
        Sentence::List(path) => match first.split_once(" — ") {
            Some((_, names)) => format!("In {path} there are: {}\n", clip_chars(names, 2_000)),
            None => format!("There is nothing in {path}.\n"),
        },
        Sentence::Read(path) => {
            format!("{path} has {} lines:\n\n{}", body.lines().count(), quoted(body))
        }
        Sentence::Find(word) if body.is_empty() => format!("{word} is nowhere here.\n"),
        Sentence::Find(word) => format!("{word} is found here:\n\n{}", quoted(body)),
        Sentence::Pwd => format!("I am in {}\n", first.trim_start_matches("pwd: ")),
        Sentence::Cd(_) => match first.rsplit_once(" cwd=") {
            Some((_, cwd)) => format!("Now I am in {cwd}\n"),
            None => format!("{first}\n"),
        },
        Sentence::Write { path, .. } => format!("{path} is written.\n"),
        Sentence::Replace { path, .. } => format!("{path} is changed.\n"),
        Sentence::Run(command) => format!("{} gave:\n\n{}", collapse(command), quoted(body)),
        Sentence::Fetch(_) => format!("{first}\n\n{}", quoted(body)),
        _ => format!("{first}\n"),
    }
}

/// The start of `text` as a block of code, with a count of the lines left out.
fn quoted(text: &str) -> String {
    // A fence longer than any run of backticks inside.
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    let mut out = format!("{fence}\n");
    for line in text.lines().take(QUOTED_LINES) {
        out.push_str(&clip_chars(line, QUOTED_CHARS));
        out.push('\n');
    }
    let more = text.lines().count().saturating_sub(QUOTED_LINES);
    if more > 0 {
        out.push_str(&format!("… ({more} more lines)\n"));
    }
    out.push_str(&format!("{fence}\n"));
    out
}
