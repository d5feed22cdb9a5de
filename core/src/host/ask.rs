//! What waits for the user: questions, approvals, plans. Each is a row until it is settled.

use alloc::string::String;
use alloc::vec::Vec;

use super::fold::Fold;
use super::payload::{ApprovalPayload, Payload, PlanPayload, QuestionPayload};
use super::row::{Row, RowKind, Status};
use crate::error::Code;
use crate::event::{
    ApprovalRequired, ApprovalResolved, Decision, PlanProposed, PlanResolved, Question,
    QuestionOutcome, QuestionResolved,
};
use crate::limits::ROW_MAX_BYTES;
use crate::text::head_bytes;

impl Fold {
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
