//! The fold: events in, rows and ops out.

use alloc::borrow::Cow;
use alloc::boxed::Box;
use alloc::collections::{BTreeMap, VecDeque};
use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::op::{Lifecycle, Op, Rows};
use super::options::FoldOptions;
use super::outcome::{Failure, Outcome, OutcomeKind};
use super::queue::Queue;
use super::replay::Told;
use super::ring::Ring;
use super::row::{Field, RowKind};
use super::session::{Body, Session, SessionRole, StoredRow};
use super::turn::{PendingUser, Turn};
use crate::error::{CallerError, Code, Diagnostic, Diagnostics};
use crate::event::Rules;
use crate::ids::{IdMaker, Seed};
use crate::text::{is_blank, longer_than, relative_path};

/// Events that had no effect, by reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Ignored {
    /// Of a turn that has ended.
    pub late: u64,
    /// Seen before, by epoch and number.
    pub duplicate: u64,
    /// Of another session.
    pub foreign: u64,
    /// On a second channel while the first one says the same.
    pub muted: u64,
    /// Of a kind that the vocabulary has no name for.
    pub unknown: u64,
}

/// The plain values of a fold; with the ring and the session they are its whole state.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Live {
    pub bridge: bool,
    pub prompt_max_chars: usize,
    pub seed: [u8; 16],
    pub ids_made: u64,
    pub next_segment: u64,
    pub lifecycle: Lifecycle,
    pub outcome: Option<Outcome>,
    pub cwd: Option<String>,
    pub state: BTreeMap<String, Value>,
    pub turn: Option<Turn>,
    pub pending_user: Option<PendingUser>,
    /// A message that was stopped before the server spoke of it.
    pub stopped_user: Option<PendingUser>,
    /// A turn has ended and none has begun since.
    pub ended: bool,
    /// The late events of the ended turn were noted.
    pub late_noted: bool,
    /// By what the last turn is known again.
    pub told: Option<Told>,
    /// The last turn is told once more, up to its end.
    pub repeats: bool,
    /// The turn that runs is told anew with its next event.
    pub replay_due: bool,
    /// The session is to be loaded.
    pub load_due: bool,
    /// The session is to be loaded, or is being loaded.
    pub loading: bool,
    /// The watching connection is another, and nothing without a number has come since.
    pub gap: bool,
    /// The second channel has brought something.
    pub side_seen: bool,
    /// The second channel still owes the end of a turn that has ended.
    pub side_tail: bool,
    /// Messages that are written again, from where to where.
    pub reuse: (usize, usize),
    pub ended_ids: VecDeque<Box<str>>,
    pub epochs: VecDeque<(Option<Box<str>>, u64)>,
    pub server_session: Option<Box<str>>,
    /// The message that the first row of the window shows.
    pub window_start: usize,
    /// Rows before the first one, as painters were told.
    pub earlier: usize,
    /// The window does not reach to the newest message.
    pub scrolled: bool,
    pub revision: u64,
    pub events: u64,
    pub ignored: Ignored,
}

/// Counters of a snapshot beyond this are not those of a fold; below it they cannot overflow.
const COUNTER_MAX: u64 = 1 << 62;

impl Live {
    /// Whether the counters have room to go on; for what comes from outside.
    pub(super) fn is_sound(&self) -> bool {
        let ignored = self.ignored;
        let reuse = self.reuse.0.max(self.reuse.1) as u64;
        let counts = [self.next_segment, self.revision, self.events, self.earlier as u64, reuse];
        let more = [ignored.late, ignored.duplicate, ignored.foreign, ignored.muted];
        let all = counts.into_iter().chain(more).chain([ignored.unknown, self.window_start as u64]);
        all.into_iter().all(|count| count < COUNTER_MAX)
    }
}

