//! The backend's end: callbacks in, the bytes of one connection or the entries of a log out.

use alloc::collections::VecDeque;
use alloc::string::String;
use alloc::vec::Vec;

use super::Entry;
use super::transcript::Transcript;
use crate::dialect::{Dialect, Encoder, JsonFailure, JsonTurn, Stamp};
use crate::error::{CallerError, Code, Diagnostics};
use crate::event::{Event, EventKind, OutputStream, Rules, ToolStart, TurnStarted};
use crate::ids::Seed;
use crate::limits::{FIRST_SEQ_END, KEEPALIVE_MS};
use crate::request::{Headers, JSON_HEADERS};
use crate::time::{Clock, Millis, TimeoutReason};
use crate::turn::{Emitter, EmitterOptions, Ending, Failure, Finish, Settled, Sink, ToolOutcome};

/// What a [`Turn`] is made with.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct TurnOptions {
    /// The working directory at the start, relative to the workspace; its root if absent.
    pub cwd: Option<String>,
    /// The tools that count as tools of the filesystem, by name.
    pub fs_tools: Vec<String>,
    /// Silence after which a keepalive is due, in milliseconds; 0 for never.
    pub keepalive_ms: u64,
    /// The moment of construction on the caller's monotonic clock.
    pub now: Millis,
    /// The same moment in Unix milliseconds.
    pub wall_ms: u64,
    /// The source of the ids that the turn makes.
    pub seed: Seed,
    /// The number of the first event, in dialects that number theirs, below 2^53.
    pub first_seq: u64,
}

impl Default for TurnOptions {
    fn default() -> Self {
        Self {
            cwd: None,
            fs_tools: EmitterOptions::default().fs_tools,
            keepalive_ms: KEEPALIVE_MS,
            now: Millis(0),
            wall_ms: 0,
            seed: Seed::default(),
            first_seq: 1,
        }
    }
}

/// One turn of an agent, from its callbacks to the bytes of a protocol.
///
/// After each call, send what it appended to `out`; there is nothing else to drain. Then wait for
/// [`poll_timeout`](Self::poll_timeout).
///
/// | class | methods |
/// |---|---|
/// | what the backend's code says | [`start`](Self::start), [`step`](Self::step), [`text`](Self::text), [`tool_start`](Self::tool_start), …, [`emit`](Self::emit) |
/// | what waits for a person | [`ask`](Self::ask), [`answer`](Self::answer), [`require_approval`](Self::require_approval), …, [`settled`](Self::settled) |
/// | how it ends | [`finish`](Self::finish), [`fail`](Self::fail), [`cancel`](Self::cancel), [`shutdown`](Self::shutdown) |
/// | what happens to it | [`handle_timeout`](Self::handle_timeout) |
/// | what it wants | [`poll_timeout`](Self::poll_timeout), [`poll_entry`](Self::poll_entry) |
///
/// A refused call changes nothing and appends nothing. A call after the end appends nothing and
/// leaves a diagnostic, since a race makes it normal.
///
/// ```
/// use turnwire::dialect::Dialect;
/// use turnwire::event::ToolStart;
/// use turnwire::time::Millis;
/// use turnwire::turn::{Finish, Output, ToolOutcome};
/// use turnwire::{Turn, TurnOptions};
///
/// let mut turn = Turn::new(Some(Dialect::AGENT), TurnOptions::default())?;
/// let (now, mut out) = (Millis(0), Vec::new());
/// turn.tool_start(now, ToolStart::new("pwd"), &mut out)?;
/// turn.tool_result(now, ToolOutcome::new("pwd", Output::Text("pwd: src")), &mut out)?;
/// turn.text(now, "You are in src.", &mut out)?;
/// turn.finish(now, Finish::default(), &mut out)?;
/// let text = String::from_utf8(out).expect("JSON is text");
/// assert!(text.starts_with("data: {\"type\":\"tool_start\",\"name\":\"pwd\"}\n\n"));
/// assert!(text.ends_with(",\"cwd\":\".\"}\n\n"));
/// # Ok::<(), turnwire::error::CallerError>(())
/// ```
pub struct Turn {
    emitter: Emitter,
    exit: Exit,
}

