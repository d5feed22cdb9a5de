//! The turn and the log of a session.

use alloc::collections::BTreeMap;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::fanout::{Fanout, Stored};
use super::reader::Reader;
use crate::error::{CallerError, Code, Diagnostics};
use crate::event::{Answer, Decision, Envelope, Event, EventKind, Rules, TurnStarted};
use crate::ids::{IdMaker, Seed};
use crate::limits::{LOG_CAPACITY_ENTRIES, LOG_MAX_BYTES};
use crate::log::{Log, LogOptions, ReaderId};
use crate::time::{Clock, Millis, TimeoutReason};
use crate::turn::{Emitter, EmitterOptions, Ending, Settled, Sink};

/// What a [`Session`] is made with.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct SessionOptions {
    /// The session.
    pub session_id: String,
    /// The workspace it belongs to.
    pub workspace_id: String,
    /// The epoch of its numbers; belongs to what the store has, so a restart keeps it.
    pub epoch: String,
    /// The newest number in the store.
    pub head: u64,
    /// Numbers of the starts of turns in the store, oldest first, as far back as they are known.
    pub anchors: Vec<u64>,
    /// Whether a store behind the log can be asked for what is no longer kept.
    pub store: bool,
    /// Entries that the log keeps.
    pub capacity: usize,
    /// Bytes of entries that the log keeps.
    pub max_bytes: usize,
    /// Entries that a reader may lag behind before it is cut off; no bound if absent.
    pub max_lag: Option<u64>,
    /// The working directory of the first turn.
    pub cwd: Option<String>,
    /// The moment of construction on the caller's monotonic clock.
    pub now: Millis,
    /// The same moment in Unix milliseconds.
    pub wall_ms: u64,
    /// The source of the ids that the session makes.
    pub seed: Seed,
}

impl SessionOptions {
    /// A new session with a log in memory.
    #[must_use]
    pub fn new(session_id: &str, epoch: &str) -> Self {
        Self {
            session_id: session_id.to_string(),
            workspace_id: String::from("default"),
            epoch: epoch.to_string(),
            head: 0,
            anchors: Vec::new(),
            store: false,
            capacity: LOG_CAPACITY_ENTRIES,
            max_bytes: LOG_MAX_BYTES,
            max_lag: None,
            cwd: None,
            now: Millis(0),
            wall_ms: 0,
            seed: Seed::default(),
        }
    }
}

/// One session: at most one running turn, one log, any number of readers in any dialects.
///
/// > After each call: give [`poll_store`](Self::poll_store) to the store until `None`, and poll the
/// > readers that are [`ready`](Self::ready) as fast as each can take.
///
/// | class | methods |
/// |---|---|
/// | the turn | [`start_turn`](Self::start_turn), [`say`](Self::say), [`handle_stop`](Self::handle_stop), [`handle_shutdown`](Self::handle_shutdown) |
/// | the user | [`answer`](Self::answer), [`resolve_approval`](Self::resolve_approval), [`resolve_plan`](Self::resolve_plan) |
/// | the code that waits | [`settled`](Self::settled) |
/// | the store | [`poll_store`](Self::poll_store), [`handle_persisted`](Self::handle_persisted), [`handle_persist_failed`](Self::handle_persist_failed), [`handle_fetched`](Self::handle_fetched) |
/// | readers | [`attach`](Self::attach), [`poll_reader`](Self::poll_reader), [`detach`](Self::detach) |
/// | time | [`poll_timeout`](Self::poll_timeout), [`handle_timeout`](Self::handle_timeout) |
pub struct Session {
    pub(super) options: SessionOptions,
    pub(super) log: Log<Stored>,
    pub(super) turn: Option<Running>,
    pub(super) fanouts: Vec<Fanout>,
    pub(super) readers: BTreeMap<ReaderId, Reader>,
    clock: Clock,
    ids: IdMaker,
    settled: Vec<Settled>,
}

/// The turn that runs, or that ran last: late answers are told what became of their question.
pub(super) struct Running {
    pub id: String,
    pub emitter: Emitter,
}

impl Session {
    /// A session whose log goes on from `head`, with no turn running.
    ///
    /// # Errors
    ///
    /// Those of [`Log::new`]; [`Code::BadOption`] if `cwd` is no path below the workspace.
    pub fn new(options: SessionOptions) -> Result<Self, CallerError> {
        emitter(&options)?;
        let mut log = LogOptions::new(&options.epoch);
        log.capacity = options.capacity;
        log.max_bytes = options.max_bytes;
        log.store = options.store;
        log.head = options.head;
        log.anchors.clone_from(&options.anchors);
        log.max_lag = options.max_lag;
        Ok(Self {
            log: Log::new(log)?,
            turn: None,
            fanouts: Vec::new(),
            readers: BTreeMap::new(),
            clock: Clock::new(options.now, options.wall_ms),
            ids: IdMaker::resume(options.seed, options.head),
            settled: Vec::new(),
            options,
        })
    }

