//! The readers of a session: one connection each, in its own dialect.

use alloc::string::String;
use alloc::vec::Vec;

use super::fanout::{Fanout, Stored, encode, read};
use super::machine::Session;
use crate::dialect::{Dialect, Encoder, Stamp};
use crate::error::CallerError;
use crate::event::{Channel, Resync};
use crate::limits::KEEPALIVE_MS;
use crate::log::{CloseReason, Log, ReaderId, Record, Start};
use crate::time::Millis;

/// Where a reader comes in, and how it is kept open.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Attach {
    /// The channel; the one that streams a turn if absent.
    pub channel: Option<Channel>,
    /// The id that the client handed back.
    pub last_event_id: Option<String>,
    /// Without an id: from the newest turn on, and not from the beginning.
    pub newest_turn: bool,
    /// Without an id: from now on.
    pub live: bool,
    /// Silence after which a keepalive is due, in milliseconds; 0 for never.
    pub keepalive_ms: u64,
    /// The delay for reconnecting that the stream opens with, in milliseconds.
    pub retry_ms: Option<u64>,
}

impl Default for Attach {
    fn default() -> Self {
        Self {
            channel: None,
            last_event_id: None,
            newest_turn: false,
            live: false,
            keepalive_ms: KEEPALIVE_MS,
            retry_ms: None,
        }
    }
}

/// Why a poll of a reader ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Polled {
    /// There is nothing more for now.
    Idle,
    /// There is more, but `out` has grown enough.
    More,
    /// Entries after this number have to come from the store, at most that many.
    Fetch {
        /// The number before the first.
        after: u64,
        /// How many at most.
        limit: usize,
    },
    /// The connection is to be closed; the reader is forgotten.
    Closed(CloseReason),
    /// There is no such reader.
    Unknown,
}

pub(super) struct Reader {
    /// The place of what is shared with the readers of its dialect's channel.
    fanout: usize,
    /// Its own encoder, while it reads what the shared one no longer has.
    own: Option<Encoder>,
    /// Entries up to here are a replay: what is live only is left out.
    replay_to: u64,
    keepalive_ms: u64,
    last_byte: Millis,
    retry_ms: Option<u64>,
    /// Nothing was sent to it yet.
    opening: bool,
}

impl Session {
    /// A reader comes. Its first poll opens the stream.
    ///
    /// # Errors
    ///
    /// [`UnknownChannel`](crate::error::Code::UnknownChannel).
    pub fn attach(
        &mut self,
        now: Millis,
        dialect: Dialect,
        attach: Attach,
    ) -> Result<ReaderId, CallerError> {
        let channel = attach.channel.unwrap_or(dialect.turn_channel());
        let fanout = self.share(dialect, channel)?;
        let start = match Start::from_last_event_id(attach.last_event_id.as_deref()) {
            Start::Beginning if attach.live => Start::Live,
            Start::Beginning if attach.newest_turn => Start::NewestTurn,
            start => start,
        };
        let id = self.log.subscribe(start);
        let reader = Reader {
            fanout,
            own: None,
            replay_to: self.log.persisted(),
            keepalive_ms: attach.keepalive_ms,
            last_byte: now,
            retry_ms: attach.retry_ms,
            opening: true,
        };
        self.readers.insert(id, reader);
        Ok(id)
    }

    /// A reader is gone. Whether that ends the turn is
    /// [`Dialect::default_disconnect`]'s to say.
    pub fn detach(&mut self, reader: ReaderId) {
        if self.readers.remove(&reader).is_some() {
            self.log.unsubscribe(reader);
        }
    }

