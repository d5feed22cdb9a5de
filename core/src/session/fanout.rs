//! One encoder for all readers of a dialect: each entry is encoded once, and each reader gets a
//! copy.

use alloc::collections::VecDeque;
use alloc::sync::Arc;
use alloc::vec::Vec;

use crate::dialect::{Dialect, Encoder, Stamp};
use crate::error::CallerError;
use crate::event::{Channel, Envelope, EventKind};
use crate::limits::FANOUT_KEPT_FRAMES;

/// A stored entry: its JSON, shared by the log and everybody who reads it.
pub(super) type Stored = Arc<[u8]>;

/// The frames of one entry in one dialect.
#[derive(Clone, Debug)]
pub(super) struct Encoded {
    pub bytes: Arc<[u8]>,
    /// Live only: a replay leaves them out.
    pub transient: bool,
}

/// The newest frames of one dialect's channel.
pub(super) struct Fanout {
    pub dialect: Dialect,
    pub channel: Channel,
    encoder: Encoder,
    /// Whether it has seen a turn from its start. Until then readers encode for themselves.
    awake: bool,
    /// The number of the first kept frame.
    first: u64,
    frames: VecDeque<Encoded>,
    scratch: Vec<u8>,
}

impl Fanout {
    /// A fanout that has encoded nothing; `next` is the number of the entry that comes next.
    pub fn new(dialect: Dialect, channel: Channel, next: u64) -> Result<Self, CallerError> {
        Ok(Self {
            dialect,
            channel,
            encoder: Encoder::new(dialect, Some(channel))?,
            awake: false,
            first: next,
            frames: VecDeque::new(),
            scratch: Vec::new(),
        })
    }

    /// An encoder like the shared one, at the start of a stream.
    pub fn encoder(&self) -> Option<Encoder> {
        Encoder::new(self.dialect, Some(self.channel)).ok()
    }

    /// The number after the newest that was encoded.
    pub fn next(&self) -> u64 {
        self.first.saturating_add(self.frames.len() as u64)
    }

    /// Encodes the next entry.
    pub fn push(&mut self, epoch: &str, envelope: &Envelope<'_>) {
        self.awake |= envelope.event.kind() == EventKind::TurnStarted;
        if !self.awake {
            self.first = self.first.saturating_add(1);
            return;
        }
        let seq = self.next();
        self.scratch.clear();
        let transient = encode(&mut self.encoder, epoch, seq, envelope, &mut self.scratch);
        self.frames.push_back(Encoded { bytes: self.scratch.as_slice().into(), transient });
        if self.frames.len() > FANOUT_KEPT_FRAMES {
            self.frames.pop_front();
            self.first = self.first.saturating_add(1);
        }
    }

    /// The frames of an entry, if they are kept.
    pub fn get(&self, seq: u64) -> Option<&Encoded> {
        let index = usize::try_from(seq.checked_sub(self.first)?).ok()?;
        self.frames.get(index)
    }
}

/// Appends the frames of one entry to `out`. Whether they are live only.
pub(super) fn encode(
    encoder: &mut Encoder,
    epoch: &str,
    seq: u64,
    envelope: &Envelope<'_>,
    out: &mut Vec<u8>,
) -> bool {
    let stamp = Stamp::new(Some(seq), Some(epoch), envelope.ts_ms);
    encoder.encode(&stamp, &envelope.event, out);
    encoder.wrote_transient()
}

/// The envelope of a stored entry; `None` for bytes that no session wrote.
pub(super) fn read(entry: &[u8]) -> Option<Envelope<'static>> {
    serde_json::from_slice(entry).ok()
}
