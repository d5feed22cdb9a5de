//! A dialect's encoder and decoder with their framing: events to bytes, bytes to events.

use alloc::boxed::Box;
use alloc::vec::Vec;

use super::{Carriage, ChannelSpec, Decode, Dialect, Encode, Stamp, Written};
use crate::error::{CallerError, Code, Diagnostics};
use crate::event::{Channel, Done, DoneStatus, Envelope, Error, Event, EventKind};
use crate::ids::EventId;
use crate::wire::encode::{encode_comment, encode_retry};
use crate::wire::{
    Clean, Frame, FrameWriter, Framing, NdjsonDecoder, NdjsonOptions, SseDecoder, SseOptions, Step,
};

/// Events to the bytes of one channel of a dialect.
///
/// What was encoded since a turn's start alone decides the output: no clock, no counter.
pub struct Encoder {
    inner: Box<dyn Encode>,
    framing: Framing,
    numbers: bool,
    greeting: Option<fn(&str) -> Event<'static>>,
    open_turn: bool,
    transient: bool,
    losses: Vec<(EventKind, u64)>,
}

impl Encoder {
    /// An encoder at the start of a stream. Without `channel`: the one that streams a turn.
    ///
    /// # Errors
    ///
    /// [`Code::UnknownChannel`].
    pub fn new(dialect: Dialect, channel: Option<Channel>) -> Result<Self, CallerError> {
        let spec = dialect.channel(channel)?;
        Ok(Self {
            inner: (dialect.0.encoder)(spec.channel),
            framing: spec.framing,
            numbers: dialect.0.numbers_events,
            greeting: dialect.0.greeting.filter(|_| spec.channel == Channel::Events),
            open_turn: false,
            transient: false,
            losses: Vec::new(),
        })
    }

    /// Appends the frames of `event` to `out`: nothing if the dialect has no such event.
    ///
    /// A stamp's number becomes the id of the last frame where that is a stored one; transient
    /// frames have none.
    pub fn encode(&mut self, stamp: &Stamp<'_>, event: &Event<'_>, out: &mut Vec<u8>) -> Carriage {
        self.write(stamp, event, out).carriage
    }

    /// [`encode`](Self::encode), for who does not ask how the event was said.
    pub(crate) fn append(&mut self, stamp: &Stamp<'_>, event: &Event<'_>, out: &mut Vec<u8>) {
        self.write(stamp, event, out);
    }

    #[inline(always)]
    fn write(&mut self, stamp: &Stamp<'_>, event: &Event<'_>, out: &mut Vec<u8>) -> Written {
        let mut frames = FrameWriter::new(self.framing, out);
        let written = self.inner.encode(stamp, event, &mut frames);
        let id = match (written.transient, stamp.seq) {
            (false, Some(seq)) => Some(EventId { epoch: stamp.epoch, seq }),
            _ => None,
        };
        frames.write_id(id);
        drop(frames);
        self.transient = written.transient;
        // A question may be settled after its turn, and opens none.
        if event.kind().belongs_to_turn() && event.kind() != EventKind::QuestionResolved {
            self.open_turn = !event.is_terminal();
        }
        if matches!(written.carriage, Carriage::Degraded(_) | Carriage::Dropped) {
            self.lose(event.kind());
        }
        written
    }

    /// Whether the frames of the last event are live only: they have no id, and a replay leaves
    /// them out.
    #[must_use]
    pub const fn wrote_transient(&self) -> bool {
        self.transient
    }

    /// Whether each event carries its number in a stream without a log too.
    #[must_use]
    pub const fn numbers_events(&self) -> bool {
        self.numbers
    }

    /// Appends what a stream opens with: the delay for reconnecting in milliseconds, and the
    /// greeting of a session where the dialect has one for a channel that watches (`server`,
    /// Silence; `chat` 1).
    pub fn open(&mut self, retry_ms: Option<u64>, session_id: Option<&str>, out: &mut Vec<u8>) {
        if let (Some(retry_ms), Framing::Sse) = (retry_ms, self.framing) {
            encode_retry(retry_ms, out);
        }
        if let (Some(greeting), Some(id)) = (self.greeting, session_id) {
            self.append(&Stamp::default(), &greeting(id), out);
            self.open_turn = false;
        }
    }

    /// Appends what keeps a silent connection open: a comment, or a blank line (`server`,
    /// Silence).
    pub fn keepalive(&self, out: &mut Vec<u8>) {
        match self.framing {
            Framing::Sse => encode_comment("keepalive", out),
            Framing::Ndjson => out.push(b'\n'),
        }
    }

    /// Appends a legal ending if the turn is still open: an error and its trailer.
    pub fn finish(&mut self, out: &mut Vec<u8>) {
        if !core::mem::take(&mut self.open_turn) {
            return;
        }
        let stamp = Stamp::default();
        self.encode(&stamp, &Error::new("The stream ended early.").into(), out);
        let trailer = Done { status: Some(DoneStatus::Failed), ..Done::new() };
        self.encode(&stamp, &trailer.into(), out);
    }

    /// What the dialect could not say in full, by kind, with how often.
    #[must_use]
    pub fn losses(&self) -> &[(EventKind, u64)] {
        &self.losses
    }

    fn lose(&mut self, kind: EventKind) {
        match self.losses.iter_mut().find(|(k, _)| *k == kind) {
            Some((_, count)) => *count += 1,
            None => self.losses.push((kind, 1)),
        }
    }
}

enum Unframe {
    Sse(SseDecoder),
    Ndjson(NdjsonDecoder),
}