/// Folds the events of a session into a bounded ring of rows.
///
/// | to tell it what happened | to ask |
/// |---|---|
/// | [`submit`](Self::submit), [`apply`](Self::apply), [`refuse`](Self::refuse), [`answer_json`](Self::answer_json), [`end_of_input`](Self::end_of_input), [`stop`](Self::stop), [`detach`](Self::detach) | [`rows`](Self::rows), [`text`](Self::text), [`lifecycle`](Self::lifecycle), [`outcome`](Self::outcome), [`state`](Self::state), [`session`](Self::session), [`history`](Self::history), [`view`](Self::view) |
///
/// > After what belongs together (a chunk of input, a call of the user), drain the ops.
///
/// Ops not drained cost no more than the rows they speak of: at most one a row, with its last
/// state.
///
/// ```
/// use turnwire::event::{Done, Envelope, Rules, TextDelta};
/// use turnwire::host::{Fold, FoldOptions};
///
/// let mut fold = Fold::new(FoldOptions::new(Rules::CANONICAL)).expect("good options");
/// fold.submit("Hello?", None, 1_764_536_400_000).expect("a good prompt");
/// fold.apply(&Envelope::new(TextDelta::new("Hi")), 1_764_536_400_100);
/// fold.apply(&Envelope::new(TextDelta::new("!")), 1_764_536_400_200);
/// fold.apply(&Envelope::new(Done::new()), 1_764_536_400_300);
/// let texts: Vec<&str> = fold.rows().iter().map(|row| row.text.as_str()).collect();
/// assert_eq!(texts, ["Hello?", "Hi!", "Turn ended · model finished"]);
/// let mut ops = Vec::new();
/// fold.drain(&mut |op| ops.push(op.name()));
/// assert_eq!(ops.iter().filter(|name| **name == "push").count(), 3);
/// ```
#[derive(Debug)]
pub struct Fold {
    pub(super) rules: Rules,
    pub(super) ring: Ring,
    pub(super) session: Session,
    pub(super) live: Live,
    pub(super) queue: Queue,
    /// Where each call that has an id is: row and place.
    pub(super) calls: BTreeMap<Box<str>, (u64, u32)>,
    pub(super) diagnostics: Diagnostics,
}

impl Fold {
    /// A fold with nothing to show.
    ///
    /// # Errors
    ///
    /// [`Code::BadOption`] for a ring of no rows or a working directory that is no path below the
    /// workspace.
    pub fn new(options: FoldOptions) -> Result<Self, CallerError> {
        if options.max_rows == 0 {
            return Err(CallerError::new(Code::BadOption).with("max_rows"));
        }
        let cwd = match options.cwd.as_deref().map(relative_path) {
            Some(Err(_)) => return Err(CallerError::new(Code::BadOption).with("cwd")),
            Some(Ok(path)) => Some(path),
            None => None,
        };
        let mut ids = IdMaker::new(options.seed);
        let session_id: Box<str> = match &options.session_id {
            Some(id) => id.as_str().into(),
            None => ids.next("sess_").into(),
        };
        let mut fold = Self {
            rules: options.rules,
            ring: Ring::new(options.max_rows, 1),
            session: Session { id: session_id, ..Session::default() },
            live: Live {
                bridge: options.bridge,
                prompt_max_chars: options.prompt_max_chars,
                seed: options.seed.0,
                ids_made: ids.made(),
                next_segment: 1,
                lifecycle: Lifecycle::Ready,
                server_session: options.session_id.map(Into::into),
                ..Live::default()
            },
            queue: Queue::default(),
            calls: BTreeMap::new(),
            diagnostics: Diagnostics::default(),
        };
        fold.queue.lifecycle(Lifecycle::Ready);
        if let Some(cwd) = cwd {
            fold.set_cwd(cwd);
        }
        Ok(fold)
    }

    /// The user sends a prompt: its row is there at once, unacknowledged, and the host is busy.
    ///
    /// # Errors
    ///
    /// [`Code::Busy`] changes nothing. [`Code::BlankPrompt`] and [`Code::PromptTooLong`] leave one
    /// `Turn ended · invalid input` row in the ring and the host ready (`agent` 7, 8).
    pub fn submit(
        &mut self,
        prompt: &str,
        client_id: Option<&str>,
        at_ms: u64,
    ) -> Result<(), CallerError> {
        if self.live.turn.is_some() {
            return Err(Code::Busy.into());
        }
        let prompt = prompt.trim();
        let fault = if prompt.is_empty() {
            Some(Code::BlankPrompt)
        } else if longer_than(prompt, self.live.prompt_max_chars) {
            Some(Code::PromptTooLong)
        } else {
            None
        };
        self.snap_to_latest();
        if let Some(code) = fault {
            let outcome = Outcome::with(OutcomeKind::Invalid, code.message());
            let (kind, line) = outcome.line();
            self.push_text(kind, &line, at_ms);
            self.live.outcome = Some(outcome);
            return Err(code.into());
        }
        let row = self.push_user(prompt, None, client_id, at_ms);
        self.store(SessionRole::User, Body::Text(prompt.into()), at_ms);
        self.live.repeats = false;
        self.live.pending_user =
            Some(PendingUser { row, client_id: client_id.map(Into::into), text: prompt.into() });
        self.begin_turn(true);
        Ok(())
    }

