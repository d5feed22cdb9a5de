//! The small values inside payloads: closed sets of words, and raw JSON text.

use alloc::borrow::Cow;
use alloc::string::String;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::macros::Keep;

macro_rules! words {
    ($($(#[$meta:meta])* $name:ident { $($(#[$doc:meta])* $variant:ident $word:literal,)* })*) => {$(
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        #[non_exhaustive]
        pub enum $name {
            $($(#[$doc])* $variant,)*
        }

        impl $name {
            /// The word that stands for it in JSON.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $word,)* }
            }

            /// The value that `word` stands for.
            #[must_use]
            pub fn parse(word: &str) -> Option<Self> {
                match word { $($word => Some(Self::$variant),)* _ => None }
            }
        }
    )*};
}

words! {
    /// Who speaks in a [`Message`](super::Message).
    Role {
        /// The person.
        User "user",
        /// The model.
        #[default]
        Assistant "assistant",
    }

    /// Where live tool output was written.
    OutputStream {
        /// Standard output.
        #[default]
        Stdout "stdout",
        /// Standard error.
        Stderr "stderr",
    }

    /// How a question ended.
    QuestionOutcome {
        /// Somebody answered.
        Answered "answered",
        /// Nobody answered in time.
        #[default]
        Timeout "timeout",
        /// The turn was cancelled first.
        Cancelled "cancelled",
        /// The server stopped first.
        Shutdown "shutdown",
    }

    /// How an approval ended. Only [`Decision::Allow`] is consent.
    Decision {
        /// Allowed.
        Allow "allow",
        /// Denied.
        #[default]
        Deny "deny",
        /// The turn was cancelled first.
        Cancelled "cancelled",
        /// Nobody decided in time.
        Timeout "timeout",
    }

    /// How a turn ended, where that is not by finishing (design, rule 7).
    DoneStatus {
        /// By an error.
        #[default]
        Failed "failed",
        /// By a cancel.
        Cancelled "cancelled",
    }

    /// A side of something that has two.
    Phase {
        /// It begins.
        #[default]
        Start "start",
        /// It is over.
        End "end",
    }
}

/// JSON text carried as it came: never parsed and written again, so that a 19-digit number keeps
/// its digits (X6).
///
/// Whoever makes one vouches that the text is one JSON value; encoders check it again before they
/// put it into a frame.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RawJson<'a>(pub Cow<'a, str>);

impl<'a> RawJson<'a> {
    /// The text.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.0
    }
}

impl<'a> From<&'a str> for RawJson<'a> {
    fn from(text: &'a str) -> Self {
        Self(Cow::Borrowed(text))
    }
}

impl From<String> for RawJson<'_> {
    fn from(text: String) -> Self {
        Self(Cow::Owned(text))
    }
}

impl Keep for RawJson<'_> {
    type Kept = RawJson<'static>;
    fn keep(self) -> Self::Kept {
        RawJson(Cow::Owned(self.0.into_owned()))
    }
}

impl Serialize for RawJson<'_> {
    /// Writes the text as a value; text that is no JSON is an error of the serializer.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let raw: &serde_json::value::RawValue =
            serde_json::from_str(&self.0).map_err(serde::ser::Error::custom)?;
        raw.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for RawJson<'_> {
    /// Reads any value. Inside a tagged event the value was buffered, so numbers beyond 64 bits
    /// come back as floating point; the wire decoders, which matter for that, do not pass here.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = serde_json::Value::deserialize(deserializer)?;
        serde_json::to_string(&value).map(RawJson::from).map_err(serde::de::Error::custom)
    }
}

/// Whether an optional field is left out of the JSON form.
pub(in crate::event) trait Absent {
    fn absent(&self) -> bool;
}

impl<T> Absent for Option<T> {
    fn absent(&self) -> bool {
        self.is_none()
    }
}

impl<T> Absent for alloc::vec::Vec<T> {
    fn absent(&self) -> bool {
        self.is_empty()
    }
}

impl Absent for bool {
    fn absent(&self) -> bool {
        !self
    }
}

pub(in crate::event) fn is_absent<T: Absent>(value: &T) -> bool {
    value.absent()
}