/// Where the events go.
struct Exit {
    dialect: Option<Dialect>,
    encoder: Option<Encoder>,
    entries: VecDeque<Entry>,
    transcript: Transcript,
    /// The dialect's JSON answer holds the messages, so they are kept.
    keeps_transcript: bool,
    clock: Clock,
    next_seq: u64,
    turn_id: Option<String>,
    keepalive_ms: u64,
    last_byte: Millis,
}

impl Turn {
    /// A turn that has not begun: for one connection of `dialect`, or with `None` for a log.
    ///
    /// # Errors
    ///
    /// [`Code::BadOption`] if `cwd` is no path below the workspace, or for a `first_seq` that has
    /// no room for those that follow.
    pub fn new(dialect: Option<Dialect>, options: TurnOptions) -> Result<Self, CallerError> {
        if options.first_seq >= FIRST_SEQ_END {
            return Err(CallerError::new(Code::BadOption).with("first_seq"));
        }
        let rules = dialect.map_or(Rules::CANONICAL, |dialect| *dialect.rules());
        let emitter = Emitter::new(EmitterOptions {
            cwd: options.cwd,
            fs_tools: options.fs_tools,
            seed: options.seed,
            rules,
        })?;
        let encoder = dialect.map(|dialect| Encoder::new(dialect, None)).transpose()?;
        let exit = Exit {
            dialect,
            encoder,
            entries: VecDeque::new(),
            transcript: Transcript::default(),
            keeps_transcript: dialect
                .and_then(Dialect::json_answer)
                .is_some_and(|form| form.has_messages),
            clock: Clock::new(options.now, options.wall_ms),
            next_seq: options.first_seq,
            turn_id: None,
            keepalive_ms: options.keepalive_ms,
            last_byte: options.now,
        };
        Ok(Self { emitter, exit })
    }

    /// The turn begins. Implied, with nothing known of it, by the first of the other calls.
    ///
    /// # Errors
    ///
    /// [`Code::AlreadyStarted`].
    pub fn start(
        &mut self,
        now: Millis,
        start: TurnStarted<'_>,
        out: &mut Vec<u8>,
    ) -> Result<(), CallerError> {
        self.say(now, out, |emitter, sink| emitter.start(start, sink))
    }

    /// The next model call begins; the first is implied.
    ///
    /// # Errors
    ///
    /// As [`Emitter::step`].
    pub fn step(&mut self, now: Millis, out: &mut Vec<u8>) -> Result<(), CallerError> {
        self.say(now, out, |emitter, sink| emitter.step(sink))
    }

    /// What the running step cost, as a JSON object; the steps' numbers are summed in `done`.
    ///
    /// # Errors
    ///
    /// As [`Emitter::step_usage`].
    pub fn step_usage(&mut self, usage: &str) -> Result<(), CallerError> {
        self.emitter.step_usage(usage)
    }

    /// A piece of reasoning. An empty one says nothing.
    ///
    /// # Errors
    ///
    /// As [`Emitter::reasoning`].
    pub fn reasoning(
        &mut self,
        now: Millis,
        text: &str,
        out: &mut Vec<u8>,
    ) -> Result<(), CallerError> {
        self.say(now, out, |emitter, sink| emitter.reasoning(text, sink))
    }

    /// A piece of the answer. An empty one says nothing.
    ///
    /// # Errors
    ///
    /// As [`Emitter::text`].
    pub fn text(&mut self, now: Millis, text: &str, out: &mut Vec<u8>) -> Result<(), CallerError> {
        self.say(now, out, |emitter, sink| emitter.text(text, sink))
    }

    /// The model begins to write a call.
    ///
    /// # Errors
    ///
    /// As [`Emitter::tool_call`].
    pub fn tool_call(
        &mut self,
        now: Millis,
        call_id: &str,
        name: &str,
        out: &mut Vec<u8>,
    ) -> Result<(), CallerError> {
        self.say(now, out, |emitter, sink| emitter.tool_call(call_id, name, sink))
    }

    /// A piece of a call's arguments.
    ///
    /// # Errors
    ///
    /// As [`Emitter::tool_args_delta`].
    pub fn tool_args_delta(
        &mut self,
        now: Millis,
        call_id: &str,
        delta: &str,
        out: &mut Vec<u8>,
    ) -> Result<(), CallerError> {
        self.say(now, out, |emitter, sink| emitter.tool_args_delta(call_id, delta, sink))
    }

