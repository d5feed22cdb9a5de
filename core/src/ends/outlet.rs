//! One connection to a log that somebody else keeps: records in, bytes of a dialect out.

use alloc::string::String;
use alloc::vec::Vec;

use crate::dialect::{Dialect, Encoder, Stamp};
use crate::error::{CallerError, Code, Diagnostics};
use crate::event::{Channel, Envelope, Resync};
use crate::ids::EventId;
use crate::limits::KEEPALIVE_MS;
use crate::log::Record;
use crate::request::Headers;
use crate::time::{Millis, TimeoutReason};

/// What an [`Outlet`] is made with.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct OutletOptions {
    /// The channel; the one that streams a turn if absent.
    pub channel: Option<Channel>,
    /// The epoch of the log, for the ids of frames; plain numbers without one.
    pub epoch: Option<String>,
    /// The session, for dialects whose streams greet with it.
    pub session_id: Option<String>,
    /// The id that the client handed back: entries up to it are not sent again.
    pub last_event_id: Option<String>,
    /// Silence after which a keepalive is due, in milliseconds; 0 for never.
    pub keepalive_ms: u64,
    /// The delay for reconnecting that the stream opens with, in milliseconds.
    pub retry_ms: Option<u64>,
    /// The moment of construction on the caller's monotonic clock.
    pub now: Millis,
}

impl Default for OutletOptions {
    fn default() -> Self {
        Self {
            channel: None,
            epoch: None,
            session_id: None,
            last_event_id: None,
            keepalive_ms: KEEPALIVE_MS,
            retry_ms: Some(2_000),
            now: Millis(0),
        }
    }
}

/// The bytes of one reader of a [`Log`](crate::log::Log) whose entries are canonical events, as
/// [`Turn::poll_entry`](super::Turn::poll_entry) gives them.
///
/// A [`Session`](crate::session::Session) does this for all its readers at once; an outlet is for
/// those who keep a log of their own.
///
/// ```
/// use turnwire::dialect::Dialect;
/// use turnwire::ends::{Outlet, OutletOptions};
/// use turnwire::log::{Log, LogOptions, Start};
/// use turnwire::time::Millis;
///
/// let mut log: Log<Vec<u8>> = Log::new(LogOptions::new("e1"))?;
/// let seq = log.append(br#"{"type":"cancelled","by":"user","ts_ms":5}"#.to_vec(), true)?;
/// while log.poll_store().is_some() {}
/// log.handle_persisted(seq);
/// let reader = log.subscribe(Start::Beginning);
///
/// let mut options = OutletOptions::default();
/// options.epoch = Some("e1".into());
/// let mut outlet = Outlet::new(Dialect::WORKSPACE, options)?;
/// let (now, mut out) = (Millis(0), Vec::new());
/// outlet.open(now, &mut out);
/// while let Some(record) = log.poll_reader(reader) {
///     outlet.deliver(now, &record, &mut out)?;
/// }
/// let text = String::from_utf8(out).expect("JSON is text");
/// assert!(text.starts_with("retry: 2000\n\ndata: {\"seq\":1,\"ts\":5,\"type\":\"cancelled\""));
/// assert!(text.ends_with("\nid: e1-1\n\n"));
/// # Ok::<(), turnwire::error::CallerError>(())
/// ```
pub struct Outlet {
    dialect: Dialect,
    encoder: Encoder,
    options: OutletOptions,
    /// Entries up to this number are only to bring the encoder up to date.
    behind: u64,
    last_byte: Millis,
    scratch: Vec<u8>,
    diagnostics: Diagnostics,
}

impl Outlet {
    /// A connection that nothing was sent on.
    ///
    /// # Errors
    ///
    /// [`Code::UnknownChannel`].
    pub fn new(dialect: Dialect, options: OutletOptions) -> Result<Self, CallerError> {
        let cursor = options.last_event_id.as_deref().and_then(EventId::parse);
        let ours = cursor.filter(|id| id.epoch.is_none() || id.epoch == options.epoch.as_deref());
        Ok(Self {
            dialect,
            encoder: Encoder::new(dialect, options.channel)?,
            behind: ours.map_or(0, |id| id.seq),
            last_byte: options.now,
            scratch: Vec::new(),
            diagnostics: Diagnostics::default(),
            options,
        })
    }

    /// Appends what the stream opens with.
    pub fn open(&mut self, now: Millis, out: &mut Vec<u8>) {
        let before = out.len();
        self.encoder.open(self.options.retry_ms, self.options.session_id.as_deref(), out);
        if out.len() > before {
            self.last_byte = now;
        }
    }

    /// Appends the frames of a record: nothing for a primer, and for what is no matter of the
    /// reader's. What cannot be read as an event leaves a diagnostic.
    ///
    /// # Errors
    ///
    /// None today.
    pub fn deliver<T: AsRef<[u8]>>(
        &mut self,
        now: Millis,
        record: &Record<'_, T>,
        out: &mut Vec<u8>,
    ) -> Result<(), CallerError> {
        let before = out.len();
        match record {
            Record::Deliver { seq, entry, prime } => {
                self.entry(*seq, entry.as_ref(), *prime, out);
            }
            Record::Resync { reason, oldest_seq, head_seq } => {
                let mut resync = Resync::new(reason.as_str());
                resync.oldest_seq = Some(*oldest_seq);
                resync.head_seq = Some(*head_seq);
                self.behind = 0;
                self.encoder = Encoder::new(self.dialect, self.options.channel)?;
                self.encoder.encode(&Stamp::default(), &resync.into(), out);
            }
            _ => {}
        }
        if out.len() > before {
            self.last_byte = now;
        }
        Ok(())
    }

    fn entry(&mut self, seq: Option<u64>, entry: &[u8], prime: bool, out: &mut Vec<u8>) {
        let Ok(envelope) = serde_json::from_slice::<Envelope<'static>>(entry) else {
            self.diagnostics.push(Code::BadEntry, seq.unwrap_or_default());
            return;
        };
        let stamp = Stamp::new(seq, self.options.epoch.as_deref(), envelope.ts_ms);
        if prime || seq.is_some_and(|seq| seq <= self.behind) {
            self.scratch.clear();
            self.encoder.encode(&stamp, &envelope.event, &mut self.scratch);
        } else {
            self.encoder.encode(&stamp, &envelope.event, out);
        }
    }

    /// Time has passed: appends a keepalive if one is due. A spurious wake-up appends nothing.
    pub fn handle_timeout(&mut self, now: Millis, out: &mut Vec<u8>) {
        if self.poll_timeout().is_some_and(|(at, _)| at <= now) {
            self.encoder.keepalive(out);
            self.last_byte = now;
        }
    }

    /// When to call [`handle_timeout`](Self::handle_timeout), and why.
    #[must_use]
    pub fn poll_timeout(&self) -> Option<(Millis, TimeoutReason)> {
        let keepalive_ms = self.options.keepalive_ms;
        (keepalive_ms > 0).then(|| (self.last_byte + keepalive_ms, TimeoutReason::Keepalive))
    }

    /// The headers of the stream.
    #[must_use]
    pub fn headers(&self) -> Headers {
        self.dialect.headers(self.options.channel).unwrap_or_default()
    }

    /// What was odd.
    pub const fn diagnostics(&mut self) -> &mut Diagnostics {
        &mut self.diagnostics
    }
}
