//! What a host knows of the turn that runs.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use super::gathered::Gathered;
use super::replay::Told;
use crate::limits::{EARLY_OUTPUT_MAX_BYTES, EARLY_OUTPUT_MAX_CALLS};
use crate::text::head_bytes;

/// Which run of text goes on with the next delta.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Open {
    #[default]
    None,
    /// The last segment of text, at its last row.
    Text(u64),
    /// A segment of thinking, at its last row.
    Thinking(u64),
}

/// One run of the model's text: a row, or several when it outgrew one.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Segment {
    pub id: u64,
    pub step: Option<u64>,
    pub message_id: Option<Box<str>>,
    pub rows: Vec<u64>,
    /// An authoritative text has spoken of it.
    pub settled: bool,
}

/// The message of the user that waits for a sign of the server.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct PendingUser {
    pub row: u64,
    pub client_id: Option<Box<str>>,
    pub text: String,
}

impl PendingUser {
    /// Whether a message with this id and text is this one.
    pub(super) fn is(&self, client_id: Option<&str>, text: Option<&str>) -> bool {
        let named = client_id.is_some() && client_id == self.client_id.as_deref();
        named || text.is_some_and(|text| text.trim() == self.text.trim())
    }
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Turn {
    pub id: Option<Box<str>>,
    pub message_id: Option<Box<str>>,
    /// A message sent from here began it.
    pub own: bool,
    /// Another host began it, while a message sent from here waits.
    pub foreign: bool,
    /// Its `turn_started` has come.
    pub start_seen: bool,
    /// The message sent from here, if the server took it without repeating it: the stream may
    /// still say it once.
    pub echo: Option<PendingUser>,
    /// The message sent from here that began it, once the server took it.
    pub user: Option<PendingUser>,
    /// By what it is known again.
    pub told: Told,
    /// The second channel has brought its end.
    pub side_ended: bool,
    /// The stream has spoken of it.
    pub started: bool,
    /// The first row that may belong to it.
    pub first_row: u64,
    /// The first message of the session that may belong to it.
    pub first_message: usize,
    pub open: Open,
    pub open_segment: u64,
    /// The card that the next call joins: it is the newest row.
    pub card: Option<u64>,
    /// Blank text that waits for the next bubble.
    pub held: String,
    pub segments: Vec<Segment>,
    /// So many of the first segments are settled, at least.
    #[serde(skip)]
    pub settled: usize,
    pub gathered: Gathered,
    /// Running calls: row and place, oldest first.
    pub calls: Vec<(u64, u32)>,
    pub early: Early,
}

/// Output that came before its tool's start (`workspace`, decision A30).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Early {
    list: Vec<(Box<str>, String)>,
    bytes: usize,
}

impl Early {
    /// Keeps output of a call that is not known, within the bounds; a cut is marked by `…`.
    pub(super) fn keep(&mut self, call_id: &str, text: &str) {
        let room = EARLY_OUTPUT_MAX_BYTES.saturating_sub(self.bytes);
        let at = match self.list.iter().position(|(id, _)| **id == *call_id) {
            Some(at) => at,
            None if self.list.len() < EARLY_OUTPUT_MAX_CALLS => {
                self.list.push((call_id.into(), String::new()));
                self.list.len() - 1
            }
            None => return,
        };
        let Some((_, kept)) = self.list.get_mut(at) else { return };
        if room == 0 {
            return;
        }
        let part = head_bytes(text, room);
        kept.push_str(part);
        self.bytes += part.len();
        if part.len() < text.len() {
            kept.push('…');
            self.bytes = EARLY_OUTPUT_MAX_BYTES;
        }
    }

    /// Takes what was kept for a call.
    pub(super) fn take(&mut self, call_id: &str) -> Option<String> {
        let at = self.list.iter().position(|(id, _)| **id == *call_id)?;
        let (_, text) = self.list.swap_remove(at);
        self.bytes = self.bytes.saturating_sub(text.len());
        Some(text)
    }
}
