//! The protocols: events to frames and back. The only room that knows both, and the only one that
//! names a protocol.
//!
//! A dialect is one file with its rules, its encoder and its decoder, and one row in
//! [`Dialect::ALL`]. Everything outside this room takes a [`Dialect`] and asks it.
//!
//! ```
//! use turnwire::dialect::{Decoder, Dialect, Encoder, Stamp};
//! use turnwire::event::{Event, TextDelta};
//!
//! let mut bytes = Vec::new();
//! let mut encoder = Encoder::new(Dialect::AGENT, None)?;
//! encoder.encode(&Stamp::default(), &TextDelta::new("Hi").into(), &mut bytes);
//! assert_eq!(bytes, b"data: {\"type\":\"text_delta\",\"text\":\"Hi\"}\n\n");
//!
//! let mut seen = Vec::new();
//! let mut decoder = Decoder::new(Dialect::AGENT, None)?;
//! decoder.feed(&bytes, &mut |envelope| seen.push(envelope.event.clone().into_owned()));
//! assert_eq!(seen, [Event::from(TextDelta::new("Hi"))]);
//! # Ok::<(), turnwire::error::CallerError>(())
//! ```
//!
//! # What each dialect carries
//!
//! *Carried*: in a frame of its own with all that matters. *Derived*: by frames of other events, so
//! that a reader knows it all the same. *Degraded*: as something lesser. *Dropped*: not at all.
//! What is degraded or dropped is counted in the losses of an encoder; single events may fare worse
//! than their row says, such as a result that was interrupted.
#![doc = include_str!("table.md")]

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::fmt;

use crate::error::{CallerError, Code, Diagnostics};
use crate::event::{Channel, Done, Envelope, Event, EventKind, Message, Rules};
use crate::request::{Headers, RequestSpec};
use crate::wire::{Frame, FrameWriter, Framing};

mod agent;
mod asking;
mod chat;
mod client;
mod codec;
mod fields;
mod outcome;
mod respond;
mod run;
mod said;
mod workspace;

use client::ClientSpec;
pub use client::{Answer, Ask, HttpCall, Role};
pub use codec::{Decoder, Encoder};

/// One of the protocols.
#[derive(Clone, Copy)]
pub struct Dialect(&'static Spec);

/// The facts of one dialect; its file holds the one value.
struct Spec {
    name: &'static str,
    rules: Rules,
    /// The default channel first.
    channels: &'static [ChannelSpec],
    requests: RequestSpec,
    client: ClientSpec,
    json_answer: Option<JsonForm>,
    disconnect: Disconnect,
    /// Every event has a number, also in a stream that no log stands behind.
    numbers_events: bool,
    /// What a watching stream opens with, of a session with this id.
    greeting: Option<fn(&str) -> Event<'static>>,
    carriage: fn(EventKind) -> Carriage,
    encoder: fn(Channel) -> Box<dyn Encode>,
    decoder: fn(Channel) -> Box<dyn Decode>,
}

/// One connection that a dialect has.
struct ChannelSpec {
    channel: Channel,
    framing: Framing,
    headers: Headers,
    /// An unterminated last block counts as one more (X3).
    lenient_eof: bool,
}

impl Dialect {
    /// SSE over the answer of `POST /api/agent` (seed of `agent`).
    pub const AGENT: Self = Self(&agent::SPEC);
    /// SSE over the answer of `POST /api/respond/stream` (seed of `respond`).
    pub const RESPOND: Self = Self(&respond::SPEC);
    /// Named events of a session, or one JSON object for a run without one (seed of `run`).
    pub const RUN: Self = Self(&run::SPEC);
    /// Enveloped events of a persisted log (seed of `workspace`).
    pub const WORKSPACE: Self = Self(&workspace::SPEC);
    /// NDJSON over the answer of `POST /api/chat`, and an event stream beside it (seed of `chat`).
    pub const CHAT: Self = Self(&chat::SPEC);

    /// Every dialect.
    pub const ALL: &'static [Self] =
        &[Self::AGENT, Self::RESPOND, Self::RUN, Self::WORKSPACE, Self::CHAT];

    /// The dialect of this name.
    ///
    /// # Errors
    ///
    /// [`Code::UnknownDialect`].
    pub fn parse(name: &str) -> Result<Self, CallerError> {
        let found = Self::ALL.iter().find(|d| d.name() == name);
        found.copied().ok_or_else(|| CallerError::new(Code::UnknownDialect).with(name))
    }

    /// Its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        self.0.name
    }

    /// What machines need to know of it.
    #[must_use]
    pub const fn rules(self) -> &'static Rules {
        &self.0.rules
    }

    /// What its requests look like.
    #[must_use]
    pub const fn requests(self) -> &'static RequestSpec {
        &self.0.requests
    }

    /// What a client's hang-up means for the turn that it started.
    #[must_use]
    pub const fn default_disconnect(self) -> Disconnect {
        self.0.disconnect
    }

    /// How it says an event of this kind.
    #[must_use]
    pub fn carriage(self, kind: EventKind) -> Carriage {
        (self.0.carriage)(kind)
    }

    /// The headers of a streamed answer on `channel`.
    ///
    /// # Errors
    ///
    /// [`Code::UnknownChannel`].
    pub fn headers(self, channel: Option<Channel>) -> Result<Headers, CallerError> {
        self.channel(channel).map(|spec| spec.headers)
    }

    /// The channel that streams a turn.
    #[must_use]
    pub fn turn_channel(self) -> Channel {
        self.0.channels.first().map_or(Channel::Turn, |spec| spec.channel)
    }

    /// The request of a host for `role`.
    ///
    /// # Errors
    ///
    /// [`Code::NoRoute`] if the dialect has none, [`Code::BadJson`] for a field that is no JSON.
    pub fn http_call(self, role: Role, ask: &Ask<'_>) -> Result<HttpCall, CallerError> {
        self.0.client.call(role, ask)
    }

    /// Reads the answer to a request that started a turn, where it is no stream.
    #[must_use]
    pub fn http_answer(self, status: u16, body: &str) -> Answer {
        self.0.client.answer(status, body)
    }

    /// Whether the prompt that a host sends is the whole conversation as text.
    #[must_use]
    pub const fn folds_history(self) -> bool {
        self.0.client.folds_history
    }

    /// Whether a session can be watched.
    #[must_use]
    pub const fn can_watch(self) -> bool {
        self.0.client.watch.is_some()
    }

    /// The JSON answer to a request that did not ask for a stream, where the dialect has one.
    #[must_use]
    pub(crate) const fn json_answer(self) -> Option<JsonForm> {
        self.0.json_answer
    }

    fn channel(self, channel: Option<Channel>) -> Result<&'static ChannelSpec, CallerError> {
        let wanted = channel.unwrap_or(self.turn_channel());
        let found = self.0.channels.iter().find(|spec| spec.channel == wanted);
        found.ok_or_else(|| CallerError::new(Code::UnknownChannel).with(wanted.as_str()))
    }
}

