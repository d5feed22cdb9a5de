//! How a turn ends, whatever ends it (`agent` 7, 8; X1 to X4).

use alloc::string::String;
use alloc::vec::Vec;

use serde_json::Value;

use super::fold::{Fold, spoken};
use super::op::Lifecycle;
use super::outcome::{EMPTY_TEXT, Failure, LOST_TEXT, Outcome, OutcomeKind};
use super::row::{Field, RowKind, Status};
use super::session::{Body, SessionRole};
use super::turn::Open;
use crate::error::Code;
use crate::event::{
    Authoritative, Cancelled, Channel, Done, DoneStatus, Eof, Error, SideChannel, TraceEntry,
};
use crate::limits::{CARD_ITEMS_MAX, ENDED_TURNS_MAX};
use crate::text::{is_blank, relative_path};

impl Fold {
    pub(super) fn done(&mut self, done: &Done<'_>, at: u64) {
        match done.status {
            Some(DoneStatus::Cancelled) => {
                self.queue.cancelled("user");
                return self.end_turn(Outcome::new(OutcomeKind::Stopped), None, at);
            }
            Some(_) => return self.end_turn(Outcome::new(OutcomeKind::Failed), None, at),
            None => {}
        }
        let given = spoken(done.text.as_deref()).map(str::trim);
        if given.is_none() && self.is_blank_turn() {
            let outcome = Outcome::with(OutcomeKind::Empty, EMPTY_TEXT);
            return self.end_turn(outcome, None, at);
        }
        let text = self.final_text(given, at);
        if let Some(id) = self.short(done.message_id.as_deref()) {
            self.name_message(id);
        }
        self.end_turn(Outcome::new(OutcomeKind::Finished), Some(text), at);
        if let Some(Ok(cwd)) = done.cwd.as_deref().map(relative_path) {
            self.set_cwd(cwd);
        }
    }

    /// The id under which the answer was stored, for rows that have none yet.
    fn name_message(&mut self, id: &str) {
        let Some(turn) = self.live.turn.as_ref() else { return };
        let rows = self.ring.rows().rev().take_while(|row| row.id >= turn.first_row);
        let unnamed: Vec<u64> = rows
            .filter(|row| row.kind == RowKind::Assistant && row.message_id.is_none())
            .map(|row| row.id)
            .collect();
        for row in unnamed {
            self.edit(row, Field::MessageId, |row| row.message_id = Some(id.into()));
        }
    }

    /// The final text of a turn that went well, after the rows were brought to say it.
    fn final_text(&mut self, given: Option<&str>, at: u64) -> String {
        let Some(turn) = self.live.turn.as_ref() else { return String::new() };
        let text = match given {
            Some(text) => String::from(text),
            None => turn.gathered.trimmed(&self.ring),
        };
        let is_tail_open = matches!(turn.open, Open::Text(_));
        let segments = turn.segments.len();
        match self.rules.authoritative {
            Authoritative::PatchSegment if given.is_none() => {}
            Authoritative::PatchSegment => {
                self.heal(0..segments);
                self.patch_final(&text, at);
            }
            Authoritative::OpenTail if segments == 0 => self.push_final(&text, at),
            Authoritative::OpenTail if is_tail_open => self.rewrite_tail(&text, at),
            Authoritative::OpenTail => self.push_rest(&text, at),
        }
        text
    }

    /// Brings the segments to say `text`: nothing to do if they do, or if it is what the last of
    /// them says.
    fn patch_final(&mut self, text: &str, at: u64) {
        let Some(turn) = self.live.turn.as_ref() else { return };
        let segments = turn.segments.len();
        let said = turn.gathered.strip(None, text, &self.ring).is_some_and(is_blank)
            || turn.gathered.trimmed(&self.ring) == text;
        if segments == 0 {
            self.push_final(text, at);
        } else if !said && self.segment_text(segments - 1).trim() != text {
            self.rewrite_group(0..segments, text, at);
        }
    }

    /// A bubble for text that no delta brought.
    fn push_final(&mut self, text: &str, at: u64) {
        let id = self.push_text(RowKind::Assistant, text, at);
        let message = self.live.turn.as_ref().and_then(|turn| turn.message_id.clone());
        if let Some(slot) = self.ring.slot_mut(id) {
            slot.row.message_id = message;
        }
    }

    /// Rewrites the open tail, if the text begins with what is closed (`agent` 7, `done`).
    fn rewrite_tail(&mut self, text: &str, at: u64) {
        let Some(turn) = self.live.turn.as_ref() else { return };
        let last = turn.segments.len().saturating_sub(1);
        let tail_row = turn.segments.last().and_then(|segment| segment.rows.first()).copied();
        if last == 0 {
            self.rewrite(0, text, at);
        } else if let Some(rest) = turn.gathered.strip(tail_row, text, &self.ring)
            && !is_blank(rest)
        {
            self.rewrite(last, rest, at);
        }
    }

    /// The stream ended on something else than text: a bubble only for what no bubble says.
    fn push_rest(&mut self, text: &str, at: u64) {
        let Some(turn) = self.live.turn.as_ref() else { return };
        match turn.gathered.strip(None, text, &self.ring) {
            Some(rest) if is_blank(rest) => {}
            Some(rest) => self.push_final(rest.trim_start(), at),
            None if turn.gathered.trimmed(&self.ring) == text => {}
            None => self.push_final(text, at),
        }
    }

    pub(super) fn error(&mut self, error: &Error<'_>, at: u64) {
        if error.recoverable {
            return self.recoverable(error, at);
        }
        let mut failure = Failure::new(&*error.message);
        failure.status = error.status;
        failure.code = error.code.as_deref().map(Into::into);
        self.end_turn(failure.classify(), None, at);
    }