    /// A turn begins. What `start` does not name is filled in: the session, the workspace, and an
    /// id of the turn that is made. Returns the turn's id.
    ///
    /// # Errors
    ///
    /// [`Code::Busy`] while one runs; [`Code::StoreFailed`]; [`Code::TooManyWaiting`].
    pub fn start_turn(
        &mut self,
        now: Millis,
        start: TurnStarted<'_>,
    ) -> Result<String, CallerError> {
        if self.is_busy() {
            return Err(Code::Busy.into());
        }
        let mut start = start.into_owned();
        let id = match &start.turn_id {
            Some(id) => id.to_string(),
            None => self.ids.next("turn_"),
        };
        start.turn_id = Some(id.clone().into());
        start.session_id = Some(self.options.session_id.clone().into());
        start.workspace_id = Some(self.options.workspace_id.clone().into());
        self.turn = Some(Running { id: id.clone(), emitter: emitter(&self.options)? });
        self.say(now, |turn, sink| turn.start(start, sink))?;
        Ok(id)
    }

    /// The turn says something: any verb of [`Emitter`].
    ///
    /// # Errors
    ///
    /// [`Code::NotStarted`] if no turn was started, those of the verb, and those of
    /// [`Log::append`].
    pub fn say<T>(
        &mut self,
        now: Millis,
        verb: impl FnOnce(&mut Emitter, &mut Sink<'_>) -> Result<T, CallerError>,
    ) -> Result<T, CallerError> {
        let Some(mut turn) = self.turn.take() else { return Err(Code::NotStarted.into()) };
        let ts_ms = self.clock.wall(now);
        let mut refused = None;
        let said = verb(&mut turn.emitter, &mut |event| {
            if refused.is_none() {
                refused = self.append(event, &turn.id, ts_ms).err();
            }
        });
        self.settled.extend(turn.emitter.settled());
        if turn.emitter.is_finished()
            && let Some(cwd) = turn.emitter.cwd()
            && matches!(turn.emitter.ending(), Some(Ending::Finished))
        {
            self.options.cwd = Some(cwd.to_string());
        }
        self.turn = Some(turn);
        match refused {
            Some(error) => Err(error),
            None => said,
        }
    }

    /// The user answered a question. An answer counts once.
    ///
    /// # Errors
    ///
    /// As [`Emitter::answer`]; [`Code::UnknownId`] if no turn was started.
    pub fn answer(
        &mut self,
        now: Millis,
        question_id: &str,
        answers: &[Answer<'_>],
    ) -> Result<(), CallerError> {
        self.of_turn(question_id)?;
        self.say(now, |turn, sink| turn.answer(question_id, answers, sink))
    }

    /// The user decided on an approval.
    ///
    /// # Errors
    ///
    /// As [`Emitter::resolve_approval`]; [`Code::UnknownId`] if no turn was started.
    pub fn resolve_approval(
        &mut self,
        now: Millis,
        approval_id: &str,
        decision: Decision,
        by: &str,
    ) -> Result<(), CallerError> {
        self.of_turn(approval_id)?;
        self.say(now, |turn, sink| turn.resolve_approval(approval_id, decision, by, sink))
    }

    /// The user decided on the plan.
    ///
    /// # Errors
    ///
    /// As [`Emitter::resolve_plan`]; [`Code::UnknownId`] if no turn was started.
    pub fn resolve_plan(
        &mut self,
        now: Millis,
        approved: bool,
        edits: Option<&str>,
        reason: Option<&str>,
    ) -> Result<(), CallerError> {
        self.of_turn("plan")?;
        self.say(now, |turn, sink| turn.resolve_plan(approved, edits, reason, sink))
    }

    /// Somebody stops the turn. Returns whether one ran.
    ///
    /// # Errors
    ///
    /// Those of [`Log::append`].
    pub fn handle_stop(&mut self, now: Millis, by: &str) -> Result<bool, CallerError> {
        let ran = self.is_busy();
        if ran {
            self.say(now, |turn, sink| turn.cancel(by, sink))?;
        }
        Ok(ran)
    }

    /// The server stops: what waits is settled so, and the turn is cancelled.
    ///
    /// # Errors
    ///
    /// Those of [`Log::append`].
    pub fn handle_shutdown(&mut self, now: Millis) -> Result<(), CallerError> {
        if self.is_busy() {
            self.say(now, |turn, sink| turn.shutdown(sink))?;
        }
        Ok(())
    }

    /// Time has passed: settles what is due. A spurious wake-up does nothing.
    ///
    /// # Errors
    ///
    /// Those of [`Log::append`].
    pub fn handle_timeout(&mut self, now: Millis) -> Result<(), CallerError> {
        if self.poll_timeout().is_some_and(|(at, _)| at <= now) {
            self.say(now, |turn, sink| {
                turn.handle_timeout(now, sink);
                Ok(())
            })?;
        }
        Ok(())
    }

    /// When a question or an approval of the turn expires. Readers have deadlines of their own:
    /// [`reader_timeout`](Self::reader_timeout).
    #[must_use]
    pub fn poll_timeout(&self) -> Option<(Millis, TimeoutReason)> {
        self.turn.as_ref()?.emitter.poll_timeout()
    }

    /// What was settled by any cause since last asked: wakes the code that waits.
    #[must_use]
    pub fn settled(&mut self) -> Vec<Settled> {
        core::mem::take(&mut self.settled)
    }

    /// The next entry for the store: its number and its JSON.
    #[must_use]
    pub fn poll_store(&mut self) -> Option<(u64, &[u8])> {
        self.log.poll_store().map(|(seq, entry)| (seq, &**entry))
    }

    /// The store has everything up to `seq`.
    pub fn handle_persisted(&mut self, seq: u64) {
        self.log.handle_persisted(seq);
    }

    /// The store could not take `seq`: nothing from it on is ever given to anybody.
    pub fn handle_persist_failed(&mut self, seq: u64) {
        self.log.handle_persist_failed(seq);
    }

    /// What the store answered to [`Polled::Fetch`](super::Polled::Fetch).
    pub fn handle_fetched(&mut self, reader: ReaderId, entries: Vec<(u64, Vec<u8>)>) {
        let entries = entries.into_iter().map(|(seq, entry)| (seq, Stored::from(entry)));
        self.log.handle_fetched(reader, entries);
    }

    /// Whether a turn runs.
    #[must_use]
    pub fn is_busy(&self) -> bool {
        self.turn.as_ref().is_some_and(|turn| !turn.emitter.is_finished())
    }

    /// The turn that runs, or ran last.
    #[must_use]
    pub fn turn(&self) -> Option<(&str, &Emitter)> {
        self.turn.as_ref().map(|turn| (turn.id.as_str(), &turn.emitter))
    }

    /// The log.
    #[must_use]
    pub const fn head(&self) -> u64 {
        self.log.persisted()
    }

    /// Calls that came too late, of readers and of the store.
    pub const fn diagnostics(&mut self) -> &mut Diagnostics {
        self.log.diagnostics()
    }

    /// Puts an event into the log that the emitter has said before.
    pub(super) fn append_to_turn(
        &mut self,
        now: Millis,
        event: &Event<'_>,
    ) -> Result<(), CallerError> {
        let id = self.turn.as_ref().map(|turn| turn.id.clone()).unwrap_or_default();
        let ts_ms = self.clock.wall(now);
        self.append(event, &id, ts_ms)
    }

    /// Puts an event into the log and encodes it for the dialects in use.
    pub(super) fn append(
        &mut self,
        event: &Event<'_>,
        turn_id: &str,
        ts_ms: u64,
    ) -> Result<(), CallerError> {
        let seq = self.log.head().saturating_add(1);
        let mut envelope = Envelope::new(event.clone());
        envelope.seq = Some(seq);
        envelope.ts_ms = Some(ts_ms);
        envelope.turn_id = Some(turn_id.into());
        let bytes = serde_json::to_vec(&envelope)
            .map_err(|_| CallerError::new(Code::BadJson).with(event.kind().name()))?;
        self.log.append(bytes.into(), event.kind() == EventKind::TurnStarted)?;
        for fanout in &mut self.fanouts {
            fanout.push(&self.options.epoch, &envelope);
        }
        Ok(())
    }

    fn of_turn(&self, id: &str) -> Result<(), CallerError> {
        match self.turn {
            Some(_) => Ok(()),
            None => Err(CallerError::new(Code::UnknownId).with(id)),
        }
    }
}

/// The emitter of a turn whose events go into a log.
pub(super) fn emitter(options: &SessionOptions) -> Result<Emitter, CallerError> {
    Emitter::new(EmitterOptions {
        cwd: options.cwd.clone(),
        rules: Rules::CANONICAL,
        seed: Seed(seeded(options)),
        ..EmitterOptions::default()
    })
}

/// A seed of its own for each session, so that calls of two of them have different ids.
fn seeded(options: &SessionOptions) -> [u8; 16] {
    let mut seed = options.seed.0;
    for (at, byte) in options.session_id.bytes().enumerate() {
        if let Some(place) = seed.get_mut(at % 16) {
            *place = place.rotate_left(3) ^ byte;
        }
    }
    seed
}
