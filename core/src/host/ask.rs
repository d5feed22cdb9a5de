//! What waits for the user: questions, approvals, plans. Each is a row until it is settled.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::fold::Fold;
use super::payload::{ApprovalPayload, Payload, PlanPayload, QuestionPayload};
use super::row::{Row, RowKind, Status};
use crate::error::Code;
use crate::event::{
    Answer, ApprovalRequired, ApprovalResolved, Decision, Event, PlanProposed, PlanResolved,
    Question, QuestionOutcome, QuestionResolved, Str,
};
use crate::limits::ROW_MAX_BYTES;
use crate::text::head_bytes;

/// What waits for the user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(clippy::exhaustive_enums, reason = "the three things that a turn waits for")]
pub enum Asked<'a> {
    /// The question of this id.
    Question(&'a str),
    /// The approval of this id.
    Approval(&'a str),
    /// The newest plan.
    Plan,
}

impl Asked<'_> {
    /// Its id; a plan's is `plan`.
    #[must_use]
    pub const fn id(&self) -> &str {
        match self {
            Self::Question(id) | Self::Approval(id) => id,
            Self::Plan => "plan",
        }
    }
}

impl Fold {
    fn asked_row(&self, what: Asked<'_>) -> Option<u64> {
        match what {
            Asked::Question(id) => self.question_row(id),
            Asked::Approval(id) => self.approval_row(id),
            Asked::Plan => self.open_plan().or_else(|| self.find_row(RowKind::Plan, |_| true)),
        }
    }

    /// How far it is; `None` if no row shows it.
    #[must_use]
    pub fn asked_status(&self, what: Asked<'_>) -> Option<Status> {
        self.ring.get(self.asked_row(what)?)?.status
    }

    /// The server took what the user decided: the row shows it, unless the stream has settled it
    /// before. Events that resolve nothing change nothing.
    pub fn agreed(&mut self, event: &Event<'_>) {
        let waits = |fold: &Self, what| fold.asked_status(what).is_some_and(Status::is_open);
        match event {
            Event::QuestionResolved(e) if waits(self, Asked::Question(&e.question_id)) => {
                self.question_resolved(e);
            }
            Event::ApprovalResolved(e) if waits(self, Asked::Approval(&e.approval_id)) => {
                self.approval_resolved(e);
            }
            Event::PlanResolved(e) if waits(self, Asked::Plan) => self.plan_resolved(e),
            _ => {}
        }
    }

    /// The server did not take what the user decided: a row says why. If what waited is `gone`,
    /// its row is settled, and the stream may still say how; else it can be answered again.
    pub fn refuse_answer(&mut self, what: Asked<'_>, gone: bool, message: &str, at_ms: u64) {
        if let Some(row) = self.asked_row(what).filter(|_| gone) {
            self.edit_payload(row, |row| {
                if row.status.is_some_and(Status::is_open) {
                    row.status = Some(Status::Interrupted);
                }
            });
        }
        let text = if gone { "Answer came too late" } else { "Answer not taken" };
        self.push_error(text, message, at_ms);
    }

    /// Answers as a message of the user: the labels of what was chosen and the user's own text,
    /// one line a question, with the questions before them where there are several.
    #[must_use]
    pub fn answer_text(&self, question_id: &str, answers: &[Answer<'_>]) -> String {
        let row = self.question_row(question_id).and_then(|row| self.ring.get(row));
        let Some(Payload::Question(asked)) = row.map(|row| &row.payload) else {
            return String::new();
        };
        let mut lines = Vec::new();
        for answer in answers {
            let item = asked.questions.iter().find(|item| item.id == answer.id);
            let label = |id: &Str<'_>| {
                let choice = item.and_then(|item| item.options.iter().find(|c| c.id == *id));
                String::from(choice.map_or(&**id, |choice| &*choice.label))
            };
            let mut parts: Vec<String> = answer.selected.iter().map(label).collect();
            parts.extend(answer.text.as_deref().map(String::from));
            let said = parts.join(", ");
            lines.push(match item.filter(|_| asked.questions.len() > 1) {
                Some(item) => format!("{} {said}", item.text),
                None => said,
            });
        }
        lines.join("\n")
    }

    pub(super) fn question(&mut self, question: &Question<'_>, at: u64) {
        let id = &*question.question_id;
        if self.question_row(id).is_some() {
            return;
        }
        let text = lines(question.questions.iter().map(|item| &*item.text));
        let mut row = Row::new(0, RowKind::Question, at, text);
        row.status = Some(Status::Open);
        row.payload = Payload::Question(QuestionPayload {
            question_id: id.into(),
            questions: question.questions.iter().map(|item| item.clone().into_owned()).collect(),
            deadline_ms: question.timeout_ms.map(|ms| at.saturating_add(ms)),
            answers: Vec::new(),
        });
        self.push_row(row);
    }

