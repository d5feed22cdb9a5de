//! The session: what outlives the ring, and what a store keeps (`agent` 10).

use alloc::borrow::Cow;
use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::string::String;
use alloc::vec::Vec;

use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::Value;

use super::card::Card;
use super::op::Text;
use super::ring::Ring;

/// Who speaks in a row of the session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum SessionRole {
    /// The user.
    User,
    /// The model.
    Assistant,
    /// A line of the host.
    System,
    /// A line about a failure.
    Error,
    /// A card of tools, as its encoded body.
    ToolRun,
}

impl SessionRole {
    /// The word in JSON.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Assistant => "assistant",
            Self::System => "system",
            Self::Error => "error",
            Self::ToolRun => "tool_run",
        }
    }

    fn parse(word: &str) -> Option<Self> {
        match word {
            "user" => Some(Self::User),
            "assistant" => Some(Self::Assistant),
            "system" => Some(Self::System),
            "error" => Some(Self::Error),
            "tool_run" => Some(Self::ToolRun),
            _ => None,
        }
    }
}

/// One message of a session.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub(super) struct Message {
    pub id: Box<str>,
    pub role: SessionRole,
    pub body: Body,
    pub at: u64,
}

/// The text of a message, or where it is kept.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub(super) enum Body {
    Text(String),
    /// The card of this row of the ring; it becomes text when the row leaves.
    Row(u64),
}

/// The messages of a session.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub(super) struct Session {
    pub id: Box<str>,
    pub messages: Vec<Message>,
    pub updated_at: u64,
    /// Messages whose text is a card of the ring: row and index, oldest first.
    pub(super) cards: VecDeque<(u64, usize)>,
}

impl Session {
    /// Adds a message and gives its index.
    pub(super) fn push(&mut self, message: Message) -> usize {
        let index = self.messages.len();
        if let Body::Row(row) = message.body {
            self.cards.push_back((row, index));
        }
        self.updated_at = self.updated_at.max(message.at);
        self.messages.push(message);
        index
    }

    /// Writes a message anew, under its id.
    pub(super) fn replace(&mut self, index: usize, role: SessionRole, body: Body, at: u64) {
        if let Body::Row(row) = body {
            self.cards.push_back((row, index));
        }
        self.updated_at = self.updated_at.max(at);
        if let Some(message) = self.messages.get_mut(index) {
            (message.role, message.body, message.at) = (role, body, at);
        }
    }

    /// Where the card of this row is.
    pub(super) fn card_index(&self, row: u64) -> Option<usize> {
        let at = self.cards.binary_search_by_key(&row, |(row, _)| *row).ok()?;
        self.cards.get(at).map(|(_, index)| *index)
    }

    /// Whether what points into the ring points to cards there.
    pub(super) fn is_consistent(&self, ring: &Ring) -> bool {
        let rising = self.cards.iter().zip(self.cards.iter().skip(1)).all(|(a, b)| a.0 < b.0);
        let known = self.cards.iter().all(|(row, index)| {
            let body = self.messages.get(*index).map(|message| &message.body);
            let card = ring.get(*row).and_then(super::row::Row::card);
            body == Some(&Body::Row(*row)) && card.is_some()
        });
        let rows = self.messages.iter().filter(|m| matches!(m.body, Body::Row(_))).count();
        rising && known && rows == self.cards.len()
    }

    /// The message, its text lent from the ring where it is kept there.
    pub(super) fn lend<'a>(&'a self, index: usize, ring: &'a Ring) -> Option<StoredRow<'a>> {
        let message = self.messages.get(index)?;
        let body = match &message.body {
            Body::Text(text) => StoredBody::Text(text),
            Body::Row(id) => match ring.get(*id).and_then(super::row::Row::card) {
                Some(card) => StoredBody::Card(card),
                None => StoredBody::Text(""),
            },
        };
        Some(StoredRow { id: &message.id, role: message.role, at: message.at, body })
    }

    /// Makes text of what was kept in a row that leaves the ring.
    pub(super) fn keep_card(&mut self, row_id: u64, card: &Card) {
        // Rows leave oldest first.
        if self.cards.front().is_some_and(|(row, _)| *row == row_id) {
            let index = self.cards.pop_front().map(|(_, index)| index);
            if let Some(message) = index.and_then(|index| self.messages.get_mut(index)) {
                message.body = Body::Text(card.encode());
            }
        }
    }
}

/// A row of the session on its way to a store. A card's text is encoded only when asked for.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct StoredRow<'a> {
    /// Its id (`m_…`).
    pub id: &'a str,
    /// Who speaks.
    pub role: SessionRole,
    /// When, in Unix milliseconds.
    pub at: u64,
    body: StoredBody<'a>,
}

#[derive(Clone, Copy, Debug)]
enum StoredBody<'a> {
    Text(&'a str),
    Card(&'a Card),
}

impl<'a> StoredRow<'a> {
    /// The text; of a card, its encoded body.
    #[must_use]
    pub fn text(&self) -> Text<'a> {
        match self.body {
            StoredBody::Text(text) => Cow::Borrowed(text),
            StoredBody::Card(card) => Cow::Owned(card.encode()),
        }
    }
}

impl Serialize for StoredRow<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(4))?;
        map.serialize_entry("id", self.id)?;
        map.serialize_entry("role", self.role.as_str())?;
        map.serialize_entry("text", &self.text())?;
        map.serialize_entry("at", &self.at)?;
        map.end()
    }
}

/// What a session object holds, entry by entry.
pub(super) struct Parsed {
    pub id: Option<Box<str>>,
    pub messages: Vec<Message>,
    pub updated_at: u64,
    pub cwd: Option<String>,
    /// Places of entries that could not be read.
    pub bad: Vec<usize>,
}

/// Reads `{id, messages: [{id, role, text, at}], updatedAt, cwd?}`; `None` without a list of
/// messages (`agent` 10). Messages without an id get none here.
pub(super) fn parse(session: &Value) -> Option<Parsed> {
    let list = session.get("messages")?.as_array()?;
    let mut parsed = Parsed {
        id: session.get("id").and_then(Value::as_str).filter(|id| !id.is_empty()).map(Into::into),
        messages: Vec::with_capacity(list.len()),
        updated_at: session.get("updatedAt").and_then(Value::as_u64).unwrap_or(0),
        cwd: session.get("cwd").and_then(Value::as_str).map(Into::into),
        bad: Vec::new(),
    };
    for (place, entry) in list.iter().enumerate() {
        match parse_message(entry) {
            Some(message) => parsed.messages.push(message),
            None => parsed.bad.push(place),
        }
    }
    Some(parsed)
}

/// What a message says: its `text`; of a session that a server keeps, its `content`, or the text
/// among its `parts`.
fn said(entry: &Value) -> Option<String> {
    if let Some(text) = entry.get("text").or_else(|| entry.get("content")) {
        return text.as_str().map(Into::into);
    }
    let parts = entry.get("parts")?.as_array()?.iter();
    let texts = parts.filter(|part| part.get("type").and_then(Value::as_str) == Some("text"));
    Some(texts.filter_map(|part| part.get("text")?.as_str()).collect())
}

fn parse_message(entry: &Value) -> Option<Message> {
    Some(Message {
        id: entry.get("id")?.as_str().filter(|id| !id.is_empty())?.into(),
        role: SessionRole::parse(entry.get("role")?.as_str()?)?,
        body: Body::Text(said(entry)?),
        at: entry.get("at").and_then(Value::as_u64).unwrap_or(0),
    })
}
