//! Results of tools in dialects that carry one value for what came out and a word for how it went.
//!
//! Beside the value stand fields of ours that readers of the seeds ignore: the summary line, a
//! finer status, an exit code, changed files, and the preview where it is not the value itself.

use super::fields::{Fields, Slot, plain_summary};
use crate::event::{Str, ToolResult};
use crate::wire::json::{Kind, ObjectWriter, Value, read_object};

/// The fields of ours, in the order of [`Extras`].
const EXTRAS: [&str; 5] = ["summary", "preview", "status", "exitCode", "filesChanged"];

/// The value of a result: the output, else what comes nearest to it.
pub(super) fn value_of<'e>(result: &'e ToolResult<'_>) -> &'e str {
    result.output.as_deref().or(result.preview.as_deref()).unwrap_or(&result.summary)
}

/// Writes the fields of ours. Whether the result comes out of it as it was.
pub(super) fn write_extras(frame: &mut ObjectWriter<'_>, result: &ToolResult<'_>) -> bool {
    frame.str("summary", &result.summary);
    let preview = result.preview.as_deref().filter(|text| *text != value_of(result));
    frame.opt_str("preview", preview).opt_str("status", result.status.as_deref());
    if let Some(code) = result.exit_code {
        frame.i64("exitCode", code);
    }
    if !result.files_changed.is_empty() {
        let mut list = frame.array("filesChanged");
        for path in &result.files_changed {
            list.str(path);
        }
    }
    result.output.is_some() && preview.is_some() == result.preview.is_some()
}

/// Reads a result: `object` is where the fields of ours are, `value` what came out.
pub(super) fn read_outcome<'a>(
    f: &mut Fields<'_>,
    object: &'a str,
    name: Str<'a>,
    ok: bool,
    value: Slot<'a>,
) -> ToolResult<'a> {
    let extras = read_object(object, &EXTRAS).unwrap_or_default();
    let [summary, preview, status, exit_code, files_changed] = extras;
    let summary = f.text(summary, "summary").unwrap_or_else(|| plain_summary(&name, ok));
    ToolResult {
        preview: f.text(preview, "preview"),
        status: f.text(status, "status"),
        exit_code: f.i64(exit_code, "exitCode"),
        files_changed: f.texts(files_changed, "filesChanged"),
        output: value.and_then(|value| output(value, ok)),
        ..ToolResult::new(name, ok, summary)
    }
}

/// A result of any type as text: a string as it is, `null` as none, the `error` of a failed call,
/// and everything else as the JSON that it came in (X6).
fn output(value: Value<'_>, ok: bool) -> Option<Str<'_>> {
    match value.kind() {
        Kind::Null => None,
        Kind::Str => value.str(),
        Kind::Object if !ok => {
            let error = read_object(value.raw(), &["error"]).ok().and_then(|[error]| error?.str());
            Some(error.unwrap_or(Str::Borrowed(value.raw())))
        }
        _ => Some(Str::Borrowed(value.raw())),
    }
}
