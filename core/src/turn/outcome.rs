//! What a tool came to, as its caller says it.

use alloc::vec::Vec;

use crate::event::Str;

/// A tool's output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Output<'a> {
    /// Text.
    Text(&'a str),
    /// Any JSON value as text; it is flattened (`agent` 2). What cannot be read as JSON is taken
    /// as text, with a diagnostic.
    Json(&'a str),
    /// The text of an error. The tool failed, unless the outcome says otherwise; a blank one
    /// becomes `ERROR tool-error` (`agent` 2).
    Error(&'a str),
}

/// A tool's outcome. What is left out is found from the output.
///
/// ```
/// use turnwire::turn::{Output, ToolOutcome};
/// let mut outcome = ToolOutcome::new("exec", Output::Text("exec ls\nexit=0\nstdout:\na"));
/// outcome.call_id = Some("c1");
/// outcome.exit_code = Some(0);
/// assert_eq!(outcome.ok, None);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ToolOutcome<'a> {
    /// The tool; a blank name stands for that of the call, or `tool`.
    pub name: &'a str,
    /// What it gave.
    pub output: Output<'a>,
    /// Its call. Without one it is the running call of that name.
    pub call_id: Option<&'a str>,
    /// Whether it did its work. If absent, the text tells: see [`judge`](super::judge()).
    pub ok: Option<bool>,
    /// A word finer than `ok`.
    pub status: Option<&'a str>,
    /// The exit code of a command.
    pub exit_code: Option<i64>,
    /// Paths of files that changed.
    pub files_changed: Vec<Str<'a>>,
    /// The summary line, if not the one of [`summary`](super::summary()).
    pub summary: Option<&'a str>,
    /// The preview, if not the one of [`preview`](super::preview()).
    pub preview: Option<&'a str>,
    /// The working directory after it, relative to the workspace. A tool that says so counts as
    /// one of the filesystem.
    pub cwd: Option<&'a str>,
}

impl<'a> ToolOutcome<'a> {
    /// The outcome of the running call of this name.
    #[must_use]
    pub const fn new(name: &'a str, output: Output<'a>) -> Self {
        Self {
            name,
            output,
            call_id: None,
            ok: None,
            status: None,
            exit_code: None,
            files_changed: Vec::new(),
            summary: None,
            preview: None,
            cwd: None,
        }
    }
}
