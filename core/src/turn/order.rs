//! The legal order of a turn: one table of what each kind of event does, and the state it acts on.
//!
//! Emitter and checker share this file. The emitter never gives an event that [`Order::judge`]
//! would object to; the checker reports what it says.

use alloc::string::String;
use alloc::vec::Vec;

use super::ledger::{Ledger, Open};
use crate::event::{Event, EventKind, Pairing, Rules};

/// When an event may come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum When {
    /// It begins a turn.
    Start,
    /// In a turn that runs.
    Turn,
    /// At any time: it speaks of the session.
    Any,
}

/// What has a beginning and an end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Thing {
    Call,
    Question,
    Approval,
    Plan,
    Subagent,
    Image,
}

impl Thing {
    /// In the order in which the end of a turn settles them: what waits inside a call before it.
    pub const ALL: [Self; 6] =
        [Self::Question, Self::Approval, Self::Plan, Self::Image, Self::Subagent, Self::Call];

    pub const fn name(self) -> &'static str {
        match self {
            Self::Call => "call",
            Self::Question => "question",
            Self::Approval => "approval",
            Self::Plan => "plan",
            Self::Subagent => "subagent",
            Self::Image => "image",
        }
    }
}

/// What an event does to a [`Thing`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Touch {
    Nothing,
    /// It opens one; the id must not be open.
    Opens(Thing),
    /// It adds to the arguments of a call, which must not be complete.
    Writes,
    /// It completes the arguments of a call.
    Completes,
    /// A call begins to run: one that was written, or a new one.
    Runs,
    /// It speaks of one that is open (of a call: that runs).
    Uses(Thing),
    /// It closes one that is open.
    Closes(Thing),
}

/// What an emitter does if the thing that an event speaks of is not open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Orphan {
    /// It opens it first.
    Implied,
    /// It refuses the call.
    Refused,
}

/// Whether an event ends its turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ends {
    Never,
    Always,
    UnlessRecoverable,
}

/// What a kind of event does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Effect {
    pub when: When,
    pub touch: Touch,
    pub orphan: Orphan,
    pub ends: Ends,
}

const fn row(when: When, touch: Touch, orphan: Orphan, ends: Ends) -> Effect {
    Effect { when, touch, orphan, ends }
}

const fn plain(when: When) -> Effect {
    row(when, Touch::Nothing, Orphan::Refused, Ends::Never)
}

const fn touching(touch: Touch, orphan: Orphan) -> Effect {
    row(When::Turn, touch, orphan, Ends::Never)
}

/// The table.
pub(super) const fn effect(kind: EventKind) -> Effect {
    use EventKind as K;
    use Orphan::{Implied, Refused};
    use Touch::{Closes, Completes, Nothing, Opens, Runs, Uses, Writes};
    match kind {
        K::TurnStarted => plain(When::Start),
        K::UserMessage
        | K::Notice
        | K::Compacted
        | K::Title
        | K::Queue
        | K::State
        | K::Resync
        | K::Unknown => plain(When::Any),
        K::Progress
        | K::ReasoningDelta
        | K::TextDelta
        | K::Message
        | K::Media
        | K::Todo
        | K::Context
        | K::Fallback
        | K::Continuation => plain(When::Turn),
        K::ToolCall => touching(Opens(Thing::Call), Refused),
        K::ToolArgsDelta => touching(Writes, Refused),
        K::ToolArgs => touching(Completes, Implied),
        K::ToolStart => touching(Runs, Implied),
        K::ToolOutput | K::ToolProgress => touching(Uses(Thing::Call), Refused),
        K::ToolResult => touching(Closes(Thing::Call), Implied),
        K::Question => touching(Opens(Thing::Question), Refused),
        K::QuestionResolved => touching(Closes(Thing::Question), Refused),
        K::ApprovalRequired => touching(Opens(Thing::Approval), Refused),
        K::ApprovalResolved => touching(Closes(Thing::Approval), Refused),
        K::PlanProposed => touching(Opens(Thing::Plan), Refused),
        K::PlanResolved => touching(Closes(Thing::Plan), Refused),
        K::SubagentStarted => touching(Opens(Thing::Subagent), Refused),
        K::SubagentText | K::SubagentTool => touching(Uses(Thing::Subagent), Implied),
        K::SubagentFinished => touching(Closes(Thing::Subagent), Implied),
        K::ImageStarted => touching(Opens(Thing::Image), Refused),
        K::ImageFinished => touching(Closes(Thing::Image), Implied),
        K::Done | K::Cancelled => row(When::Turn, Nothing, Refused, Ends::Always),
        K::Error => row(When::Turn, Nothing, Refused, Ends::UnlessRecoverable),
    }
}

