//! What waits for a person, until when, and how it was settled.

use alloc::collections::VecDeque;
use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use super::order::Thing;
use crate::error::{CallerError, Code};
use crate::event::{Answer, Decision, Event, QuestionItem, QuestionOutcome};
use crate::limits::SETTLED_UNREAD_MAX;
use crate::time::Millis;

/// A question, an approval or a plan that was settled, whatever settled it: what wakes the code
/// that waits for it.
///
/// As JSON it has `kind` (`question`, `approval` or `plan`), `id` except for the plan, of which a
/// turn has one at a time, and the fields of its variant, without those that are absent.
///
/// ```
/// use turnwire::event::Decision;
/// use turnwire::turn::Settled;
/// let settled = Settled::Approval { id: "a1".into(), decision: Decision::Timeout, by: "timeout".into() };
/// assert!(!settled.is_consent());
/// let json = serde_json::to_string(&settled).expect("plain data");
/// assert_eq!(json, r#"{"kind":"approval","id":"a1","decision":"timeout","by":"timeout"}"#);
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Settled {
    /// A question.
    Question {
        /// Which.
        id: String,
        /// How.
        outcome: QuestionOutcome,
        /// What was answered.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        answers: Vec<Answer<'static>>,
    },
    /// An approval.
    Approval {
        /// Which.
        id: String,
        /// How.
        decision: Decision,
        /// By whom.
        by: String,
    },
    /// The plan.
    Plan {
        /// Whether it may go on.
        approved: bool,
        /// The plan as the user changed it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        edits: Option<String>,
        /// Why not; `interrupted` if the turn ended first.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
}

impl Settled {
    /// Whether the user agreed. Nothing but an `allow` and an approved plan is consent: no
    /// time-out, no cancel, no answer to a question.
    #[must_use]
    pub fn is_consent(&self) -> bool {
        match self {
            Self::Question { .. } => false,
            Self::Approval { decision, .. } => *decision == Decision::Allow,
            Self::Plan { approved, .. } => *approved,
        }
    }

    fn of(event: &Event<'_>) -> Option<Self> {
        Some(match event {
            Event::QuestionResolved(e) => Self::Question {
                id: e.question_id.as_ref().into(),
                outcome: e.outcome,
                answers: e.answers.iter().map(|answer| answer.clone().into_owned()).collect(),
            },
            Event::ApprovalResolved(e) => Self::Approval {
                id: e.approval_id.as_ref().into(),
                decision: e.decision,
                by: e.by.as_ref().into(),
            },
            Event::PlanResolved(e) => Self::Plan {
                approved: e.approved,
                edits: e.edits.as_deref().map(String::from),
                reason: e.reason.as_deref().map(String::from),
            },
            _ => return None,
        })
    }
}

/// A question or an approval that waits.
#[derive(Clone, Debug)]
pub(super) struct Wait {
    pub thing: Thing,
    pub id: String,
    deadline: Option<Millis>,
    items: Vec<Item>,
}

/// What may be answered to one item of a question.
#[derive(Clone, Debug)]
struct Item {
    id: String,
    options: Vec<String>,
    multiple: bool,
}

/// The things that wait, in the order of opening, and what was settled and not asked for yet.
///
/// As many wait as the order lets be open; finding one goes through them.
#[derive(Clone, Debug, Default)]
pub(super) struct Waits {
    open: Vec<Wait>,
    settled: VecDeque<Settled>,
}

impl Waits {
    /// Takes in what `event` opens at `now`.
    pub fn begin(&mut self, event: &Event<'_>, now: Millis) {
        let (thing, id, timeout_ms, items) = match event {
            Event::Question(e) => (
                Thing::Question,
                &e.question_id,
                e.timeout_ms,
                e.questions.iter().map(Item::of).collect(),
            ),
            Event::ApprovalRequired(e) => {
                (Thing::Approval, &e.approval_id, e.timeout_ms, Vec::new())
            }
            _ => return,
        };
        let deadline = timeout_ms.map(|ms| now + ms);
        self.open.push(Wait { thing, id: id.as_ref().into(), deadline, items });
    }

    /// Takes in what `event` settles. `false` if an older one had to be forgotten for it.
    pub fn end(&mut self, event: &Event<'_>) -> bool {
        let Some(settled) = Settled::of(event) else { return true };
        let found = match &settled {
            Settled::Question { id, .. } => self.position(Thing::Question, id),
            Settled::Approval { id, .. } => self.position(Thing::Approval, id),
            Settled::Plan { .. } => None,
        };
        if let Some(index) = found {
            self.open.remove(index);
        }
        self.settled.push_back(settled);
        let fits = self.settled.len() <= SETTLED_UNREAD_MAX;
        if !fits {
            self.settled.pop_front();
        }
        fits
    }

    /// Takes what was settled since last asked, in its order.
    pub fn take_settled(&mut self) -> Vec<Settled> {
        self.settled.drain(..).collect()
    }

    /// The next deadline.
    pub fn deadline(&self) -> Option<Millis> {
        self.open.iter().filter_map(|wait| wait.deadline).min()
    }

    /// What is due at `now`: by deadline, those of one deadline in the order of opening.
    pub fn due(&self, now: Millis) -> Vec<(Thing, String)> {
        let is_due = |wait: &&Wait| wait.deadline.is_some_and(|deadline| deadline <= now);
        let mut due: Vec<&Wait> = self.open.iter().filter(is_due).collect();
        due.sort_by_key(|wait| wait.deadline);
        due.into_iter().map(|wait| (wait.thing, wait.id.clone())).collect()
    }

    /// Whether these answers can be answers to the question: each speaks of another item of it,
    /// and selects options that the item has, of which one unless it says `multiple`. What an item
    /// or a question does not list cannot be held against an answer; text of one's own always may
    /// be. An item may be left unanswered.
    pub fn check_answers(&self, id: &str, answers: &[Answer<'_>]) -> Result<(), CallerError> {
        let Some(wait) = self.position(Thing::Question, id).and_then(|at| self.open.get(at)) else {
            return Ok(());
        };
        if wait.items.is_empty() {
            return Ok(());
        }
        let refused = |what: &str| Err(CallerError::new(Code::BadOption).with(what));
        for (n, answer) in answers.iter().enumerate() {
            let Some(item) = wait.items.iter().find(|item| item.id == answer.id) else {
                return refused(&answer.id);
            };
            // Earlier answers are of other items, or it stopped there: no more than there are items.
            if answers.iter().take(n).any(|earlier| earlier.id == answer.id) {
                return refused(&answer.id);
            }
            let unknown = |selected: &&str| !item.options.iter().any(|option| option == selected);
            if !item.options.is_empty()
                && let Some(selected) = answer.selected.iter().map(AsRef::as_ref).find(unknown)
            {
                return refused(selected);
            }
            if !item.multiple && answer.selected.len() > 1 {
                return refused(&answer.id);
            }
        }
        Ok(())
    }

    fn position(&self, thing: Thing, id: &str) -> Option<usize> {
        self.open.iter().position(|wait| wait.thing == thing && wait.id == id)
    }
}

impl Item {
    fn of(item: &QuestionItem<'_>) -> Self {
        Self {
            id: item.id.as_ref().into(),
            options: item.options.iter().map(|option| option.id.as_ref().into()).collect(),
            multiple: item.multiple,
        }
    }
}
