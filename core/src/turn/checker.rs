//! A judge of anybody's stream: the order of a turn, without the emitter.

use alloc::boxed::Box;
use alloc::format;
use alloc::vec::Vec;

use super::order::{Irregular, Order, Phase, Thing, Touch, effect};
use crate::error::Code;
use crate::event::{Event, EventKind, Rules, Severity};
use crate::limits::DIAGNOSTIC_DETAIL_MAX_BYTES;
use crate::text::head_bytes;

/// Something that is out of order in a stream.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Finding {
    /// What is wrong.
    pub code: Code,
    /// How bad the stream's dialect finds it; never [`Severity::Allowed`].
    pub severity: Severity,
    /// The number of the event, from 1; at the end of the stream, how many there were.
    pub at: u64,
    /// The kind of the event, and the id that it speaks of or that is open.
    pub detail: Box<str>,
}

/// Holds a stream of events against the order of a turn.
///
/// The stream may hold several turns, one after the other. What is wrong is reported once, and the
/// event then taken as if it were right, so that one mistake does not make others of what follows.
/// Memory is bounded as the emitter's is; the work for an event does not grow with the stream.
///
/// ```
/// use turnwire::error::Code;
/// use turnwire::event::{Done, Event, Rules, TextDelta, TurnStarted};
/// use turnwire::turn::Checker;
///
/// let mut checker = Checker::new(Rules::CANONICAL);
/// assert!(checker.check(&TurnStarted::default().into()).is_empty());
/// assert!(checker.check(&Done::default().into()).is_empty());
/// let late = checker.check(&TextDelta::new("late").into());
/// assert_eq!((late[0].code, late[0].at), (Code::LateEvent, 3));
/// assert!(checker.finish().is_empty());
/// ```
#[derive(Clone, Debug)]
pub struct Checker {
    order: Order,
    rules: Rules,
    seen: u64,
}

impl Checker {
    /// A checker by the rules of a dialect.
    #[must_use]
    pub fn new(rules: Rules) -> Self {
        Self { order: Order::new(&rules), rules, seen: 0 }
    }

    /// What is wrong with the next event of the stream.
    #[must_use]
    pub fn check(&mut self, event: &Event<'_>) -> Vec<Finding> {
        self.seen = self.seen.saturating_add(1);
        let mut findings = Vec::new();
        if let Err(fault) = self.order.judge(event) {
            self.report(event, fault, &mut findings);
            if matches!(fault, Irregular::AfterEnd) {
                return findings;
            }
            // What the phase hid; an event can be wrong in both ways.
            if matches!(fault, Irregular::BeforeStart)
                && let Err(fault) = self.order.judge_touch(event)
            {
                self.report(event, fault, &mut findings);
            }
        }
        let was = self.order.phase();
        if event.is_terminal() && matches!(was, Phase::Before | Phase::Running) {
            self.report_open(&mut findings);
        }
        self.order.apply(event);
        findings
    }

    /// The stream is at its end: what is missing.
    #[must_use]
    pub fn finish(self) -> Vec<Finding> {
        let mut findings = Vec::new();
        let what = match self.order.phase() {
            Phase::Running => "no terminal",
            Phase::Ended if self.rules.trailer => "no trailer",
            Phase::Before | Phase::Ended | Phase::Closed => return findings,
        };
        let severity = self.rules.severities.no_terminal;
        self.push(&mut findings, Code::EndedWithoutTerminal, severity, what);
        findings
    }

    fn report(&self, event: &Event<'_>, fault: Irregular, findings: &mut Vec<Finding>) {
        let severities = &self.rules.severities;
        let kind = event.kind();
        let orphan = severities.orphan;
        let (code, severity) = match fault {
            Irregular::BeforeStart => (Code::IllegalOrder, severities.before_start),
            Irregular::SecondStart => (Code::IllegalOrder, Severity::Error),
            Irregular::AfterEnd => (Code::LateEvent, Severity::Error),
            Irregular::AlreadyOpen => (Code::DuplicateId, Severity::Error),
            Irregular::Full => (Code::TooManyOpen, Severity::Error),
            Irregular::LateArgs => (Code::LateArgs, orphan),
            Irregular::NotRunning => (Code::IllegalOrder, orphan),
            Irregular::Settled(_) if kind == EventKind::ToolResult => {
                (Code::DuplicateResult, orphan)
            }
            Irregular::Settled(_) => (Code::AlreadySettled, orphan),
            Irregular::Unknown if kind == EventKind::ToolResult => (Code::OrphanResult, orphan),
            Irregular::Unknown => match effect(kind).touch {
                Touch::Uses(_) | Touch::Writes | Touch::Completes => (Code::ParentUnknown, orphan),
                _ => (Code::UnknownId, orphan),
            },
        };
        let detail = format!("{} {}", kind.name(), Order::id_of(event));
        self.push(findings, code, severity, detail.trim_end());
    }

    fn report_open(&self, findings: &mut Vec<Finding>) {
        for thing in Thing::ALL {
            if thing == Thing::Question && self.rules.question_outlives_turn {
                continue;
            }
            for open in self.order.ledger(thing).open() {
                let id = if open.id.is_empty() { &open.label } else { &open.id };
                let detail = format!("{} {id} is open", thing.name());
                let severity = self.rules.severities.open_at_end;
                self.push(findings, Code::IllegalOrder, severity, &detail);
            }
        }
    }

    fn push(&self, findings: &mut Vec<Finding>, code: Code, severity: Severity, detail: &str) {
        if severity != Severity::Allowed {
            let detail = head_bytes(detail, DIAGNOSTIC_DETAIL_MAX_BYTES).into();
            findings.push(Finding { code, severity, at: self.seen, detail });
        }
    }
}