/// Where a turn stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// None has begun.
    Before,
    Running,
    /// Ended by an error or a cancel; the trailer may come.
    Ended,
    /// Over.
    Closed,
}

/// What is wrong with an event at this point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Irregular {
    BeforeStart,
    SecondStart,
    AfterEnd,
    AlreadyOpen,
    /// Too many are open.
    Full,
    /// Nothing of this id is open, nor was.
    Unknown,
    /// It was settled before, in this way.
    Settled(&'static str),
    /// The call's arguments are complete.
    LateArgs,
    /// The call does not run.
    NotRunning,
}

/// The one plan of a turn has no id on any wire.
const PLAN: &str = "plan";

/// The state of one turn, and of the next if the stream goes on.
#[derive(Clone, Debug)]
pub(super) struct Order {
    phase: Phase,
    fifo: bool,
    question_outlives_turn: bool,
    calls: Ledger,
    questions: Ledger,
    approvals: Ledger,
    plan: Ledger,
    subagents: Ledger,
    images: Ledger,
}

impl Order {
    pub fn new(rules: &Rules) -> Self {
        Self {
            phase: Phase::Before,
            fifo: rules.pairing == Pairing::FifoOfName,
            question_outlives_turn: rules.question_outlives_turn,
            calls: Ledger::default(),
            questions: Ledger::default(),
            approvals: Ledger::default(),
            plan: Ledger::default(),
            subagents: Ledger::default(),
            images: Ledger::default(),
        }
    }

    pub fn phase(&self) -> Phase {
        self.phase
    }

    pub fn ledger(&self, thing: Thing) -> &Ledger {
        match thing {
            Thing::Call => &self.calls,
            Thing::Question => &self.questions,
            Thing::Approval => &self.approvals,
            Thing::Plan => &self.plan,
            Thing::Subagent => &self.subagents,
            Thing::Image => &self.images,
        }
    }

    fn ledger_mut(&mut self, thing: Thing) -> &mut Ledger {
        match thing {
            Thing::Call => &mut self.calls,
            Thing::Question => &mut self.questions,
            Thing::Approval => &mut self.approvals,
            Thing::Plan => &mut self.plan,
            Thing::Subagent => &mut self.subagents,
            Thing::Image => &mut self.images,
        }
    }

    /// The running call that a result of this id and name belongs to: by id where both sides have
    /// one, else by name among those that run (X7), the newest or, in `run`, the oldest.
    pub fn pair(&self, id: &str, name: &str) -> Option<usize> {
        if let Some(index) = self.calls.position(id) {
            return Some(index);
        }
        // A call with an id of its own is not the one that a strange id means.
        let fits = |call: &Open| {
            call.running && call.label == name && (id.is_empty() || call.id.is_empty())
        };
        let mut open = self.calls.open().iter();
        if self.fifo { open.position(fits) } else { open.rposition(fits) }
    }

    /// The oldest call of this name that was written and does not run yet.
    pub fn waiting(&self, name: &str) -> Option<usize> {
        self.calls.open().iter().position(|call| !call.running && call.label == name)
    }

    /// What is wrong with `event` now, if anything.
    pub fn judge(&self, event: &Event<'_>) -> Result<(), Irregular> {
        match (effect(event.kind()).when, self.phase) {
            (When::Start, Phase::Running) => return Err(Irregular::SecondStart),
            (When::Turn, Phase::Before) => return Err(Irregular::BeforeStart),
            (When::Turn, Phase::Ended) if is_trailer(event) => {}
            (When::Turn, Phase::Ended | Phase::Closed) if !self.answers_late(event) => {
                return Err(Irregular::AfterEnd);
            }
            (When::Start | When::Turn | When::Any, _) => {}
        }
        self.judge_touch(event)
    }

