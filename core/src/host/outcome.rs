//! How turns end: classes of failure and the line that says so (`agent` 8).

use alloc::borrow::Cow;
use alloc::boxed::Box;
use alloc::string::String;

use serde::{Deserialize, Serialize};

use super::row::RowKind;
use crate::limits::TURN_END_DETAIL_MAX_CHARS;
use crate::text::{clip_chars, collapse};

/// What an abort says of itself (`agent` 1).
pub(super) const CANCELLED_TEXT: &str = "Request cancelled.";
/// What an answer without text says of itself (`agent` 1).
pub(super) const EMPTY_TEXT: &str = "Empty model response.";
/// What a stream says of itself that ended before its turn did.
pub(super) const LOST_TEXT: &str = "the stream ended before the turn did";
/// How every turn-end line begins.
pub(super) const LINE_START: &str = "Turn ended ·";

/// How a turn ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum OutcomeKind {
    /// The model finished.
    Finished,
    /// Somebody stopped it.
    Stopped,
    /// Something went wrong.
    Failed,
    /// It took too long.
    TimedOut,
    /// The model said nothing.
    Empty,
    /// The prompt was refused before it was sent.
    Invalid,
    /// The stream ended before the turn did.
    Lost,
}

/// How the last turn ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Outcome {
    /// The class.
    pub kind: OutcomeKind,
    /// What was said about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detail: Option<Box<str>>,
    /// The HTTP status, where one was given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// The code, where one was given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<Box<str>>,
}

impl Outcome {
    /// An outcome of which nothing more is known.
    #[must_use]
    pub const fn new(kind: OutcomeKind) -> Self {
        Self { kind, detail: None, status: None, code: None }
    }

    pub(super) fn with(kind: OutcomeKind, detail: &str) -> Self {
        Self { detail: Some(detail.into()), ..Self::new(kind) }
    }

    /// The row that says it: its kind and text.
    #[must_use]
    pub fn line(&self) -> (RowKind, String) {
        let (kind, text, detailed) = match self.kind {
            OutcomeKind::Finished => (RowKind::System, "model finished", false),
            OutcomeKind::Stopped => (RowKind::System, "you stopped", false),
            OutcomeKind::Failed | OutcomeKind::Lost => (RowKind::Error, "error", true),
            OutcomeKind::TimedOut => (RowKind::Error, "timed out", true),
            OutcomeKind::Empty => (RowKind::Error, "empty model response", false),
            OutcomeKind::Invalid => (RowKind::Error, "invalid input", true),
        };
        let mut line = String::from(LINE_START);
        line.push(' ');
        line.push_str(text);
        let detail = self.detail.as_deref().filter(|_| detailed).map(collapse).unwrap_or_default();
        if !detail.is_empty() {
            line.push_str(" · ");
            line.push_str(&clip_chars(&detail, TURN_END_DETAIL_MAX_CHARS));
        }
        (kind, line)
    }
}

/// Something that kept a turn from finishing: an error event, a refused request, a failed read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Failure<'a> {
    /// What, for people.
    pub message: Cow<'a, str>,
    /// The HTTP status.
    pub status: Option<u16>,
    /// The code.
    pub code: Option<Cow<'a, str>>,
}

impl<'a> Failure<'a> {
    /// A failure with this text.
    #[must_use]
    pub fn new(message: impl Into<Cow<'a, str>>) -> Self {
        Self { message: message.into(), status: None, code: None }
    }

    /// The same with a status.
    #[must_use]
    pub const fn with_status(mut self, status: u16) -> Self {
        self.status = Some(status);
        self
    }

    /// The class, by the tests of `agent` 8 in their order.
    ///
    /// ```
    /// use turnwire::host::{Failure, OutcomeKind};
    /// let stop = Failure::new("any").with_status(499).classify();
    /// assert_eq!(stop.kind, OutcomeKind::Stopped);
    /// assert_eq!(stop.line().1, "Turn ended · you stopped");
    /// let slow = Failure::new("Gateway  timeout").classify();
    /// assert_eq!(slow.line().1, "Turn ended · timed out · Gateway timeout");
    /// ```
    #[must_use]
    pub fn classify(&self) -> Outcome {
        let text = self.message.to_lowercase();
        let speaks_of = |words: &[&str]| words.iter().any(|word| text.contains(word));
        let kind = if self.status == Some(499) || self.message.trim() == CANCELLED_TEXT {
            OutcomeKind::Stopped
        } else if matches!(self.status, Some(504 | 408))
            || speaks_of(&["timeout", "timed out", "maxduration", "max duration"])
        {
            OutcomeKind::TimedOut
        } else if speaks_of(&["empty model response"]) {
            OutcomeKind::Empty
        } else {
            OutcomeKind::Failed
        };
        Outcome {
            kind,
            detail: Some(self.message.as_ref()).filter(|m| !m.is_empty()).map(Into::into),
            status: self.status,
            code: self.code.as_deref().map(Into::into),
        }
    }
}
