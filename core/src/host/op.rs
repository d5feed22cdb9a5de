//! Ops: what a painter needs to keep up with the rows, and their JSON form (design, Ops).

use alloc::borrow::Cow;
use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;

use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::Value;

use super::card::{Card, ItemsJson};
use super::ring::{ItemMarks, Ring};
use super::row::{Field, Row};
use super::session::StoredRow;
use crate::event::Channel;

/// Where the host is (`agent` 6).
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize,
)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Lifecycle {
    /// Nothing was shown yet.
    #[default]
    Boot,
    /// It waits for the user.
    Ready,
    /// A turn runs.
    Busy,
    /// It cannot go on.
    Error,
}

impl Lifecycle {
    /// The word in JSON.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Boot => "boot",
            Self::Ready => "ready",
            Self::Busy => "busy",
            Self::Error => "error",
        }
    }
}

/// Why all rows were replaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum WindowReason {
    /// Earlier rows were asked for.
    Earlier,
    /// Back to the newest rows.
    Latest,
    /// A session was put in.
    Hydrate,
    /// The stream has a hole, so the rows were made anew.
    Resync,
}

impl WindowReason {
    /// The word in JSON.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Earlier => "earlier",
            Self::Latest => "latest",
            Self::Hydrate => "hydrate",
            Self::Resync => "resync",
        }
    }
}

/// What to do with a row of the session store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum StoreAction {
    /// A new row, after all others.
    Append,
    /// A row that is there already, by its id.
    Patch,
}

impl StoreAction {
    /// The word in JSON.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Append => "append",
            Self::Patch => "patch",
        }
    }
}

/// An HTTP request that a host asks for. Made by the ends, not by the fold.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Request {
    /// Its id, named again by [`Op::Abort`].
    pub request_id: u64,
    /// The channel that its answer is.
    pub channel: Channel,
    /// What it is for: `turn`, `watch`, `answer`, `cancel` or `load`.
    pub role: &'static str,
    /// The method.
    pub method: &'static str,
    /// The path, with the query.
    pub path: String,
    /// Headers, with lower-case names.
    pub headers: Vec<(Box<str>, String)>,
    /// The body.
    pub body: Option<String>,
}

impl Request {
    /// A request without headers or body; set them on the value.
    #[must_use]
    pub const fn new(
        request_id: u64,
        channel: Channel,
        role: &'static str,
        method: &'static str,
        path: String,
    ) -> Self {
        Self { request_id, channel, role, method, path, headers: Vec::new(), body: None }
    }
}

/// What changed in a card.
#[derive(Clone, Copy, Debug)]
pub struct CardChange<'a> {
    pub(super) card: &'a Card,
    pub(super) marks: &'a ItemMarks,
}

impl<'a> CardChange<'a> {
    /// The card as it is now.
    #[must_use]
    pub const fn card(&self) -> &'a Card {
        self.card
    }

    /// The items that changed, as they are now, in the order of their first change.
    pub fn changed(&self) -> impl Iterator<Item = &'a super::card::Item> + Clone + use<'a> {
        let card = self.card;
        self.marks.ids().iter().filter_map(move |id| card.item(*id))
    }
}

/// The fields that a patch sets.
#[derive(Clone, Copy, Debug)]
pub struct PatchSet<'a> {
    pub(super) row: &'a Row,
    pub(super) fields: u8,
    pub(super) text: bool,
    pub(super) payload: bool,
    pub(super) bridge: bool,
}

impl Serialize for PatchSet<'_> {
    /// The fields and their values; `null` for one that is gone.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        if self.row.card().is_some() {
            if self.bridge && self.payload {
                map.serialize_entry("text", &self.row.body())?;
            }
        } else if self.text {
            map.serialize_entry("text", &self.row.text)?;
        }
        for field in Field::META.into_iter().filter(|f| self.fields & f.bit() != 0) {
            field.write(self.row, &mut map, true)?;
        }
        if self.payload {
            self.row.payload.write(&self.row.text, &mut map, true)?;
        }
        map.end()
    }
}

/// One thing that a painter, a store or a connection has to do. Lent: it is gone when the sink
/// returns.
///
/// As JSON it is an object named by `op`.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Op<'a> {
    /// A new row, after all others.
    Push {
        /// The row.
        row: &'a Row,
        /// Whether a card's encoded body goes along as `text`.
        bridge: bool,
    },
    /// Text at the end of a row, or of the detail of one item of its card.
    Grow {
        /// The row.
        row_id: u64,
        /// What was added.
        text: &'a str,
        /// The item.
        item_id: Option<u32>,
    },
    /// The newest row has another text, or its card changed.
    Update {
        /// The row.
        row: &'a Row,
        /// Whether the text changed, or goes along for a bridge.
        text: bool,
        /// What changed in its card.
        card: Option<CardChange<'a>>,
    },
    /// Fields of a row.
    Patch {
        /// The row.
        row_id: u64,
        /// The fields.
        set: PatchSet<'a>,
    },
    /// Rows that leave the ring.
    Drop {
        /// The rows.
        row_ids: &'a [u64],
    },
    /// All rows, in the order of painting; they replace what was painted.
    Window {
        /// The rows.
        rows: Rows<'a>,
        /// Rows of the session before the first of them.
        earlier: usize,
        /// Why.
        reason: WindowReason,
    },
    /// Where the host is now.
    Lifecycle(Lifecycle),
    /// A part of the panel; `null` removes it.
    State {
        /// Its name.
        key: &'a str,
        /// Its value.
        value: &'a Value,
    },
    /// A row for the session store.
    Store {
        /// What to do with it.
        action: StoreAction,
        /// The row.
        row: StoredRow<'a>,
    },
    /// A request to make.
    Request(&'a Request),
    /// A request to abort.
    Abort {
        /// Which.
        request_id: u64,
    },
    /// A connection that is over.
    Closed {
        /// Which.
        channel: Channel,
        /// Why.
        reason: &'a str,
    },
    /// The turn was stopped.
    Cancelled {
        /// By whom.
        by: &'a str,
    },
}

