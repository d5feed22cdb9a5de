//! JSON for the hot path: a flat reader, opaque values as raw text, and a writer.
//!
//! The reader goes over the text once, puts the fields of the outermost object that the caller
//! named into slots, and checks everything else against RFC 8259 without looking into it. Nested
//! values stay text at any depth. Nothing here recurses; time is linear in the text, and memory is
//! a bit for each level of nesting.
//!
//! ```
//! use turnwire::wire::json::{ObjectWriter, read_object};
//!
//! let text = r#"{"ok":true,"type":"tool_result","usage":{"in":[1,2]},"text":"a\nb"}"#;
//! let [kind, body, usage, none] = read_object(text, &["type", "text", "usage", "id"])?;
//! assert_eq!(kind.and_then(|v| v.str()).as_deref(), Some("tool_result"));
//! assert_eq!(body.and_then(|v| v.str()).as_deref(), Some("a\nb"));
//! assert_eq!(usage.map(|v| v.raw()), Some(r#"{"in":[1,2]}"#));
//! assert!(none.is_none());
//!
//! let mut out = Vec::new();
//! ObjectWriter::begin(&mut out).str("type", "text_delta").str("text", "a\nb");
//! assert_eq!(out, br#"{"type":"text_delta","text":"a\nb"}"#);
//! # Ok::<(), turnwire::wire::json::JsonError>(())
//! ```

use crate::error::Code;

mod escape;
mod raw;
mod read;
mod scan;
mod unescape;
mod value;
mod words;
mod write;

pub use escape::escaped_len;
pub use raw::RawJson;
pub(crate) use read::read_after;
pub use read::{read_object, validate};
pub use unescape::Halves;
pub use value::{Elements, Fields, Kind, Value};
pub(crate) use write::FieldsJson;
pub use write::{ArrayWriter, ObjectWriter};
pub(in crate::wire) use write::{write_str, write_u64};

/// Why a text was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{} at byte {at}", .kind.code().message())]
#[non_exhaustive]
pub struct JsonError {
    /// What is wrong.
    pub kind: JsonErrorKind,
    /// Byte offset in the text.
    pub at: usize,
}

/// What is wrong with a text that was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum JsonErrorKind {
    /// It is not JSON as RFC 8259 has it.
    Syntax,
    /// It is JSON, but no object.
    NotAnObject,
    /// It is nested deeper than [`JSON_DEPTH_MAX_LEVELS`](crate::limits::JSON_DEPTH_MAX_LEVELS).
    TooDeep,
}

impl JsonErrorKind {
    /// The code of the diagnostic that a stream with such a frame gets.
    #[must_use]
    pub const fn code(self) -> Code {
        match self {
            Self::Syntax => Code::BadStreamJson,
            Self::NotAnObject => Code::NotAnObject,
            Self::TooDeep => Code::NestedTooDeep,
        }
    }
}
