//! What a turn without a connection gives: entries for a log.

use alloc::vec::Vec;

use crate::event::{Envelope, Event, EventKind, Str};

/// One canonical event, for a log.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Entry {
    /// The event as one JSON object with its envelope's keys: `ts_ms`, `turn_id`, `type`, …
    pub bytes: Vec<u8>,
    /// Whether a reader can begin here: it is the start of a turn.
    pub anchor: bool,
    /// Whether it ends the turn, the trailer aside.
    pub terminal: bool,
}

impl Entry {
    /// The entry of an event that happened at `ts_ms`.
    pub(super) fn new(event: &Event<'_>, ts_ms: u64, turn_id: Option<&str>) -> Self {
        let mut envelope = Envelope::new(event.clone());
        envelope.ts_ms = Some(ts_ms);
        envelope.turn_id = turn_id.map(Str::Borrowed);
        Self {
            // An event is plain data, so this cannot fail but for raw JSON that is none; what the
            // emitter lets through is.
            bytes: serde_json::to_vec(&envelope).unwrap_or_default(),
            anchor: event.kind() == EventKind::TurnStarted,
            terminal: event.is_terminal(),
        }
    }
}