    /// The readers for which there is something to poll.
    pub fn ready(&self) -> impl Iterator<Item = ReaderId> + '_ {
        self.log.ready()
    }

    /// Appends what a reader is to be sent to `out`, until there is nothing more or `out` has
    /// `enough` bytes. An entry is never cut.
    pub fn poll_reader(
        &mut self,
        now: Millis,
        id: ReaderId,
        enough: usize,
        out: &mut Vec<u8>,
    ) -> Polled {
        let Some(reader) = self.readers.get_mut(&id) else { return Polled::Unknown };
        let Some(fanout) = self.fanouts.get(reader.fanout) else { return Polled::Unknown };
        let before = out.len();
        if core::mem::take(&mut reader.opening)
            && let Some(mut encoder) = fanout.encoder()
        {
            encoder.open(reader.retry_ms, Some(&self.options.session_id), out);
        }
        let polled = reader.fill(&mut self.log, fanout, &self.options.epoch, id, enough, out);
        if out.len() > before {
            reader.last_byte = now;
        }
        if matches!(polled, Polled::Closed(_)) {
            self.readers.remove(&id);
        }
        polled
    }

    /// When a reader needs a keepalive.
    #[must_use]
    pub fn reader_timeout(&self, id: ReaderId) -> Option<Millis> {
        let reader = self.readers.get(&id).filter(|reader| reader.keepalive_ms > 0)?;
        Some(reader.last_byte + reader.keepalive_ms)
    }

    /// Appends a keepalive for a reader if one is due.
    pub fn handle_reader_timeout(&mut self, now: Millis, id: ReaderId, out: &mut Vec<u8>) {
        if self.reader_timeout(id).is_some_and(|at| at <= now)
            && let Some(reader) = self.readers.get_mut(&id)
            && let Some(encoder) = self.fanouts.get(reader.fanout).and_then(Fanout::encoder)
        {
            encoder.keepalive(out);
            reader.last_byte = now;
        }
    }

    /// Makes sure that the dialect's entries are encoded once for all, from the newest turn on;
    /// gives the place of what is shared.
    fn share(&mut self, dialect: Dialect, channel: Channel) -> Result<usize, CallerError> {
        let same = |f: &Fanout| f.dialect == dialect && f.channel == channel;
        if let Some(place) = self.fanouts.iter().position(same) {
            return Ok(place);
        }
        let from = self.log.newest_turn();
        let mut fanout = Fanout::new(dialect, channel, from)?;
        for seq in from..=self.log.head() {
            if let Some(envelope) = self.log.entry(seq).and_then(|entry| read(entry)) {
                fanout.push(&self.options.epoch, &envelope);
            }
        }
        self.fanouts.push(fanout);
        Ok(self.fanouts.len() - 1)
    }
}

impl Reader {
    fn fill(
        &mut self,
        log: &mut Log<Stored>,
        fanout: &Fanout,
        epoch: &str,
        id: ReaderId,
        enough: usize,
        out: &mut Vec<u8>,
    ) -> Polled {
        loop {
            if out.len() >= enough {
                return Polled::More;
            }
            match log.poll_reader(id) {
                None => return Polled::Idle,
                Some(Record::Fetch { after, limit }) => return Polled::Fetch { after, limit },
                Some(Record::Closed { reason }) => return Polled::Closed(reason),
                Some(Record::Resync { reason, oldest_seq, head_seq }) => {
                    self.own = None;
                    let mut resync = Resync::new(reason.as_str());
                    resync.oldest_seq = Some(oldest_seq);
                    resync.head_seq = Some(head_seq);
                    if let Some(mut encoder) = fanout.encoder() {
                        encoder.encode(&Stamp::default(), &resync.into(), out);
                    }
                }
                Some(Record::Deliver { seq: Some(seq), entry, prime }) => {
                    if let Some(shared) = fanout.get(seq) {
                        self.own = None;
                        if !prime && !self.leaves_out(seq, shared.transient) {
                            out.extend_from_slice(&shared.bytes);
                        }
                    } else {
                        self.encode(fanout, epoch, seq, entry, prime, out);
                    }
                }
                // A session stores every entry, so there are no others.
                Some(_) => {}
            }
        }
    }

    /// Whether an entry is not to be sent: a replay is without what is live only.
    const fn leaves_out(&self, seq: u64, transient: bool) -> bool {
        transient && seq <= self.replay_to
    }

    /// Encodes an entry that lies before what is shared.
    fn encode(
        &mut self,
        fanout: &Fanout,
        epoch: &str,
        seq: u64,
        entry: &[u8],
        prime: bool,
        out: &mut Vec<u8>,
    ) {
        let Some(envelope) = read(entry) else { return };
        if self.own.is_none() {
            self.own = fanout.encoder();
        }
        let Some(own) = &mut self.own else { return };
        let before = out.len();
        let transient = encode(own, epoch, seq, &envelope, out);
        if prime || self.leaves_out(seq, transient) {
            out.truncate(before);
        }
    }
}