impl PartialEq for Dialect {
    fn eq(&self, other: &Self) -> bool {
        self.name() == other.name()
    }
}

impl Eq for Dialect {}

impl fmt::Debug for Dialect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// What a client's hang-up means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(clippy::exhaustive_enums, reason = "the work ends or it goes on")]
pub enum Disconnect {
    /// The turn is cancelled.
    Cancel,
    /// The turn goes on.
    Detach,
}

impl Disconnect {
    /// `"cancel"` or `"detach"`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Cancel => "cancel",
            Self::Detach => "detach",
        }
    }
}

/// How a dialect says an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(clippy::exhaustive_enums, reason = "the four words of the table")]
pub enum Carriage {
    /// In a frame of its own, with all that matters.
    Carried,
    /// By frames of other events, before it or in its place, so that a reader knows it all the same.
    Derived,
    /// As something lesser: what it becomes.
    Degraded(&'static str),
    /// Not at all.
    Dropped,
}

/// What the log or the caller says around an event that is encoded.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct Stamp<'a> {
    /// The event's number in its log.
    pub seq: Option<u64>,
    /// The epoch that `seq` counts in, for the frame's id.
    pub epoch: Option<&'a str>,
    /// When it happened, in Unix milliseconds.
    pub ts_ms: Option<u64>,
}

impl<'a> Stamp<'a> {
    /// A stamp with a number, and with the epoch if the frame's id is to carry one.
    #[must_use]
    pub const fn new(seq: Option<u64>, epoch: Option<&'a str>, ts_ms: Option<u64>) -> Self {
        Self { seq, epoch, ts_ms }
    }
}

/// Events to frames. The output is a pure function of the events since the turn's start.
trait Encode: Send {
    /// Writes the frames of one event, and says how it was said.
    fn encode(
        &mut self,
        stamp: &Stamp<'_>,
        event: &Event<'_>,
        frames: &mut FrameWriter<'_>,
    ) -> Written;
}

/// What became of one event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Written {
    carriage: Carriage,
    /// A transient frame is live only: it gets no id, and a replay leaves it out.
    transient: bool,
}

impl Written {
    const fn stored(carriage: Carriage) -> Self {
        Self { carriage, transient: false }
    }

    const TRANSIENT: Self = Self { carriage: Carriage::Carried, transient: true };
}

/// Frames to events. One frame gives any number of events.
trait Decode: Send {
    /// Reads one frame whose data is neither empty nor the `[DONE]` sentinel.
    fn decode(
        &mut self,
        frame: &Frame<'_>,
        diagnostics: &mut Diagnostics,
        sink: &mut dyn FnMut(&Envelope<'_>),
    );

    /// Gives what was held back when the input ends.
    fn finish(&mut self, sink: &mut dyn FnMut(&Envelope<'_>));
}

/// The JSON answer to a turn.
#[derive(Clone, Copy)]
pub(crate) struct JsonForm {
    /// Status and body.
    pub(crate) answer: fn(&JsonTurn<'_>) -> (u16, Vec<u8>),
    /// Whether it shows the messages of the turn.
    pub(crate) has_messages: bool,
}

/// A turn that has ended, as a JSON answer shows it.
pub(crate) struct JsonTurn<'a> {
    pub(crate) text: &'a str,
    pub(crate) trace: &'a [crate::event::TraceEntry<'static>],
    pub(crate) cwd: Option<&'a str>,
    pub(crate) failure: Option<JsonFailure<'a>>,
    /// What was said, in order, with the calls that the model made; empty unless the form has
    /// messages.
    pub(crate) messages: &'a [Message<'static>],
    /// How the turn ended, if it finished and the form has messages.
    pub(crate) done: Option<&'a Done<'static>>,
}

/// How a turn failed, as a JSON answer shows it.
pub(crate) enum JsonFailure<'a> {
    Error { message: &'a str, status: Option<u16> },
    Cancelled,
}
