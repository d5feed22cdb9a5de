//! Listing, reading, writing, replacing, changing the folder.

use turnwire::text::head_bytes;

use super::{PathArg, ReplaceArgs, WriteArgs, failure};
use crate::workspace::{AccessError, Workspace, resolve};

/// Bytes of a file that `read_file` gives.
const READ_MAX_BYTES: usize = 256 << 10;

/// Bytes of a file that `str_replace` takes on, and of what it may become.
const REPLACE_MAX_BYTES: usize = 4 << 20;

/// Bytes that the names of a listing may take.
const NAMES_MAX_BYTES: usize = 64 << 10;

/// What `change_dir` did.
pub(super) struct Change {
    /// The new folder.
    pub(super) cwd: String,
    /// The result's text.
    pub(super) text: String,
}

pub(super) fn list_dir(w: &Workspace, cwd: &str, args: &PathArg) -> Result<String, String> {
    let shown = shown(&args.path);
    let refused = |e: AccessError| failed("list_dir", shown, &e);
    let path = resolve(cwd, shown).map_err(|e| refused(e.into()))?;
    let listing = w.list(&path).map_err(refused)?;
    let count = listing.entries.len();
    let more = if listing.truncated { " (truncated)" } else { "" };
    if count == 0 {
        return Ok(format!("list_dir {shown}: 0 entries"));
    }
    let mut names = String::new();
    for entry in &listing.entries {
        if !names.is_empty() {
            names.push_str(", ");
        }
        // A line end in a name would break the line that it stands in.
        names.extend(entry.name.chars().map(|c| if c.is_control() { '\u{FFFD}' } else { c }));
        if entry.is_dir {
            names.push('/');
        }
    }
    let head = head_bytes(&names, NAMES_MAX_BYTES);
    let cut = if head.len() < names.len() { "…" } else { "" };
    Ok(format!("list_dir {shown}: {count} entries{more} — {head}{cut}"))
}

pub(super) fn read_file(w: &Workspace, cwd: &str, args: &PathArg) -> Result<String, String> {
    let refused = |e: AccessError| failed("read_file", &args.path, &e);
    let path = resolve(cwd, &args.path).map_err(|e| refused(e.into()))?;
    let content = w.read(&path, READ_MAX_BYTES).map_err(refused)?;
    let flag = if content.truncated { " (truncated)" } else { "" };
    Ok(format!("read_file {}{flag} cwd={cwd}:\n{}", args.path, content.text))
}

pub(super) fn write_file(w: &Workspace, cwd: &str, args: &WriteArgs) -> Result<String, String> {
    let refused = |e: AccessError| failed("write_file", &args.path, &e);
    let path = resolve(cwd, &args.path).map_err(|e| refused(e.into()))?;
    w.write(&path, &args.text).map_err(refused)?;
    Ok(format!("write_file {}: ok bytes={}", args.path, args.text.len()))
}

pub(super) fn str_replace(w: &Workspace, cwd: &str, args: &ReplaceArgs) -> Result<String, String> {
    let refused = |e: AccessError| failed("str_replace", &args.path, &e);
    if args.old.is_empty() {
        return Err(failure("str_replace", "the text to replace is empty"));
    }
    let path = resolve(cwd, &args.path).map_err(|e| refused(e.into()))?;
    let before = w.read_all(&path, REPLACE_MAX_BYTES).map_err(refused)?;
    let count = before.matches(&args.old).count();
    if count == 0 {
        return Err(failure("str_replace", &format!("{}: the text is not there", args.path)));
    }
    let grown = args.new.len().saturating_sub(args.old.len()).saturating_mul(count);
    if before.len().saturating_add(grown) > REPLACE_MAX_BYTES {
        return Err(refused(AccessError::TooLarge(REPLACE_MAX_BYTES as u64)));
    }
    let after = before.replace(&args.old, &args.new);
    w.write(&path, &after).map_err(refused)?;
    Ok(format!("str_replace {}: ok replacements={count} bytes={}", args.path, after.len()))
}

pub(super) fn change_dir(w: &Workspace, cwd: &str, path: &str) -> Result<Change, String> {
    let shown = shown(path);
    let refused = |e: AccessError| failed("change_dir", shown, &e);
    let to = resolve(cwd, shown).map_err(|e| refused(e.into()))?;
    w.check_dir(&to).map_err(refused)?;
    let text = format!("change_dir {shown}: ok cwd={to}");
    Ok(Change { cwd: to, text })
}

/// A blank path is the turn's own folder.
fn shown(path: &str) -> &str {
    if path.trim().is_empty() { "." } else { path }
}

fn failed(tool: &str, path: &str, error: &AccessError) -> String {
    failure(tool, &format!("{}: {error}", path.escape_debug()))
}