/// The bytes of one channel of a dialect to events.
///
/// Events go to a sink, since one frame may hold several; they borrow from the input where the
/// wire allows. Odd input becomes a diagnostic and costs only the field or event it concerns.
/// Linear in the bytes, whatever the chunking; holds at most one event's bytes.
pub struct Decoder {
    unframe: Unframe,
    inner: Box<dyn Decode>,
    channel: Channel,
    diagnostics: Diagnostics,
}

impl Decoder {
    /// A decoder at the start of a stream, with the default bound of 16 MiB an event. Without
    /// `channel`: the one that streams a turn.
    ///
    /// # Errors
    ///
    /// [`Code::UnknownChannel`].
    pub fn new(dialect: Dialect, channel: Option<Channel>) -> Result<Self, CallerError> {
        let spec = dialect.channel(channel)?;
        Ok(Self {
            unframe: unframe(spec)?,
            inner: (dialect.0.decoder)(spec.channel),
            channel: spec.channel,
            diagnostics: Diagnostics::default(),
        })
    }

    /// Reads a chunk and gives the events that it completes.
    pub fn feed(&mut self, chunk: &[u8], sink: &mut dyn FnMut(&Envelope<'_>)) {
        let mut input = chunk;
        let (inner, diagnostics) = (&mut *self.inner, &mut self.diagnostics);
        // What was odd about a frame's bytes comes before what was odd about its fields, wherever
        // the chunks were cut.
        let mut odd = Diagnostics::default();
        match &mut self.unframe {
            Unframe::Sse(sse) => {
                let clean = Clean::of(chunk);
                // Lent on from where it was made: moving a frame costs as much as finding it.
                while let Step::Frame(frame) = &sse.next_of(&mut input, clean) {
                    decode(inner, frame, self.channel, &mut odd, sink);
                    settle(sse.diagnostics(), &mut odd, diagnostics);
                }
                settle(sse.diagnostics(), &mut odd, diagnostics);
            }
            Unframe::Ndjson(lines) => {
                while let Step::Frame(frame) = lines.next(&mut input) {
                    decode(inner, &frame, self.channel, &mut odd, sink);
                    settle(lines.diagnostics(), &mut odd, diagnostics);
                }
                settle(lines.diagnostics(), &mut odd, diagnostics);
            }
        }
    }

    /// Says that the input has ended.
    pub fn finish(&mut self, sink: &mut dyn FnMut(&Envelope<'_>)) {
        let (inner, diagnostics) = (&mut *self.inner, &mut self.diagnostics);
        let mut odd = Diagnostics::default();
        match &mut self.unframe {
            Unframe::Sse(sse) => {
                if let Step::Frame(frame) = sse.finish() {
                    decode(inner, &frame, self.channel, &mut odd, sink);
                }
                settle(sse.diagnostics(), &mut odd, diagnostics);
            }
            Unframe::Ndjson(lines) => {
                if let Step::Frame(frame) = lines.finish() {
                    decode(inner, &frame, self.channel, &mut odd, sink);
                }
                settle(lines.diagnostics(), &mut odd, diagnostics);
            }
        }
        inner.finish(sink);
    }

    /// The stream's last event id; empty if there was none.
    #[must_use]
    pub fn last_event_id(&self) -> &str {
        match &self.unframe {
            Unframe::Sse(sse) => sse.last_event_id(),
            Unframe::Ndjson(_) => "",
        }
    }

    /// The delay that the stream named for reconnecting, in milliseconds.
    #[must_use]
    pub fn retry_ms(&self) -> Option<u64> {
        match &self.unframe {
            Unframe::Sse(sse) => sse.retry_ms(),
            Unframe::Ndjson(_) => None,
        }
    }

    /// What was odd.
    pub fn diagnostics(&mut self) -> &mut Diagnostics {
        &mut self.diagnostics
    }
}

/// Takes over what was odd about the bytes and the fields of a frame.
fn settle(bytes: &mut Diagnostics, fields: &mut Diagnostics, all: &mut Diagnostics) {
    if !bytes.is_empty() {
        all.absorb(bytes);
    }
    if !fields.is_empty() {
        all.absorb(fields);
    }
}

fn unframe(spec: &ChannelSpec) -> Result<Unframe, CallerError> {
    Ok(match spec.framing {
        Framing::Sse => {
            let options = SseOptions { lenient_eof: spec.lenient_eof, ..SseOptions::default() };
            Unframe::Sse(SseDecoder::new(options)?)
        }
        Framing::Ndjson => Unframe::Ndjson(NdjsonDecoder::new(NdjsonOptions::default())?),
    })
}

fn decode(
    inner: &mut dyn Decode,
    frame: &Frame<'_>,
    channel: Channel,
    diagnostics: &mut Diagnostics,
    sink: &mut dyn FnMut(&Envelope<'_>),
) {
    if channel == Channel::Turn && frame.data.starts_with('{') {
        return inner.decode(frame, diagnostics, sink);
    }
    // An empty data line keeps a connection alive; the sentinel ends nothing in these systems.
    match frame.data.trim_ascii() {
        "" => {}
        "[DONE]" => diagnostics.push(Code::DoneSentinel, frame.at),
        _ if channel == Channel::Turn => inner.decode(frame, diagnostics, sink),
        _ => inner.decode(frame, diagnostics, &mut |envelope| {
            let mut envelope = envelope.clone();
            envelope.channel = channel;
            sink(&envelope);
        }),
    }
}
