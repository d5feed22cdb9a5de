//! Looking for a word in names and texts.

use super::{FindArgs, failure};
use crate::workspace::{AccessError, Workspace};

use turnwire::text::{clip_chars, is_blank};

/// Files and folders that one search looks at.
const VISITED_MAX: usize = 20_000;

/// Bytes of a file that are searched.
const FILE_MAX_BYTES: usize = 1 << 20;

/// Bytes of all files together that one search reads.
const TOTAL_MAX_BYTES: usize = 64 << 20;

/// Lines that one search gives.
const MATCHES_MAX: usize = 200;

/// Characters of a line that are shown.
const LINE_MAX_CHARS: usize = 200;

/// `find WORD: N matches`, then `path` for a name and `path:line: text` for a line of text. Links
/// are not followed, and what is no text file is searched by name only.
pub(super) fn find(w: &Workspace, cwd: &str, args: &FindArgs) -> Result<String, String> {
    if is_blank(&args.word) {
        return Err(failure("find", "the word is blank"));
    }
    let mut search = Search { word: &args.word, matches: Vec::new(), truncated: false };
    search.walk(w, cwd).map_err(|e| failure("find", &e.to_string()))?;
    let more = if search.truncated { " (truncated)" } else { "" };
    let mut text = format!("find {}: {} matches{more}", args.word, search.matches.len());
    for line in &search.matches {
        text.push('\n');
        text.push_str(line);
    }
    Ok(text)
}

struct Search<'a> {
    word: &'a str,
    matches: Vec<String>,
    truncated: bool,
}

impl Search<'_> {
    fn walk(&mut self, w: &Workspace, cwd: &str) -> Result<(), AccessError> {
        w.check_dir(cwd)?;
        let mut folders = vec![cwd.to_owned()];
        let mut visited = 0_usize;
        let mut bytes = 0_usize;
        while let Some(folder) = folders.pop() {
            // A folder that cannot be read, or is gone by now, holds no match.
            let Ok(listing) = w.list(&folder) else { continue };
            self.truncated |= listing.truncated;
            let mut below = Vec::new();
            for entry in listing.entries {
                visited += 1;
                if self.matches.len() >= MATCHES_MAX
                    || visited > VISITED_MAX
                    || bytes > TOTAL_MAX_BYTES
                {
                    self.truncated = true;
                    return Ok(());
                }
                let path = join(&folder, &entry.name);
                if entry.name.contains(self.word) {
                    self.matches.push(path.clone());
                }
                if entry.is_dir {
                    below.push(path);
                } else if entry.is_file
                    && let Ok(content) = w.read(&path, FILE_MAX_BYTES)
                {
                    bytes += content.text.len();
                    self.truncated |= content.truncated;
                    self.lines(&path, &content.text);
                }
            }
            // The last one in comes out first: turned round, folders come in the order of names.
            folders.extend(below.into_iter().rev());
        }
        Ok(())
    }

    fn lines(&mut self, path: &str, text: &str) {
        for (n, line) in text.lines().enumerate() {
            if self.matches.len() >= MATCHES_MAX {
                return;
            }
            if line.contains(self.word) {
                let line = clip_chars(line.trim(), LINE_MAX_CHARS);
                self.matches.push(format!("{path}:{}: {line}", n + 1));
            }
        }
    }
}

fn join(folder: &str, name: &str) -> String {
    if folder == "." { name.to_owned() } else { format!("{folder}/{name}") }
}
