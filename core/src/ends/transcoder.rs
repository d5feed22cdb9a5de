//! Any protocol into any other, live.

use alloc::string::String;
use alloc::vec::Vec;

use crate::dialect::{Decoder, Dialect, Encoder, Stamp};
use crate::error::{CallerError, Diagnostics};
use crate::event::{Envelope, Eof, Event, EventKind, Rules};
use crate::ids::Seed;
use crate::time::Millis;
use crate::turn::{Emitter, EmitterOptions, Failure, Finish};

/// What a stream says that ended before its turn did, and one that said nothing at all.
const ENDED_EARLY: &str = "The stream ended early.";
const EMPTY: &str = "Empty model response.";

/// Reads the stream of one dialect and writes that of another, event by event.
///
/// What comes out is in legal order whatever comes in: calls get the ids that the target needs, a
/// result finds its call by the source's rule, what is open is settled before a terminal, and a
/// source that ends early gets an ending. What the target cannot say is counted.
///
/// ```
/// use turnwire::Transcoder;
/// use turnwire::dialect::Dialect;
///
/// let mut transcoder = Transcoder::new(Dialect::AGENT, Dialect::RESPOND)?;
/// let mut out = Vec::new();
/// transcoder.feed(b"data: {\"type\":\"text_delta\",\"text\":\"Hi\"}\n\n", &mut out);
/// assert_eq!(out, b"data: {\"type\":\"text\",\"text\":\"Hi\",\"done\":false}\n\n");
/// # Ok::<(), turnwire::error::CallerError>(())
/// ```
pub struct Transcoder {
    decoder: Decoder,
    bridge: Bridge,
}

/// From events to the target.
struct Bridge {
    source: Dialect,
    emitter: Emitter,
    turns: u64,
    begun: bool,
    exit: Exit,
    /// Frames of the source that nothing else has a word for.
    unknown: u64,
    /// Events read.
    events: u64,
    diagnostics: Diagnostics,
}

struct Exit {
    target: Dialect,
    encoder: Encoder,
    next_seq: u64,
    ts_ms: Option<u64>,
}

impl Exit {
    fn write(&mut self, event: &Event<'_>, out: &mut Vec<u8>) {
        let seq = self.encoder.numbers_events().then_some(self.next_seq);
        self.next_seq = self.next_seq.saturating_add(1);
        self.encoder.encode(&Stamp::new(seq, None, self.ts_ms), event, out);
    }
}

/// The emitter of the `n`th turn: results find calls as in the source, the rest is as the target
/// has it.
fn emitter(source: Dialect, target: Dialect, n: u64) -> Result<Emitter, CallerError> {
    let mut seed = [0; 16];
    for (byte, part) in seed.iter_mut().zip(n.to_le_bytes()) {
        *byte = part;
    }
    Emitter::new(EmitterOptions {
        seed: Seed(seed),
        rules: Rules { pairing: source.rules().pairing, ..*target.rules() },
        ..EmitterOptions::default()
    })
}

impl Transcoder {
    /// From the channel that streams a turn of `source` to that of `target`.
    ///
    /// # Errors
    ///
    /// None today; a dialect without such a channel would be one.
    pub fn new(source: Dialect, target: Dialect) -> Result<Self, CallerError> {
        Ok(Self {
            decoder: Decoder::new(source, None)?,
            bridge: Bridge {
                source,
                emitter: emitter(source, target, 1)?,
                turns: 1,
                begun: false,
                exit: Exit {
                    target,
                    encoder: Encoder::new(target, None)?,
                    next_seq: 1,
                    ts_ms: None,
                },
                unknown: 0,
                events: 0,
                diagnostics: Diagnostics::default(),
            },
        })
    }

    /// Reads a chunk and appends what the events that it completes become. Linear in the chunk.
    pub fn feed(&mut self, chunk: &[u8], out: &mut Vec<u8>) {
        let Self { decoder, bridge } = self;
        decoder.feed(chunk, &mut |envelope| bridge.pass(envelope, out));
    }