    fn question_row(&self, id: &str) -> Option<u64> {
        self.find_row(
            RowKind::Question,
            |row| matches!(&row.payload, Payload::Question(p) if *p.question_id == *id),
        )
    }

    pub(super) fn question_resolved(&mut self, resolved: &QuestionResolved<'_>) {
        let status = match resolved.outcome {
            QuestionOutcome::Answered => Status::Answered,
            QuestionOutcome::Timeout => Status::Timeout,
            QuestionOutcome::Cancelled => Status::Cancelled,
            QuestionOutcome::Shutdown => Status::Shutdown,
        };
        let row = self.question_row(&resolved.question_id);
        self.settle(row, &resolved.question_id, |row| {
            row.status = Some(status);
            if let Payload::Question(p) = &mut row.payload {
                p.answers = resolved.answers.iter().map(|a| a.clone().into_owned()).collect();
            }
        });
    }

    pub(super) fn approval_required(&mut self, approval: &ApprovalRequired<'_>, at: u64) {
        let id = &*approval.approval_id;
        if self.approval_row(id).is_some() {
            return;
        }
        let text = lines(approval.effects.iter().map(|effect| &*effect.text));
        let mut row = Row::new(0, RowKind::Approval, at, text);
        row.status = Some(Status::Open);
        row.payload = Payload::Approval(ApprovalPayload {
            approval_id: id.into(),
            call_id: approval.call_id.as_deref().map(Into::into),
            name: approval.name.as_deref().map(Into::into),
            effects: approval.effects.iter().map(|effect| effect.clone().into_owned()).collect(),
            deadline_ms: approval.timeout_ms.map(|ms| at.saturating_add(ms)),
            by: None,
        });
        self.push_row(row);
    }

    fn approval_row(&self, id: &str) -> Option<u64> {
        self.find_row(
            RowKind::Approval,
            |row| matches!(&row.payload, Payload::Approval(p) if *p.approval_id == *id),
        )
    }

    pub(super) fn approval_resolved(&mut self, resolved: &ApprovalResolved<'_>) {
        let status = match resolved.decision {
            Decision::Allow => Status::Allowed,
            Decision::Deny => Status::Denied,
            Decision::Cancelled => Status::Cancelled,
            Decision::Timeout => Status::Timeout,
        };
        let row = self.approval_row(&resolved.approval_id);
        self.settle(row, &resolved.approval_id, |row| {
            row.status = Some(status);
            if let Payload::Approval(p) = &mut row.payload {
                p.by = Some(resolved.by.as_ref().into());
            }
        });
    }

    /// A new plan. One that still waits was replaced by it.
    pub(super) fn plan_proposed(&mut self, plan: &PlanProposed<'_>, at: u64) {
        let replaced = self.open_plan();
        if let Some(row) = replaced {
            self.settle(Some(row), "", |row| row.status = Some(Status::Cancelled));
        }
        let mut row = Row::new(0, RowKind::Plan, at, bounded(&plan.plan));
        row.status = Some(Status::Open);
        row.payload = Payload::Plan(PlanPayload::default());
        self.push_row(row);
    }

    fn open_plan(&self) -> Option<u64> {
        self.find_row(RowKind::Plan, |row| row.status == Some(Status::Open))
    }

    pub(super) fn plan_resolved(&mut self, resolved: &PlanResolved<'_>) {
        let row = self.open_plan();
        self.settle(row, "plan", |row| {
            let approved = resolved.approved;
            row.status = Some(if approved { Status::Approved } else { Status::Rejected });
            if let Some(edits) = resolved.edits.as_deref().filter(|_| approved) {
                row.text = bounded(edits);
            }
            if let Payload::Plan(p) = &mut row.payload {
                p.reason = resolved.reason.as_deref().map(Into::into);
            }
        });
    }

    /// Settles a row that waits. One settled by the end of its turn may still learn how; any
    /// other settled row, and an unknown one, stay as they are.
    fn settle(&mut self, row: Option<u64>, id: &str, change: impl FnOnce(&mut Row)) {
        let Some(row) = row else {
            self.diagnostics.push_with(Code::OrphanResult, self.live.events, id);
            return;
        };
        let waits = |status: Status| status.is_open() || status == Status::Interrupted;
        if self.ring.get(row).and_then(|row| row.status).is_some_and(waits) {
            self.edit_payload(row, change);
        }
    }
}

/// Texts as lines of one row.
fn lines<'a>(texts: impl Iterator<Item = &'a str>) -> String {
    let mut out = String::new();
    for text in texts {
        if !out.is_empty() {
            out.push('\n');
        }
        out.push_str(text);
        if out.len() > ROW_MAX_BYTES {
            return bounded(&out);
        }
    }
    out
}

/// Text of a row that is not continued in another: cut with `…`.
pub(super) fn bounded(text: &str) -> String {
    if text.len() <= ROW_MAX_BYTES {
        return text.into();
    }
    let mut out = String::from(head_bytes(text, ROW_MAX_BYTES - '…'.len_utf8()));
    out.push('…');
    out
}
