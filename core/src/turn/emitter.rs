//! The emitter: its state, and the verbs of a model.

use alloc::borrow::Cow;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::ending::Ending;
use super::fit::{ESCAPED_BYTES_MAX, escaped_len, fits, pieces, short};
use super::order::{Irregular, Order, Phase, separates};
use super::usage::Usage;
use super::waits::Waits;
use crate::error::{CallerError, Code, Diagnostics};
use crate::event::{
    Event, Message, ReasoningDelta, Role, Rules, TextDelta, TraceEntry, TurnStarted,
};
use crate::ids::{IdMaker, Seed};
use crate::limits::{DELTA_MAX_ESCAPED_BYTES, MESSAGE_MAX_ESCAPED_BYTES};
use crate::text::relative_path;

/// Where an emitter's events go, in order.
pub type Sink<'s> = dyn FnMut(&Event<'_>) + 's;

/// How an emitter works.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct EmitterOptions {
    /// The working directory at the turn's start, relative to the workspace; its root if absent.
    pub cwd: Option<String>,
    /// The tools that work on the filesystem: if one ran, `done` says the working directory.
    pub fs_tools: Vec<String>,
    /// What the ids of calls are made of that the caller gave none.
    pub seed: Seed,
    /// What the stream's dialect differs in.
    pub rules: Rules,
}

impl Default for EmitterOptions {
    fn default() -> Self {
        const FS_TOOLS: [&str; 7] =
            ["read_file", "list_dir", "write_file", "str_replace", "change_dir", "pwd", "exec"];
        Self {
            cwd: None,
            fs_tools: FS_TOOLS.iter().map(ToString::to_string).collect(),
            seed: Seed::default(),
            rules: Rules::CANONICAL,
        }
    }
}

/// One turn, from the callbacks of a model and its tools to events in legal order.
///
/// Each verb gives its events to the sink at once; nothing is queued. The rules it keeps:
///
/// - `turn_started` comes first, implied by the first verb if [`start`](Self::start) was not called.
/// - Every text delta is covered by a later `message` of its step: before a call, at the next step,
///   and at the end.
/// - Before a terminal, everything open is settled as interrupted. There is one terminal; after
///   `error` or `cancelled` comes one trailer. A call that comes later gives nothing but a
///   diagnostic, since a race makes that normal.
/// - A refused call gives nothing and changes nothing, except that it counts as a call for the
///   position that diagnostics name.
///
/// The work is linear in the bytes given. What is kept is the turn's text, one summary line for
/// each result, and the bounded sets of ids that are open or settled.
///
/// ```
/// use turnwire::event::{EventKind, ToolStart};
/// use turnwire::turn::{Emitter, EmitterOptions, Finish, Output, ToolOutcome};
///
/// let mut turn = Emitter::new(EmitterOptions::default())?;
/// let mut kinds = Vec::new();
/// let sink = &mut |event: &turnwire::event::Event<'_>| kinds.push(event.kind().name());
/// turn.text("I will look.", sink)?;
/// turn.tool_start(ToolStart::new("pwd"), sink)?;
/// turn.tool_result(ToolOutcome::new("pwd", Output::Text("pwd: src")), sink)?;
/// turn.finish(Finish::default(), sink)?;
/// assert_eq!(
///     kinds,
///     ["turn_started", "text_delta", "message", "tool_start", "tool_result", "done"],
/// );
/// assert_eq!(&*turn.trace()[0].summary, "pwd · ✓ ok · src");
/// # Ok::<(), turnwire::error::CallerError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Emitter {
    pub(super) order: Order,
    pub(super) rules: Rules,
    pub(super) ids: IdMaker,
    pub(super) fs_tools: Vec<String>,
    pub(super) fs_ran: bool,
    pub(super) cwd: String,
    /// The model call that runs, from 1; 0 until something comes of the first.
    pub(super) step: u64,
    pub(super) text: Text,
    pub(super) trace: Vec<TraceEntry<'static>>,
    pub(super) usage: Usage,
    /// What waits for a person.
    pub(super) waits: Waits,
    pub(super) ending: Option<Ending>,
    pub(super) diagnostics: Diagnostics,
    /// Calls made, for the positions of diagnostics.
    pub(super) calls: u64,
}