    /// The source has ended: appends a legal ending if a turn is open.
    pub fn finish(&mut self, out: &mut Vec<u8>) {
        let Self { decoder, bridge } = self;
        decoder.finish(&mut |envelope| bridge.pass(envelope, out));
        bridge.end(out);
    }

    /// What the target could not say in full, by kind, with how often.
    #[must_use]
    pub fn losses(&self) -> Vec<(EventKind, u64)> {
        let mut losses = self.bridge.exit.encoder.losses().to_vec();
        if self.bridge.unknown > 0 {
            losses.push((EventKind::Unknown, self.bridge.unknown));
        }
        losses
    }

    /// What was odd: in the bytes, at their offset; in the order of events, at the event's number.
    pub fn diagnostics(&mut self) -> &mut Diagnostics {
        self.bridge.diagnostics.absorb(self.decoder.diagnostics());
        self.bridge.diagnostics.absorb(self.bridge.emitter.diagnostics());
        &mut self.bridge.diagnostics
    }
}

impl Bridge {
    fn pass(&mut self, envelope: &Envelope<'_>, out: &mut Vec<u8>) {
        self.events = self.events.saturating_add(1);
        self.exit.ts_ms = envelope.ts_ms.or(self.exit.ts_ms);
        let event = &envelope.event;
        let kind = event.kind();
        if kind == EventKind::Unknown && self.source != self.exit.target {
            self.unknown = self.unknown.saturating_add(1);
            return;
        }
        let trailer = matches!(event, Event::Done(done) if done.status.is_some());
        if self.emitter.is_finished() && kind.belongs_to_turn() && !trailer {
            self.next_turn();
        }
        if !kind.belongs_to_turn() && (!self.begun || self.emitter.is_finished()) {
            // Of no turn, and none is to begin because of it.
            return self.exit.write(event, out);
        }
        self.begun = true;
        let Self { emitter, exit, .. } = self;
        let said = match named(envelope) {
            Some(start) => emitter.emit(&start, Millis(0), &mut |event| exit.write(event, out)),
            None => emitter.emit(event, Millis(0), &mut |event| exit.write(event, out)),
        };
        if let Err(refused) = said {
            let detail = refused.detail.as_deref().unwrap_or_else(|| kind.name());
            self.diagnostics.push_with(refused.code, self.events, detail);
        }
    }

    fn next_turn(&mut self) {
        self.turns = self.turns.saturating_add(1);
        if let Ok(next) = emitter(self.source, self.exit.target, self.turns) {
            self.diagnostics.absorb(self.emitter.diagnostics());
            self.emitter = next;
            self.begun = false;
        }
    }

    /// Ends an open turn as a reader of the source would take the end of its stream.
    fn end(&mut self, out: &mut Vec<u8>) {
        if !self.begun || self.emitter.is_finished() {
            return;
        }
        let Self { emitter, exit, .. } = self;
        let sink = &mut |event: &Event<'_>| exit.write(event, out);
        let lenient = self.source.rules().eof_turn == Eof::Agent;
        let blank = crate::text::is_blank(emitter.text_so_far());
        // Neither is refused: the one has no usage, the other nothing to check.
        let _ = match (lenient, blank) {
            (true, false) => emitter.finish(Finish::default(), sink),
            (true, true) => emitter.fail(Failure::new(EMPTY), sink),
            (false, _) => emitter.fail(Failure::new(ENDED_EARLY), sink),
        };
    }
}

/// A turn's start with the ids that only the envelope named.
fn named(envelope: &Envelope<'_>) -> Option<Event<'static>> {
    let Event::TurnStarted(start) = &envelope.event else { return None };
    let mut start = start.clone().into_owned();
    let fill = |own: &mut Option<crate::event::Str<'static>>, id: Option<&str>| {
        if own.is_none() {
            *own = id.map(|id| String::from(id).into());
        }
    };
    fill(&mut start.turn_id, envelope.turn_id.as_deref());
    fill(&mut start.session_id, envelope.session_id.as_deref());
    fill(&mut start.workspace_id, envelope.workspace_id.as_deref());
    Some(start.into())
}
