//! JSON text that has been checked and fits on one line.

use alloc::borrow::Cow;
use alloc::string::String;

use super::escape::one_line;
use super::{JsonError, Value, validate};

/// The text of one JSON value, on one line: what may go into a frame as it is.
///
/// ```
/// use turnwire::wire::json::RawJson;
/// assert_eq!(RawJson::check("{\"a\":\r\n [1]}")?.as_str(), "{\"a\": [1]}");
/// assert!(RawJson::check("1}\n\ndata: {").is_err());
/// # Ok::<(), turnwire::wire::json::JsonError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RawJson<'a>(Cow<'a, str>);

impl<'a> RawJson<'a> {
    /// Checks that `text` is one value, and takes line ends out. Linear; copies only if there are
    /// any.
    ///
    /// # Errors
    /// As [`validate`].
    pub fn check(text: &'a str) -> Result<Self, JsonError> {
        validate(text)?;
        Ok(Self::of_checked(text))
    }

    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The same, owning its text.
    #[must_use]
    pub fn into_owned(self) -> RawJson<'static> {
        RawJson(Cow::Owned(self.0.into_owned()))
    }

    fn of_checked(text: &'a str) -> Self {
        // Whole characters were taken out and ASCII was put in: it is UTF-8 still.
        match one_line(text).map(String::from_utf8) {
            Some(Ok(line)) => Self(Cow::Owned(line)),
            _ => Self(Cow::Borrowed(text)),
        }
    }
}

impl<'a> From<Value<'a>> for RawJson<'a> {
    /// A value that the reader gave is checked already.
    fn from(value: Value<'a>) -> Self {
        Self::of_checked(value.raw())
    }
}