    /// [`Order::judge`] without the phase: what is wrong with the thing that `event` speaks of.
    pub fn judge_touch(&self, event: &Event<'_>) -> Result<(), Irregular> {
        let (id, label) = key(event);
        match effect(event.kind()).touch {
            Touch::Nothing => Ok(()),
            Touch::Opens(thing) => {
                let ledger = self.ledger(thing);
                match ledger.position(id) {
                    Some(_) => Err(Irregular::AlreadyOpen),
                    None if ledger.is_full() => Err(Irregular::Full),
                    None => Ok(()),
                }
            }
            Touch::Runs => match self.call(id) {
                Some(call) if call.running => Err(Irregular::AlreadyOpen),
                None if self.calls.is_full() => Err(Irregular::Full),
                Some(_) | None => Ok(()),
            },
            Touch::Writes | Touch::Completes => match self.call(id) {
                Some(call) if call.args_done => Err(Irregular::LateArgs),
                Some(_) => Ok(()),
                None => Err(self.missing(Thing::Call, id)),
            },
            Touch::Uses(Thing::Call) => match self.call(id) {
                Some(call) if call.running => Ok(()),
                Some(_) => Err(Irregular::NotRunning),
                None => Err(self.missing(Thing::Call, id)),
            },
            Touch::Closes(Thing::Call) if self.pair(id, label).is_some() => Ok(()),
            Touch::Uses(thing) | Touch::Closes(thing) => match self.ledger(thing).position(id) {
                Some(_) => Ok(()),
                None => Err(self.missing(thing, id)),
            },
        }
    }

    /// Takes the effect of `event`, legal or not.
    pub fn apply(&mut self, event: &Event<'_>) {
        let effect = effect(event.kind());
        match effect.when {
            When::Start => self.restart(),
            When::Turn if self.phase == Phase::Before => self.phase = Phase::Running,
            When::Turn | When::Any => {}
        }
        if effect.touch == Touch::Nothing && effect.ends == Ends::Never {
            return;
        }
        let (id, label) = key(event);
        match effect.touch {
            Touch::Nothing => {}
            Touch::Opens(thing) => {
                if self.ledger(thing).position(id).is_none() {
                    self.ledger_mut(thing).begin(entry(id, label));
                }
            }
            Touch::Writes => {}
            Touch::Completes => {
                if let Some(call) = self.call_mut(id) {
                    call.args_done = true;
                }
            }
            Touch::Runs => self.run(event, id, label),
            Touch::Uses(_) => {}
            Touch::Closes(thing) => {
                let index = match thing {
                    Thing::Call => self.pair(id, label),
                    _ => self.ledger(thing).position(id),
                };
                if let Some(index) = index {
                    self.ledger_mut(thing).settle(index, outcome(event));
                }
            }
        }
        if event.is_terminal() {
            let over = matches!(event, Event::Done(_)) || self.phase == Phase::Closed;
            self.phase = if over { Phase::Closed } else { Phase::Ended };
        }
    }

    /// The id of what `event` speaks of; empty if it has none.
    pub fn id_of<'e>(event: &'e Event<'_>) -> &'e str {
        key(event).0
    }

    /// Closes every open `thing`, to be remembered as settled in the way of `word`, and gives back
    /// what was open, oldest first.
    pub fn interrupt(&mut self, thing: Thing, word: &'static str) -> Vec<Open> {
        self.ledger_mut(thing).drain(word)
    }

    fn restart(&mut self) {
        self.phase = Phase::Running;
        for thing in Thing::ALL {
            if thing != Thing::Question || !self.question_outlives_turn {
                self.ledger_mut(thing).abandon();
            }
        }
    }

