//! The whole state of a fold as bytes, so that a reload in the middle of a turn loses nothing.

use alloc::boxed::Box;
use alloc::collections::{BTreeMap, VecDeque};
use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use super::fold::{Fold, Live};
use super::payload::Payload;
use super::queue::Queue;
use super::ring::{Mark, Ring, Slot};
use super::row::{Row, RowKind, Status};
use super::session::Session;
use crate::error::{CallerError, Code, Diagnostics};
use crate::event::Rules;
use crate::limits::ROW_MAX_BYTES;

/// The form below. Any change to what is written needs another number.
const VERSION: u32 = 2;

#[derive(Serialize)]
struct Written<'a> {
    version: u32,
    max_rows: usize,
    next_id: u64,
    live: &'a Live,
    session: &'a Session,
    queue: &'a Queue,
    rows: Vec<WrittenSlot<'a>>,
}

#[derive(Serialize)]
struct WrittenSlot<'a> {
    #[serde(with = "RowForm")]
    row: &'a Row,
    mark: &'a Mark,
}

#[derive(Deserialize)]
struct Read {
    version: u32,
    max_rows: usize,
    next_id: u64,
    live: Live,
    session: Session,
    queue: Queue,
    rows: Vec<ReadSlot>,
}

#[derive(Deserialize)]
struct ReadSlot {
    #[serde(deserialize_with = "RowForm::deserialize")]
    row: Row,
    mark: Mark,
}

/// A row field by field; its public form leaves out what a painter need not know.
#[derive(Serialize, Deserialize)]
#[serde(remote = "Row")]
struct RowForm {
    id: u64,
    kind: RowKind,
    segment: Option<u64>,
    turn_id: Option<Box<str>>,
    message_id: Option<Box<str>>,
    client_id: Option<Box<str>>,
    text: String,
    at: u64,
    collapsed: Option<bool>,
    status: Option<Status>,
    payload: Payload,
}

impl Fold {
    /// Everything that this fold knows, ops not yet drained among it. Diagnostics are not.
    ///
    /// ```
    /// use turnwire::event::{Envelope, Rules, TextDelta};
    /// use turnwire::host::{Fold, FoldOptions};
    /// let mut fold = Fold::new(FoldOptions::new(Rules::CANONICAL)).expect("good options");
    /// fold.apply(&Envelope::new(TextDelta::new("Hel")), 0);
    /// let mut again = Fold::restore(&fold.snapshot(), Rules::CANONICAL).expect("its own bytes");
    /// again.apply(&Envelope::new(TextDelta::new("lo")), 0);
    /// assert_eq!(again.text(), "Hello");
    /// ```
    #[must_use]
    pub fn snapshot(&self) -> Vec<u8> {
        let slots = self.ring.slots();
        let written = Written {
            version: VERSION,
            max_rows: self.ring.max_rows(),
            next_id: self.ring.next_id(),
            live: &self.live,
            session: &self.session,
            queue: &self.queue,
            rows: slots.map(|slot| WrittenSlot { row: &slot.row, mark: &slot.mark }).collect(),
        };
        // Plain data with text as keys: writing it to memory does not fail.
        serde_json::to_vec(&written).unwrap_or_default()
    }

    /// A fold from a snapshot, for the dialect with these rules.
    ///
    /// # Errors
    ///
    /// [`Code::BadSnapshot`] for bytes that no fold of this version has written.
    pub fn restore(data: &[u8], rules: Rules) -> Result<Self, CallerError> {
        let bad = || CallerError::new(Code::BadSnapshot);
        let read: Read = serde_json::from_slice(data).map_err(|_| bad())?;
        if read.version != VERSION
            || !read.live.is_sound()
            || read.rows.iter().any(|slot| !is_sound(&slot.row))
        {
            return Err(bad());
        }
        let slots: VecDeque<Slot> =
            read.rows.into_iter().map(|slot| Slot { row: slot.row, mark: slot.mark }).collect();
        let ring = Ring::restore(read.max_rows, read.next_id, slots).ok_or_else(bad)?;
        if !read.session.is_consistent(&ring) {
            return Err(bad());
        }
        let calls = calls_in(&ring);
        Ok(Self {
            rules,
            ring,
            session: read.session,
            live: read.live,
            queue: read.queue,
            calls,
            diagnostics: Diagnostics::default(),
        })
    }
}

fn is_sound(row: &Row) -> bool {
    let fits = row.text.len() <= ROW_MAX_BYTES;
    fits && row.card().is_none_or(super::card::Card::is_consistent)
}

/// The calls that have an id, by it; of several with one id the newest.
fn calls_in(ring: &Ring) -> BTreeMap<Box<str>, (u64, u32)> {
    let mut calls = BTreeMap::new();
    for row in ring.rows() {
        for item in row.card().map_or(&[][..], |card| card.items()) {
            if let Some(id) = &item.call_id {
                calls.insert(id.clone(), (row.id, item.id));
            }
        }
    }
    calls
}