    pub(super) fn cancelled(&mut self, cancelled: &Cancelled<'_>, at: u64) {
        self.queue.cancelled(&cancelled.by);
        self.end_turn(Outcome::new(OutcomeKind::Stopped), None, at);
    }

    /// The input of a channel ended, or its connection broke. What that means for a turn that
    /// runs is a rule of the dialect (X3); nothing if no turn runs.
    pub fn end_of_input(&mut self, channel: Channel, at_ms: u64) {
        let eof = match channel {
            Channel::Turn => self.rules.eof_turn,
            Channel::Events => self.rules.eof_events,
            Channel::Answer | Channel::Cancel | Channel::Load => return,
        };
        if self.live.turn.is_none() || eof == Eof::NotATurn {
            return;
        }
        self.diagnostics.push(Code::EndedWithoutTerminal, self.live.events);
        match eof {
            Eof::Agent => self.done(&Done::new(), at_ms),
            _ => {
                self.lose(at_ms);
                self.broke_off();
            }
        }
    }

    /// The stream that tells of the turn is gone for good: the turn is lost. Nothing if no turn
    /// runs.
    pub fn lose(&mut self, at_ms: u64) {
        if self.live.turn.is_some() {
            self.end_turn(Outcome::with(OutcomeKind::Lost, LOST_TEXT), None, at_ms);
        }
    }

    /// The JSON answer to a request: its tools as cards of 200, each with its summary as detail,
    /// then its text; the turn is finished (`agent` 7, JSON path). Nothing if no turn runs.
    pub fn answer_json(
        &mut self,
        text: &str,
        trace: &[TraceEntry<'_>],
        cwd: Option<&str>,
        at_ms: u64,
    ) {
        if self.live.turn.is_none() {
            return;
        }
        self.acknowledge(None);
        for group in trace.chunks(CARD_ITEMS_MAX) {
            self.push_trace(group, at_ms);
        }
        let mut done = Done::new();
        done.text = Some(text.into());
        done.cwd = cwd.map(Into::into);
        self.done(&done, at_ms);
    }

    pub(super) fn end_turn(&mut self, outcome: Outcome, text: Option<String>, at: u64) {
        self.close_card();
        let tail = self.live.turn.as_ref().map(|turn| turn.open);
        if let (Some(Open::Text(row)), false) = (tail, outcome.kind == OutcomeKind::Finished) {
            self.edit(row, Field::Status, |row| row.status = Some(Status::Interrupted));
        }
        self.interrupt_calls();
        self.settle_rows(outcome.kind == OutcomeKind::Finished);
        let Some(turn) = self.live.turn.take() else { return };
        let text = text.unwrap_or_else(|| turn.gathered.trimmed(&self.ring));
        if !is_blank(&text) {
            self.store(SessionRole::Assistant, Body::Text(text), at);
        }
        let owed = turn.own && !turn.foreign && !turn.side_ended && self.live.side_seen;
        self.live.side_tail = owed && self.rules.side_channel == SideChannel::MutedWhileBusy;
        self.live.gap = false;
        if turn.own && outcome.kind != OutcomeKind::Stopped {
            // The server went on to this one: one that was stopped before does not begin any more.
            self.live.stopped_user = None;
        }
        let (kind, line) = outcome.line();
        let role = if kind == RowKind::System { SessionRole::System } else { SessionRole::Error };
        let row = self.push_text(kind, &line, at);
        if let Some(slot) = self.ring.slot_mut(row) {
            slot.row.turn_id.clone_from(&turn.id);
        }
        self.store(role, Body::Text(line), at);
        self.drop_reused();
        self.live.told = Some(turn.told);
        self.live.outcome = Some(outcome);
        self.live.ended = true;
        self.live.late_noted = false;
        if let Some(id) = turn.id {
            self.remember_ended(id);
        }
        self.set_state("phase", Value::Null);
        if turn.foreign && self.live.pending_user.is_some() {
            // The message sent from here waited behind another host's turn.
            self.begin_turn(true);
        } else {
            self.live.pending_user = None;
            self.set_lifecycle(Lifecycle::Ready);
        }
    }

    pub(super) fn remember_ended(&mut self, id: alloc::boxed::Box<str>) {
        if self.live.ended_ids.len() >= ENDED_TURNS_MAX {
            self.live.ended_ids.pop_front();
        }
        self.live.ended_ids.push_back(id);
    }

    /// Settles what waits in the rows of the turn, and folds its thinking up (X4; `agent` A20).
    /// Looks at each row of the turn once.
    fn settle_rows(&mut self, finished: bool) {
        let Some(first) = self.live.turn.as_ref().map(|turn| turn.first_row) else { return };
        let rows = self.ring.rows().rev().map(|row| row.id).take_while(|id| *id >= first);
        let mut ids: Vec<u64> = rows.collect();
        ids.reverse();
        for id in ids {
            let Some(row) = self.ring.get(id) else { continue };
            let open = row.status.is_some_and(Status::is_open);
            match row.kind {
                RowKind::Thinking if row.collapsed == Some(false) => {
                    self.collapse_row(id, true);
                }
                RowKind::Question if self.rules.question_outlives_turn => {}
                RowKind::Notice if open && finished => {
                    self.edit(id, Field::Status, |row| row.status = Some(Status::Ok));
                }
                _ if open => {
                    self.edit(id, Field::Status, |row| row.status = Some(Status::Interrupted));
                }
                _ => {}
            }
        }
    }
}