/// The text of a turn as it grows.
#[derive(Clone, Debug, Default)]
pub(super) struct Text {
    /// All of it.
    pub all: String,
    /// Bytes of it that a `message` covers.
    pub covered: usize,
    /// Where the text of the running step begins.
    pub step_start: usize,
    /// Where what was counted of it ends: behind what is covered, or there.
    counted: usize,
    /// Bytes of what was counted and is not covered, as escaped JSON text.
    open_escaped: usize,
}

impl Text {
    /// What no `message` covers yet.
    pub fn open(&self) -> &str {
        self.all.get(self.covered..).unwrap_or_default()
    }

    /// Whether a `message` could not hold what is open and this piece.
    ///
    /// What is open is counted only where even the longest escapes would not fit, and each byte
    /// once: a delta costs nothing here until hundreds of kilobytes are open.
    fn overflows(&mut self, piece: &str) -> bool {
        let uncounted = self.all.len() - self.counted + piece.len();
        let most = self.open_escaped.saturating_add(uncounted.saturating_mul(ESCAPED_BYTES_MAX));
        if most <= MESSAGE_MAX_ESCAPED_BYTES {
            return false;
        }
        self.open_escaped += self.all.get(self.counted..).map_or(0, escaped_len);
        self.counted = self.all.len();
        self.open_escaped + escaped_len(piece) > MESSAGE_MAX_ESCAPED_BYTES
    }

    /// Everything is covered.
    pub fn cover(&mut self) {
        self.covered = self.all.len();
        self.counted = self.covered;
        self.open_escaped = 0;
    }

    /// Nothing is covered.
    pub fn uncover(&mut self) {
        self.covered = 0;
        self.counted = 0;
        self.open_escaped = 0;
    }

    /// Puts `text` in the place of everything from byte `from` on, as covered.
    pub fn replace(&mut self, from: usize, text: &str) {
        self.all.truncate(from);
        self.all.push_str(text);
        self.cover();
        self.step_start = self.step_start.min(from);
    }
}

impl Emitter {
    /// A turn that has not begun.
    ///
    /// # Errors
    ///
    /// [`Code::BadOption`] if `cwd` is no path below the workspace.
    pub fn new(options: EmitterOptions) -> Result<Self, CallerError> {
        let cwd = relative_path(options.cwd.as_deref().unwrap_or_default())
            .map_err(|_| CallerError::new(Code::BadOption).with("cwd"))?;
        Ok(Self {
            order: Order::new(&options.rules),
            rules: options.rules,
            ids: IdMaker::new(options.seed),
            fs_tools: options.fs_tools,
            fs_ran: false,
            cwd,
            step: 0,
            text: Text::default(),
            trace: Vec::new(),
            usage: Usage::default(),
            waits: Waits::default(),
            ending: None,
            diagnostics: Diagnostics::default(),
            calls: 0,
        })
    }

    /// The turn begins.
    ///
    /// # Errors
    ///
    /// [`Code::AlreadyStarted`] if it did before, by this verb or by another;
    /// [`Code::EventTooLarge`], [`Code::BadJson`] for capabilities that are not JSON.
    pub fn start(
        &mut self,
        start: TurnStarted<'_>,
        sink: &mut Sink<'_>,
    ) -> Result<(), CallerError> {
        if self.is_late() {
            return Ok(());
        }
        if self.order.phase() != Phase::Before {
            return Err(Code::AlreadyStarted.into());
        }
        let start = Event::from(start);
        fits(&start)?;
        self.give(start, sink);
        Ok(())
    }

    /// The next model call begins. The first is implied.
    ///
    /// # Errors
    ///
    /// None; the result is that of every verb.
    pub fn step(&mut self, sink: &mut Sink<'_>) -> Result<(), CallerError> {
        if self.is_late() {
            return Ok(());
        }
        self.begin(sink);
        self.step_to(self.step.saturating_add(1), sink);
        Ok(())
    }