    fn run(&mut self, event: &Event<'_>, id: &str, label: &str) {
        let args_done = matches!(event, Event::ToolStart(start) if start.args.is_some());
        if let Some(call) = self.call_mut(id) {
            call.running = true;
            call.args_done |= args_done;
        } else {
            self.calls.begin(Open { running: true, args_done, ..entry(id, label) });
        }
    }

    fn call(&self, id: &str) -> Option<&Open> {
        self.calls.open().get(self.calls.position(id)?)
    }

    fn call_mut(&mut self, id: &str) -> Option<&mut Open> {
        let index = self.calls.position(id)?;
        self.calls.at_mut(index)
    }

    fn missing(&self, thing: Thing, id: &str) -> Irregular {
        self.ledger(thing).outcome(id).map_or(Irregular::Unknown, Irregular::Settled)
    }

    /// An answer to a question that outlived its turn.
    fn answers_late(&self, event: &Event<'_>) -> bool {
        self.question_outlives_turn
            && matches!(event, Event::QuestionResolved(resolved)
                if self.questions.position(&resolved.question_id).is_some())
    }
}

fn is_trailer(event: &Event<'_>) -> bool {
    matches!(event, Event::Done(done) if done.status.is_some())
}

fn entry(id: &str, label: &str) -> Open {
    Open { id: String::from(id), label: String::from(label), running: false, args_done: false }
}

/// The id of the thing that an event speaks of, and its label.
fn key<'e>(event: &'e Event<'_>) -> (&'e str, &'e str) {
    match event {
        Event::ToolCall(e) => (&e.call_id, &e.name),
        Event::ToolArgsDelta(e) => (&e.call_id, ""),
        Event::ToolArgs(e) => (&e.call_id, &e.name),
        Event::ToolStart(e) => (e.call_id.as_deref().unwrap_or_default(), &e.name),
        Event::ToolOutput(e) => (&e.call_id, ""),
        Event::ToolProgress(e) => (&e.call_id, ""),
        Event::ToolResult(e) => (e.call_id.as_deref().unwrap_or_default(), &e.name),
        Event::Question(e) => (&e.question_id, ""),
        Event::QuestionResolved(e) => (&e.question_id, ""),
        Event::ApprovalRequired(e) => (&e.approval_id, ""),
        Event::ApprovalResolved(e) => (&e.approval_id, ""),
        Event::PlanProposed(_) | Event::PlanResolved(_) => (PLAN, ""),
        Event::SubagentStarted(e) => (&e.call_id, e.name.as_deref().unwrap_or_default()),
        Event::SubagentText(e) => (&e.call_id, ""),
        Event::SubagentTool(e) => (&e.call_id, ""),
        Event::SubagentFinished(e) => (&e.call_id, ""),
        Event::ImageStarted(e) => (&e.image_id, &e.call_id),
        Event::ImageFinished(e) => (&e.image_id, ""),
        _ => ("", ""),
    }
}

/// How a closing event settles its thing, in the word that a late caller is told.
fn outcome(event: &Event<'_>) -> &'static str {
    match event {
        Event::QuestionResolved(e) => e.outcome.as_str(),
        Event::ApprovalResolved(e) => e.decision.as_str(),
        Event::PlanResolved(e) if e.approved => "approved",
        Event::PlanResolved(_) => "rejected",
        Event::ToolResult(e) if e.ok => "ok",
        Event::SubagentFinished(e) if e.ok => "ok",
        Event::ImageFinished(e) if e.ok => "ok",
        _ => "failed",
    }
}

/// Whether a reader shows it between what was said before and what is said after.
pub(super) const fn separates(kind: EventKind) -> bool {
    matches!(
        kind,
        EventKind::UserMessage
            | EventKind::ReasoningDelta
            | EventKind::ToolStart
            | EventKind::Question
            | EventKind::ApprovalRequired
            | EventKind::PlanProposed
            | EventKind::SubagentStarted
            | EventKind::ImageStarted
            | EventKind::Media
            | EventKind::Fallback
            | EventKind::Continuation
            | EventKind::Notice
            | EventKind::Compacted
            | EventKind::Error
    )
}
