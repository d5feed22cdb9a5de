//! One row of the transcript, and its JSON form.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;

use serde::ser::{Serialize, SerializeMap, Serializer};

use super::card::Card;
use super::payload::Payload;

macro_rules! kinds {
    ($($(#[$doc:meta])* $variant:ident $code:literal $name:literal,)*) => {
        /// What a row is. The first six are the bridge kinds of `agent` and keep their numbers;
        /// those of ours start at 32 (design, The host's ring).
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default,
                 serde::Serialize, serde::Deserialize)]
        #[serde(rename_all = "snake_case")]
        #[non_exhaustive]
        pub enum RowKind {
            $($(#[$doc])* $variant = $code,)*
        }

        impl RowKind {
            /// Every kind, by number.
            pub const ALL: &'static [RowKind] = &[$(RowKind::$variant,)*];

            /// The kind's name in JSON.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }

            /// The kind's number, the same in every version.
            #[must_use]
            pub const fn code(self) -> u8 {
                self as u8
            }
        }
    };
}

kinds! {
    /// What the user wrote.
    #[default]
    User 1 "user",
    /// What the model answered.
    Assistant 2 "assistant",
    /// A line of the host, such as how a turn ended.
    System 3 "system",
    /// A line about a failure.
    Error 4 "error",
    /// The model's reasoning.
    Thinking 5 "thinking",
    /// A card of tool calls.
    ToolRun 6 "tool_run",
    /// A question to the user.
    Question 32 "question",
    /// Something that needs consent.
    Approval 33 "approval",
    /// A subagent's work.
    Subagent 34 "subagent",
    /// An image or a resource.
    Media 35 "media",
    /// A plan that waits for the user.
    Plan 36 "plan",
    /// Something worth a line.
    Notice 37 "notice",
}

macro_rules! statuses {
    ($($(#[$doc:meta])* $variant:ident $name:literal,)*) => {
        /// How far something that a row stands for has come (design, Rows).
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
        #[serde(rename_all = "snake_case")]
        #[non_exhaustive]
        pub enum Status {
            $($(#[$doc])* $variant,)*
        }

        impl Status {
            /// The word in JSON.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }
        }
    };
}

statuses! {
    /// Waits for somebody.
    Open "open",
    /// Somebody answered.
    Answered "answered",
    /// Allowed.
    Allowed "allowed",
    /// Denied.
    Denied "denied",
    /// The plan may go on.
    Approved "approved",
    /// The plan may not go on.
    Rejected "rejected",
    /// Nobody reacted in time.
    Timeout "timeout",
    /// Cancelled first.
    Cancelled "cancelled",
    /// The server stopped first.
    Shutdown "shutdown",
    /// The turn ended first.
    Interrupted "interrupted",
    /// At work.
    Running "running",
    /// Went well.
    Ok "ok",
    /// Went wrong.
    Fail "fail",
}

impl Status {
    /// Whether something is still to come.
    #[must_use]
    pub const fn is_open(self) -> bool {
        matches!(self, Self::Open | Self::Running)
    }
}

/// One row of the ring.
///
/// ```
/// use turnwire::host::{Row, RowKind};
/// let row = Row::new(7, RowKind::User, 1_764_536_400_000, "Hello");
/// assert_eq!(
///     serde_json::to_string(&row).expect("plain data"),
///     r#"{"id":7,"kind":"user","kind_code":1,"text":"Hello","at":1764536400000}"#
/// );
/// ```
#[derive(Clone, Debug, PartialEq, Default)]
#[non_exhaustive]
pub struct Row {
    /// Its id: rising, never changed, never used twice in one host.
    pub id: u64,
    /// What it is.
    pub kind: RowKind,
    /// The segment it belongs to, where one run of text became several rows.
    pub segment: Option<u64>,
    /// The turn it belongs to, where the stream named it.
    pub turn_id: Option<Box<str>>,
    /// The stored message that it shows, where the stream named it.
    pub message_id: Option<Box<str>>,
    /// The id that the sending host gave it, on rows of the user.
    pub client_id: Option<Box<str>>,
    /// The text, at most 262,144 bytes. Empty on a card: see [`Row::body`].
    pub text: String,
    /// When it came, in Unix milliseconds.
    pub at: u64,
    /// Whether it is painted as one line; only rows of thinking say so.
    pub collapsed: Option<bool>,
    /// How far what it stands for has come, where that applies.
    pub status: Option<Status>,
    /// What else belongs to its kind.
    pub payload: Payload,
}

impl Row {
    /// A row with nothing but these.
    #[must_use]
    pub fn new(id: u64, kind: RowKind, at: u64, text: impl Into<String>) -> Self {
        Self { id, kind, at, text: text.into(), ..Self::default() }
    }

    /// The card, on rows of tools.
    #[must_use]
    pub const fn card(&self) -> Option<&Card> {
        match &self.payload {
            Payload::Card(card) => Some(card),
            _ => None,
        }
    }

    pub(super) const fn card_mut(&mut self) -> Option<&mut Card> {
        match &mut self.payload {
            Payload::Card(card) => Some(card),
            _ => None,
        }
    }

    /// The text, which for a card is its encoded body, made on this call (`agent` 5). Linear in
    /// the card.
    #[must_use]
    pub fn body(&self) -> alloc::borrow::Cow<'_, str> {
        match self.card() {
            Some(card) => alloc::borrow::Cow::Owned(card.encode()),
            None => alloc::borrow::Cow::Borrowed(&self.text),
        }
    }

    /// The row as JSON, a card with its encoded body as `text` if `with_body`.
    #[must_use]
    pub const fn json(&self, with_body: bool) -> RowJson<'_> {
        RowJson { row: self, with_body }
    }
}

impl Serialize for Row {
    /// The form of `rows()`: a card's `text` is its encoded body.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.json(true).serialize(serializer)
    }
}

/// A row on its way into JSON, from [`Row::json`].
#[derive(Clone, Copy, Debug)]
pub struct RowJson<'a> {
    row: &'a Row,
    with_body: bool,
}

impl Serialize for RowJson<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let row = self.row;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("id", &row.id)?;
        map.serialize_entry("kind", row.kind.as_str())?;
        map.serialize_entry("kind_code", &row.kind.code())?;
        if self.with_body {
            map.serialize_entry("text", &row.body())?;
        } else {
            map.serialize_entry("text", &row.text)?;
        }
        map.serialize_entry("at", &row.at)?;
        for field in Field::META {
            field.write(row, &mut map, false)?;
        }
        row.payload.write(&row.text, &mut map, false)?;
        map.end()
    }
}