    /// What the running model call cost: a JSON object. Numbers of its top level are summed over
    /// the steps, of the rest the last stays.
    ///
    /// # Errors
    ///
    /// [`Code::BadJson`] if it is no JSON object, [`Code::EventTooLarge`] over
    /// [`USAGE_MAX_BYTES`](crate::limits::USAGE_MAX_BYTES).
    pub fn step_usage(&mut self, usage: &str) -> Result<(), CallerError> {
        if self.is_late() {
            return Ok(());
        }
        self.usage.add(usage)
    }

    /// A piece of reasoning. An empty one is dropped (X6).
    ///
    /// # Errors
    ///
    /// None; the result is that of every verb.
    pub fn reasoning(&mut self, text: &str, sink: &mut Sink<'_>) -> Result<(), CallerError> {
        self.reasoning_of(text, None, sink)
    }

    /// A piece of the answer. An empty one is dropped (X6), a blank one is not.
    ///
    /// # Errors
    ///
    /// None; the result is that of every verb.
    pub fn text(&mut self, text: &str, sink: &mut Sink<'_>) -> Result<(), CallerError> {
        self.text_of(text, None, sink)
    }

    pub(super) fn reasoning_of(
        &mut self,
        text: &str,
        message_id: Option<&str>,
        sink: &mut Sink<'_>,
    ) -> Result<(), CallerError> {
        if self.is_late() || text.is_empty() {
            return Ok(());
        }
        short(message_id.unwrap_or_default(), "message_id")?;
        self.begin_step(sink);
        for piece in pieces(text, DELTA_MAX_ESCAPED_BYTES) {
            let mut delta = ReasoningDelta::new(piece);
            delta.step = Some(self.step);
            delta.message_id = message_id.map(Cow::Borrowed);
            self.cover(sink);
            self.give_delta(&delta.into(), sink);
        }
        Ok(())
    }

    pub(super) fn text_of(
        &mut self,
        text: &str,
        message_id: Option<&str>,
        sink: &mut Sink<'_>,
    ) -> Result<(), CallerError> {
        if self.is_late() || text.is_empty() {
            return Ok(());
        }
        short(message_id.unwrap_or_default(), "message_id")?;
        self.begin_step(sink);
        for piece in pieces(text, DELTA_MAX_ESCAPED_BYTES) {
            if self.text.overflows(piece) {
                self.cover(sink);
            }
            self.text.all.push_str(piece);
            let mut delta = TextDelta::new(piece);
            delta.step = Some(self.step);
            delta.message_id = message_id.map(Cow::Borrowed);
            self.give_delta(&delta.into(), sink);
        }
        Ok(())
    }

    /// Whether the turn has ended.
    #[must_use]
    pub const fn is_finished(&self) -> bool {
        self.ending.is_some()
    }

    /// How it ended.
    #[must_use]
    pub const fn ending(&self) -> Option<&Ending> {
        self.ending.as_ref()
    }

    /// All text streamed so far; after the end, the final text.
    #[must_use]
    pub fn text_so_far(&self) -> &str {
        &self.text.all
    }

    /// The tools that gave a result, in order. Interrupted ones are not among them.
    #[must_use]
    pub fn trace(&self) -> &[TraceEntry<'static>] {
        &self.trace
    }

    /// The working directory, if a filesystem tool ran in this turn (seed of `agent`).
    #[must_use]
    pub fn cwd(&self) -> Option<&str> {
        self.fs_ran.then_some(self.cwd.as_str())
    }

    /// Model calls begun.
    #[must_use]
    pub const fn steps(&self) -> u64 {
        self.step
    }

    /// What was odd; their `at` is the number of the call, from 1.
    pub const fn diagnostics(&mut self) -> &mut Diagnostics {
        &mut self.diagnostics
    }