    /// The server took the prompt: its answer to the POST is there, and named this turn.
    pub fn acknowledge(&mut self, turn_id: Option<&str>) {
        if let Some(turn) = self.live.turn.as_mut().filter(|turn| !turn.foreign) {
            turn.started = true;
            if let (None, Some(id)) = (&turn.id, turn_id) {
                turn.id = Some(id.into());
            }
            self.take_pending(None, false);
        }
    }

    /// The request was refused, or reading its answer failed: the turn ends with one row that
    /// says so (`agent` 8). Nothing happens if no turn runs.
    pub fn refuse(&mut self, failure: &Failure<'_>, at_ms: u64) {
        if self.live.turn.is_some() {
            self.end_turn(failure.classify(), None, at_ms);
        }
    }

    /// The user stops the turn: its rows settle at once, and what still arrives for it is
    /// ignored. Nothing happens if no turn runs.
    pub fn stop(&mut self, at_ms: u64) {
        let Some(turn) = self.live.turn.as_ref() else { return };
        let taken = turn.user.clone().filter(|_| turn.id.is_none());
        if let Some(user) = self.live.pending_user.take().or(taken) {
            self.live.stopped_user = Some(user);
        }
        self.queue.cancelled("user");
        self.end_turn(Outcome::new(OutcomeKind::Stopped), None, at_ms);
    }

    /// The host turns away and leaves the turn to the server: it is ready, the rows stay as they
    /// are, and go on if events of the turn come again. Another prompt is refused until it ended.
    pub fn detach(&mut self) {
        if self.live.turn.is_some() {
            self.set_lifecycle(Lifecycle::Ready);
        }
    }

    /// Paints a row of thinking in full. Returns whether there is such a row.
    pub fn expand(&mut self, row_id: u64) -> bool {
        self.collapse_row(row_id, false)
    }

    /// Paints a row of thinking as one line. Returns whether there is such a row.
    pub fn collapse(&mut self, row_id: u64) -> bool {
        self.collapse_row(row_id, true)
    }

    pub(super) fn collapse_row(&mut self, row_id: u64, collapsed: bool) -> bool {
        let thinking = self.ring.get(row_id).is_some_and(|row| row.kind == RowKind::Thinking);
        if thinking {
            self.edit(row_id, Field::Collapsed, |row| row.collapsed = Some(collapsed));
        }
        thinking
    }

    /// Gives the ops since the last call, in order, each lent to the sink: of one row at most one
    /// `grow`, `update` or `patch`, with its last state.
    pub fn drain(&mut self, sink: &mut dyn FnMut(Op<'_>)) {
        if self.queue.is_empty() {
            return;
        }
        self.live.revision += 1;
        self.queue.drain(&mut self.ring, &self.session, &self.live, sink);
    }

    /// The rows, oldest first.
    #[must_use]
    pub const fn rows(&self) -> Rows<'_> {
        Rows { ring: &self.ring, bridge: true }
    }