    /// A call's arguments are complete; blank ones mean `{}`.
    ///
    /// # Errors
    ///
    /// As [`Emitter::tool_args`].
    pub fn tool_args(
        &mut self,
        now: Millis,
        call_id: &str,
        args: &str,
        out: &mut Vec<u8>,
    ) -> Result<(), CallerError> {
        self.say(now, out, |emitter, sink| emitter.tool_args(call_id, args, sink))
    }

    /// A tool begins to run.
    ///
    /// # Errors
    ///
    /// As [`Emitter::tool_start`].
    pub fn tool_start(
        &mut self,
        now: Millis,
        start: ToolStart<'_>,
        out: &mut Vec<u8>,
    ) -> Result<(), CallerError> {
        self.say(now, out, |emitter, sink| emitter.tool_start(start, sink))
    }

    /// Live output of a running tool.
    ///
    /// # Errors
    ///
    /// As [`Emitter::tool_output`].
    pub fn tool_output(
        &mut self,
        now: Millis,
        call_id: &str,
        stream: OutputStream,
        text: &str,
        out: &mut Vec<u8>,
    ) -> Result<(), CallerError> {
        self.say(now, out, |emitter, sink| emitter.tool_output(call_id, stream, text, sink))
    }

    /// A tool came to something.
    ///
    /// # Errors
    ///
    /// As [`Emitter::tool_result`].
    pub fn tool_result(
        &mut self,
        now: Millis,
        outcome: ToolOutcome<'_>,
        out: &mut Vec<u8>,
    ) -> Result<(), CallerError> {
        self.say(now, out, |emitter, sink| emitter.tool_result(outcome, sink))
    }

    /// Any event of the vocabulary; it behaves as the call of its name.
    ///
    /// # Errors
    ///
    /// As that call.
    pub fn emit(
        &mut self,
        now: Millis,
        event: &Event<'_>,
        out: &mut Vec<u8>,
    ) -> Result<(), CallerError> {
        self.say(now, out, |emitter, sink| emitter.emit(event, now, sink))
    }

    /// The turn is over. Without a text of its own: what was streamed.
    ///
    /// # Errors
    ///
    /// As [`Emitter::finish`].
    pub fn finish(
        &mut self,
        now: Millis,
        finish: Finish<'_>,
        out: &mut Vec<u8>,
    ) -> Result<(), CallerError> {
        self.say(now, out, |emitter, sink| emitter.finish(finish, sink))
    }

    /// The turn failed.
    ///
    /// # Errors
    ///
    /// As [`Emitter::fail`].
    pub fn fail(
        &mut self,
        now: Millis,
        failure: Failure<'_>,
        out: &mut Vec<u8>,
    ) -> Result<(), CallerError> {
        self.say(now, out, |emitter, sink| emitter.fail(failure, sink))
    }

    /// Somebody stopped the turn.
    ///
    /// # Errors
    ///
    /// As [`Emitter::cancel`].
    pub fn cancel(&mut self, now: Millis, by: &str, out: &mut Vec<u8>) -> Result<(), CallerError> {
        self.say(now, out, |emitter, sink| emitter.cancel(by, sink))
    }

    /// Time has passed: settles the questions and approvals whose time is over, then appends a
    /// keepalive if one is due. A spurious wake-up appends nothing.
    pub fn handle_timeout(&mut self, now: Millis, out: &mut Vec<u8>) {
        // Settling refuses nothing.
        let _ = self.say(now, out, |emitter, sink| {
            emitter.handle_timeout(now, sink);
            Ok(())
        });
        if self.keepalive_at().is_some_and(|at| at <= now)
            && let Some(encoder) = &self.exit.encoder
        {
            encoder.keepalive(out);
            self.exit.last_byte = now;
        }
    }

    /// When to call [`handle_timeout`](Self::handle_timeout), and why: the earlier of the next
    /// expiry and the next keepalive. `None` after the end; a turn that goes to a log has no
    /// keepalive.
    #[must_use]
    pub fn poll_timeout(&self) -> Option<(Millis, TimeoutReason)> {
        let keepalive = self.keepalive_at().map(|at| (at, TimeoutReason::Keepalive));
        let expiry = self.emitter.poll_timeout();
        expiry.into_iter().chain(keepalive).min_by_key(|(at, _)| *at)
    }