    /// Counts the call; whether it comes after the end, which is noted.
    pub(super) fn is_late(&mut self) -> bool {
        self.calls = self.calls.saturating_add(1);
        if self.ending.is_some() {
            self.diagnostics.push(Code::AfterTerminal, self.calls);
        }
        self.ending.is_some()
    }

    /// Gives the implied `turn_started`.
    pub(super) fn begin(&mut self, sink: &mut Sink<'_>) {
        if self.order.phase() == Phase::Before {
            self.give(TurnStarted::default().into(), sink);
        }
    }

    /// [`Self::begin`], for what belongs to a model call.
    pub(super) fn begin_step(&mut self, sink: &mut Sink<'_>) {
        self.begin(sink);
        self.step = self.step.max(1);
    }

    /// Goes on to `step` if it is a later one than that which runs.
    pub(super) fn advance(&mut self, step: Option<u64>, sink: &mut Sink<'_>) {
        if let Some(step) = step.filter(|step| *step > self.step) {
            self.step_to(step, sink);
        }
    }

    pub(super) fn step_to(&mut self, step: u64, sink: &mut Sink<'_>) {
        self.cover(sink);
        self.step = step;
        self.text.step_start = self.text.all.len();
    }

    /// Gives the `message` that covers the text since the last one; more than one only where a
    /// final text that was never streamed is over the bound of a message.
    pub(super) fn cover(&mut self, sink: &mut Sink<'_>) {
        for piece in pieces(self.text.open(), MESSAGE_MAX_ESCAPED_BYTES) {
            let mut message = Message::new(Role::Assistant, piece);
            message.step = Some(self.step);
            let event = Event::Message(message);
            self.order.apply(&event);
            sink(&event);
        }
        self.text.cover();
    }

    /// Checks what the event speaks of, for a strict caller.
    pub(super) fn check(&self, event: &Event<'_>, id: &str) -> Result<(), CallerError> {
        self.order.judge_touch(event).map_err(|fault| refusal(fault, id))
    }

    /// Takes the event's effect and hands it on.
    pub(super) fn give(&mut self, event: Event<'_>, sink: &mut Sink<'_>) {
        // A message covers one run of text, so that a replay has what came between where it was.
        if separates(event.kind()) {
            self.cover(sink);
        }
        debug_assert_eq!(self.order.judge(&event), Ok(()), "{event:?}");
        self.order.apply(&event);
        self.hand(&event, sink);
    }

    /// Hands on a delta of a turn that runs: it opens, closes and settles nothing.
    #[inline]
    fn give_delta(&self, event: &Event<'_>, sink: &mut Sink<'_>) {
        debug_assert_eq!(self.order.judge(event), Ok(()), "{event:?}");
        sink(event);
    }

    /// Hands on an event whose effect was taken.
    pub(super) fn hand(&mut self, event: &Event<'_>, sink: &mut Sink<'_>) {
        if !self.waits.end(event) {
            self.diagnostics.push(Code::SettledUnread, self.calls);
        }
        sink(event);
    }
}

/// What a caller is told of an event out of order.
fn refusal(fault: Irregular, id: &str) -> CallerError {
    let code = match fault {
        Irregular::BeforeStart => Code::NotStarted,
        Irregular::SecondStart => Code::AlreadyStarted,
        Irregular::AfterEnd => Code::AfterTerminal,
        Irregular::AlreadyOpen => Code::DuplicateId,
        Irregular::Full => Code::TooManyOpen,
        Irregular::Unknown => Code::UnknownId,
        Irregular::Settled(outcome) => {
            return CallerError::new(Code::AlreadySettled).settled_as(outcome).with(id);
        }
        Irregular::LateArgs => Code::LateArgs,
        Irregular::NotRunning => Code::OutOfOrder,
    };
    CallerError::new(code).with(id)
}

/// Refuses an id that names nothing, or a book.
pub(super) fn named(id: &str, what: &str) -> Result<(), CallerError> {
    if id.is_empty() {
        return Err(CallerError::new(Code::BadField).with(what));
    }
    short(id, what)
}