    /// A row's text; of a card, its encoded body, made on this call.
    #[must_use]
    pub fn row_text(&self, row_id: u64) -> Option<Cow<'_, str>> {
        self.ring.get(row_id).map(super::row::Row::body)
    }

    /// The text of the turn that runs, else of the last one; made on this call.
    #[must_use]
    pub fn text(&self) -> String {
        if let Some(turn) = &self.live.turn {
            return turn.gathered.text(&self.ring);
        }
        let last = self.session.messages.iter().rev().find_map(|m| match (&m.role, &m.body) {
            (SessionRole::Assistant, Body::Text(text)) => Some(Some(text)),
            (SessionRole::User, _) => Some(None),
            _ => None,
        });
        last.flatten().cloned().unwrap_or_default()
    }

    /// Where the host is.
    #[must_use]
    pub const fn lifecycle(&self) -> Lifecycle {
        self.live.lifecycle
    }

    /// How the last turn ended; `None` before the first end and while a turn runs.
    #[must_use]
    pub const fn outcome(&self) -> Option<&Outcome> {
        self.live.outcome.as_ref()
    }

    /// The working directory, relative to the workspace.
    #[must_use]
    pub fn cwd(&self) -> Option<&str> {
        self.live.cwd.as_deref()
    }

    /// What is no row: the panel, by name.
    #[must_use]
    pub const fn state(&self) -> &BTreeMap<String, Value> {
        &self.live.state
    }

    /// Whether a turn runs, submitted here or not.
    #[must_use]
    pub const fn is_busy(&self) -> bool {
        self.live.turn.is_some()
    }

    /// The id of the turn that runs, if the stream named it.
    #[must_use]
    pub fn turn_id(&self) -> Option<&str> {
        self.live.turn.as_ref()?.id.as_deref()
    }

    /// The session's id.
    #[must_use]
    pub fn session_id(&self) -> &str {
        &self.session.id
    }

    /// The messages of the session, oldest first.
    pub fn messages(&self) -> impl Iterator<Item = StoredRow<'_>> {
        (0..self.session.messages.len()).filter_map(|index| self.session.lend(index, &self.ring))
    }

    /// The session and a new prompt as one text (`agent` 9). A message that waits for the server
    /// is left out: it is the prompt.
    #[must_use]
    pub fn history(&self, prompt: &str) -> String {
        self.history_within(prompt, usize::MAX)
    }

    /// As [`Fold::history`], in at most `max_chars` characters: the oldest text gives way first,
    /// the prompt never.
    #[must_use]
    pub fn history_within(&self, prompt: &str, max_chars: usize) -> String {
        let mut messages: Vec<_> = self.session.messages.iter().collect();
        if self.live.pending_user.is_some() {
            let last = messages.iter().rposition(|m| m.role == SessionRole::User);
            last.map(|at| messages.remove(at));
        }
        let texts = messages.into_iter().filter_map(|message| match &message.body {
            Body::Text(text) => Some((message.role, text.as_str())),
            Body::Row(_) => None,
        });
        let texts: Vec<_> = texts.collect();
        super::history::fold(texts.into_iter(), prompt, max_chars)
    }

    /// Takes the diagnostics, oldest first.
    pub fn diagnostics(&mut self) -> impl Iterator<Item = Diagnostic> + '_ {
        self.diagnostics.drain()
    }

    /// The list behind [`Fold::diagnostics`], for whoever joins several machines.
    pub const fn diagnostics_mut(&mut self) -> &mut Diagnostics {
        &mut self.diagnostics
    }

    /// Events that had no effect, by reason.
    #[must_use]
    pub const fn ignored(&self) -> Ignored {
        self.live.ignored
    }

    pub(super) fn begin_turn(&mut self, own: bool) {
        self.snap_to_latest();
        let first_row = self.ring.next_id();
        let first_message = self.session.messages.len();
        self.live.turn = Some(Turn { own, first_row, first_message, ..Turn::default() });
        self.live.reuse = (first_message, first_message);
        self.live.side_tail = false;
        self.live.gap = false;
        self.live.ended = false;
        self.live.late_noted = false;
        self.live.outcome = None;
        self.set_lifecycle(Lifecycle::Busy);
    }

    pub(super) fn set_lifecycle(&mut self, lifecycle: Lifecycle) {
        if self.live.lifecycle != lifecycle {
            self.live.lifecycle = lifecycle;
            self.queue.lifecycle(lifecycle);
        }
    }

    /// Sets a part of the panel; `null` removes it.
    pub(super) fn set_state(&mut self, key: &str, value: Value) {
        let old = self.live.state.get(key).unwrap_or(&Value::Null);
        if *old == value {
            return;
        }
        if value.is_null() {
            self.live.state.remove(key);
        } else {
            self.live.state.insert(key.into(), value);
        }
        self.queue.state(key);
    }

    pub(super) fn set_cwd(&mut self, cwd: String) {
        self.set_state("cwd", Value::String(cwd.clone()));
        self.live.cwd = Some(cwd);
    }

    /// A panel value that connections set, such as `connection`; `null` removes it.
    pub fn panel(&mut self, key: &str, value: Value) {
        self.set_state(key, value);
    }

    pub(super) fn is_blank_turn(&self) -> bool {
        self.live.turn.as_ref().is_none_or(|turn| turn.gathered.is_blank(&self.ring))
    }

    /// A fresh id for a message of the session.
    pub(super) fn message_id(&mut self) -> Box<str> {
        let mut ids = IdMaker::resume(Seed(self.live.seed), self.live.ids_made);
        let id = ids.next("m_");
        self.live.ids_made = ids.made();
        id.into()
    }
}

/// Text that is there and not blank.
pub(super) fn spoken(text: Option<&str>) -> Option<&str> {
    text.filter(|text| !is_blank(text))
}