impl Op<'_> {
    /// The op's name.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Push { .. } => "push",
            Self::Grow { .. } => "grow",
            Self::Update { .. } => "update",
            Self::Patch { .. } => "patch",
            Self::Drop { .. } => "drop",
            Self::Window { .. } => "window",
            Self::Lifecycle(_) => "lifecycle",
            Self::State { .. } => "state",
            Self::Store { .. } => "store",
            Self::Request(_) => "request",
            Self::Abort { .. } => "abort",
            Self::Closed { .. } => "closed",
            Self::Cancelled { .. } => "cancelled",
        }
    }
}

impl Serialize for Op<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("op", self.name())?;
        match self {
            Self::Push { row, bridge } => map.serialize_entry("row", &row.json(*bridge))?,
            Self::Grow { row_id, text, item_id } => {
                map.serialize_entry("row_id", row_id)?;
                map.serialize_entry("text", text)?;
                if let Some(item_id) = item_id {
                    map.serialize_entry("item_id", item_id)?;
                }
            }
            Self::Update { row, text, card } => {
                map.serialize_entry("row_id", &row.id)?;
                if *text {
                    map.serialize_entry("text", &row.body())?;
                }
                if let Some(change) = card {
                    map.serialize_entry("card", &CardChangeJson(*change))?;
                }
            }
            Self::Patch { row_id, set } => {
                map.serialize_entry("row_id", row_id)?;
                map.serialize_entry("set", set)?;
            }
            Self::Drop { row_ids } => map.serialize_entry("row_ids", row_ids)?,
            Self::Window { rows, earlier, reason } => {
                map.serialize_entry("rows", rows)?;
                map.serialize_entry("earlier", earlier)?;
                map.serialize_entry("reason", reason.as_str())?;
            }
            Self::Lifecycle(lifecycle) => map.serialize_entry("lifecycle", lifecycle.as_str())?,
            Self::State { key, value } => {
                map.serialize_entry("key", key)?;
                map.serialize_entry("value", value)?;
            }
            Self::Store { action, row } => {
                map.serialize_entry("action", action.as_str())?;
                map.serialize_entry("row", row)?;
            }
            Self::Request(request) => request_entries(request, &mut map)?,
            Self::Abort { request_id } => map.serialize_entry("request_id", request_id)?,
            Self::Closed { channel, reason } => {
                map.serialize_entry("channel", channel.as_str())?;
                map.serialize_entry("reason", reason)?;
            }
            Self::Cancelled { by } => map.serialize_entry("by", by)?,
        }
        map.end()
    }
}

fn request_entries<M: SerializeMap>(request: &Request, map: &mut M) -> Result<(), M::Error> {
    map.serialize_entry("request_id", &request.request_id)?;
    map.serialize_entry("channel", request.channel.as_str())?;
    map.serialize_entry("role", request.role)?;
    map.serialize_entry("method", request.method)?;
    map.serialize_entry("path", &request.path)?;
    map.serialize_entry("headers", &Headers(&request.headers))?;
    map.serialize_entry("body", &request.body)
}

struct Headers<'a>(&'a [(Box<str>, String)]);

impl Serialize for Headers<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, value)| (name, value)))
    }
}

struct CardChangeJson<'a>(CardChange<'a>);

impl Serialize for CardChangeJson<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let card = self.0.card;
        let mut map = serializer.serialize_map(Some(4))?;
        map.serialize_entry("ok", &card.ok())?;
        map.serialize_entry("fail", &card.fail())?;
        map.serialize_entry("pending", &card.pending())?;
        map.serialize_entry("changed", &ItemsJson(self.0.changed()))?;
        map.end()
    }
}

/// The rows of a ring, oldest first.
#[derive(Clone, Copy, Debug)]
pub struct Rows<'a> {
    pub(super) ring: &'a Ring,
    pub(super) bridge: bool,
}

impl<'a> Rows<'a> {
    /// The rows, oldest first.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &'a Row> + ExactSizeIterator + use<'a> {
        self.ring.rows()
    }

    /// How many.
    #[must_use]
    pub fn len(&self) -> usize {
        self.ring.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ring.len() == 0
    }

    /// The last.
    #[must_use]
    pub fn last(&self) -> Option<&'a Row> {
        self.ring.newest()
    }

    /// The row with this id.
    #[must_use]
    pub fn get(&self, id: u64) -> Option<&'a Row> {
        self.ring.get(id)
    }
}

impl Serialize for Rows<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.iter().map(|row| row.json(self.bridge)))
    }
}

/// A text that is lent or was made for the occasion.
pub(super) type Text<'a> = Cow<'a, str>;