/// A field of a row that a patch may name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Field {
    Segment,
    TurnId,
    MessageId,
    ClientId,
    Collapsed,
    Status,
}

impl Field {
    pub(super) const META: [Self; 6] = [
        Self::Segment,
        Self::TurnId,
        Self::MessageId,
        Self::ClientId,
        Self::Collapsed,
        Self::Status,
    ];

    pub(super) const fn bit(self) -> u8 {
        1 << self as u8
    }

    /// Writes the field; one that is absent as `null` if `nulls`, else not at all.
    pub(super) fn write<M: SerializeMap>(
        self,
        row: &Row,
        map: &mut M,
        nulls: bool,
    ) -> Result<(), M::Error> {
        match self {
            Self::Segment => entry(map, "segment", row.segment.as_ref(), nulls),
            Self::TurnId => entry(map, "turn_id", row.turn_id.as_ref(), nulls),
            Self::MessageId => entry(map, "message_id", row.message_id.as_ref(), nulls),
            Self::ClientId => entry(map, "client_id", row.client_id.as_ref(), nulls),
            Self::Collapsed => entry(map, "collapsed", row.collapsed.as_ref(), nulls),
            Self::Status => entry(map, "status", row.status.map(Status::as_str).as_ref(), nulls),
        }
    }
}

pub(super) fn entry<M: SerializeMap, T: Serialize>(
    map: &mut M,
    key: &'static str,
    value: Option<&T>,
    nulls: bool,
) -> Result<(), M::Error> {
    match value {
        Some(value) => map.serialize_entry(key, value),
        None if nulls => map.serialize_entry(key, &()),
        None => Ok(()),
    }
}

/// A list as an entry; an empty one counts as absent.
pub(super) fn list<M: SerializeMap, T: Serialize>(
    map: &mut M,
    key: &'static str,
    value: &Vec<T>,
    nulls: bool,
) -> Result<(), M::Error> {
    entry(map, key, (!value.is_empty()).then_some(value), nulls)
}