    fn keepalive_at(&self) -> Option<Millis> {
        let exit = &self.exit;
        let alive = exit.encoder.is_some() && exit.keepalive_ms > 0 && !self.is_finished();
        alive.then(|| exit.last_byte + exit.keepalive_ms)
    }

    /// The next entry for the log, of a turn made without a dialect.
    #[must_use]
    pub fn poll_entry(&mut self) -> Option<Entry> {
        self.exit.entries.pop_front()
    }

    /// Whether the turn has ended.
    #[must_use]
    pub const fn is_finished(&self) -> bool {
        self.emitter.is_finished()
    }

    /// How the turn ended, once it has.
    #[must_use]
    pub const fn ending(&self) -> Option<&Ending> {
        self.emitter.ending()
    }

    /// The headers of the streamed answer, its content type among them; none for a log.
    #[must_use]
    pub fn headers(&self) -> Headers {
        self.exit.dialect.and_then(|dialect| dialect.headers(None).ok()).unwrap_or_default()
    }

    /// The content type of the streamed answer; blank for a log.
    #[must_use]
    pub fn content_type(&self) -> &'static str {
        let found = self.headers().iter().find(|(name, _)| *name == "content-type");
        found.map_or("", |(_, value)| value)
    }

    /// The headers of the JSON answer.
    #[must_use]
    pub const fn json_headers(&self) -> Headers {
        JSON_HEADERS
    }

    /// Status and body of the answer to a client that did not ask for a stream.
    ///
    /// # Errors
    ///
    /// [`Code::NoJsonForm`] if the dialect has none, [`Code::NotFinished`] before the end.
    pub fn json_response(&self) -> Result<(u16, Vec<u8>), CallerError> {
        let form = self.exit.dialect.and_then(Dialect::json_answer);
        let form = form.ok_or(Code::NoJsonForm)?;
        let failure = match self.emitter.ending() {
            None => return Err(Code::NotFinished.into()),
            Some(Ending::Finished) => None,
            Some(Ending::Cancelled { .. }) => Some(JsonFailure::Cancelled),
            Some(Ending::Failed { message, status, .. }) => {
                Some(JsonFailure::Error { message, status: *status })
            }
        };
        Ok((form.answer)(&JsonTurn {
            text: self.emitter.text_so_far(),
            trace: self.emitter.trace(),
            cwd: self.emitter.cwd(),
            failure,
            messages: &self.exit.transcript.messages,
            done: self.exit.transcript.done.as_ref(),
        }))
    }

    /// The events that the dialect could not say in full, by kind, with how often.
    #[must_use]
    pub fn losses(&self) -> &[(EventKind, u64)] {
        self.exit.encoder.as_ref().map_or(&[], Encoder::losses)
    }

    /// What was odd.
    pub const fn diagnostics(&mut self) -> &mut Diagnostics {
        self.emitter.diagnostics()
    }

    pub(super) fn take_settled(&mut self) -> Vec<Settled> {
        self.emitter.settled()
    }

    pub(super) fn say(
        &mut self,
        now: Millis,
        out: &mut Vec<u8>,
        call: impl FnOnce(&mut Emitter, &mut Sink<'_>) -> Result<(), CallerError>,
    ) -> Result<(), CallerError> {
        let Self { emitter, exit } = self;
        let before = out.len();
        let said = call(emitter, &mut |event| exit.give(event, now, out));
        if out.len() > before {
            exit.last_byte = now;
        }
        said
    }
}

impl Exit {
    fn give(&mut self, event: &Event<'_>, now: Millis, out: &mut Vec<u8>) {
        let ts_ms = self.clock.wall(now);
        if self.keeps_transcript {
            self.transcript.add(event);
        }
        if let Some(encoder) = &mut self.encoder {
            let seq = encoder.numbers_events().then_some(self.next_seq);
            self.next_seq = self.next_seq.saturating_add(1);
            encoder.append(&Stamp::new(seq, None, Some(ts_ms)), event, out);
        } else {
            if let Event::TurnStarted(start) = event {
                self.turn_id = start.turn_id.as_deref().map(String::from);
            }
            self.entries.push_back(Entry::new(event, ts_ms, self.turn_id.as_deref()));
        }
    }
}
