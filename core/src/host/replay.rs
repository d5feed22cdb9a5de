//! What comes again: resyncs, turns told twice, and the holes between two connections.

use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::fold::Fold;
use super::op::{Lifecycle, WindowReason};
use super::row::{Field, RowKind, Status};
use super::session::{Body, Session};
use super::turn::{Open, PendingUser, Turn};
use crate::event::{Envelope, Event, OnResync, Resync, TextDelta, TurnStarted};

/// By what a turn is known again in a dialect that does not number its events.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Told {
    user_message_id: Option<Box<str>>,
    message_id: Option<Box<str>>,
    user_text: Option<String>,
}

impl Told {
    pub(super) fn of(start: &TurnStarted<'_>) -> Self {
        Self {
            user_message_id: start.user_message_id.as_deref().map(Into::into),
            message_id: start.message_id.as_deref().map(Into::into),
            user_text: start.user_text.as_deref().map(Into::into),
        }
    }

    /// Whether this start is of the same turn: by the first thing that both name.
    fn repeats(&self, start: &TurnStarted<'_>) -> bool {
        let pairs = [
            (self.user_message_id.as_deref(), start.user_message_id.as_deref()),
            (self.message_id.as_deref(), start.message_id.as_deref()),
            (self.user_text.as_deref(), start.user_text.as_deref()),
        ];
        let same = |(a, b): (Option<&str>, Option<&str>)| Some(a? == b?);
        pairs.into_iter().find_map(same).unwrap_or(false)
    }
}

impl Fold {
    /// The stream has a hole: what was open does not go on. What else follows is a rule of the
    /// dialect.
    pub(super) fn resync(&mut self, resync: &Resync<'_>, at: u64) {
        self.close_open();
        self.live.side_tail = false;
        match self.rules.resync {
            OnResync::Rebuild if matches!(&*resync.reason, "epoch" | "ahead") => {
                return self.rebuild();
            }
            OnResync::Rebuild => return self.say_missed(resync, at),
            OnResync::Turn => self.live.replay_due = true,
            OnResync::Load => self.want_load(),
        }
        self.live.epochs.clear();
        self.panel_value("resync", resync);
    }

    /// The log is another: nothing of what is shown is in it. A message that waits for a sign of
    /// the server stays.
    fn rebuild(&mut self) {
        let user = self.live.pending_user.take();
        self.ring.clear();
        self.calls.clear();
        let id = core::mem::take(&mut self.session.id);
        self.session = Session { id, updated_at: self.session.updated_at, ..Session::default() };
        self.queue.hydrated(0);
        self.queue.window(WindowReason::Resync);
        let live = &mut self.live;
        live.turn = None;
        live.ended = false;
        live.ended_ids.clear();
        live.epochs.clear();
        live.told = None;
        live.repeats = false;
        live.reuse = (0, 0);
        (live.window_start, live.earlier, live.scrolled) = (0, 0, false);
        for key in ["title", "phase", "context", "todo", "queue", "state", "resync"] {
            self.set_state(key, Value::Null);
        }
        match user {
            Some(user) => {
                let (client_id, at) = (user.client_id.clone(), self.session.updated_at);
                let row = self.push_user(&user.text, None, client_id.as_deref(), at);
                self.live.pending_user = Some(PendingUser { row, ..user });
                self.begin_turn(true);
            }
            None => self.set_lifecycle(Lifecycle::Ready),
        }
    }

    /// What lies between the last event that was seen and the oldest that is left.
    fn say_missed(&mut self, resync: &Resync<'_>, at: u64) {
        let last = self.live.epochs.back().map(|(_, last)| *last);
        let (Some(last), Some(oldest)) = (last, resync.oldest_seq) else { return };
        let missed = oldest.saturating_sub(last).saturating_sub(1);
        if missed > 0 {
            let text = format!("{missed} events were missed");
            self.push_notice("resync", Some(&resync.reason), &text, at);
        }
    }

    pub(super) fn want_load(&mut self) {
        self.live.load_due = true;
        self.live.loading = true;
    }

    /// The answer to the turn broke off: the session on the server says what became of it, where
    /// the dialect loads sessions (`chat` 6, A9, A10).
    pub fn broke_off(&mut self) {
        if self.rules.resync == OnResync::Load {
            self.want_load();
        }
    }

    /// Whether the session is to be loaded now. A turn that runs ends first.
    #[must_use = "`true` asks for the request"]
    pub fn take_load(&mut self) -> bool {
        self.live.turn.is_none() && core::mem::take(&mut self.live.load_due)
    }

    /// Shows the session that was loaded after a resync, in the place of all rows.
    ///
    /// # Errors
    ///
    /// Those of [`hydrate`](Self::hydrate).
    pub fn reload(&mut self, session: &Value) -> Result<(), crate::error::CallerError> {
        self.put(session, WindowReason::Resync)?;
        self.live.loading = self.live.load_due;
        self.set_state("resync", Value::Null);
        Ok(())
    }

    /// The session could not be loaded: a row says so, and what is shown goes on.
    pub fn reload_failed(&mut self, message: &str, at_ms: u64) {
        self.live.loading = self.live.load_due;
        self.push_error("Session not loaded", message, at_ms);
    }

    pub(super) fn push_error(&mut self, what: &str, message: &str, at: u64) {
        let line = if message.is_empty() { what.into() } else { format!("{what} · {message}") };
        self.snap_to_latest();
        self.push_text(RowKind::Error, &line, at);
    }

    /// The stream that watches is another connection than before: what was sent in between and
    /// has no number is missing.
    pub fn reconnected(&mut self) {
        self.live.gap = self.live.turn.is_some();
    }

    /// A piece of text behind a hole is not glued to what was before it; both are marked until
    /// authoritative text comes (`workspace` A9).
    pub(super) fn text_after_gap(&mut self, delta: &TextDelta<'_>, at: u64) {
        let open = self.live.turn.as_ref().map(|turn| turn.open);
        if let Some(Open::Text(row)) = open {
            self.mark_partial(row);
            self.close_open();
        }
        self.text_delta(delta, at);
        if let Some(Open::Text(row)) = self.live.turn.as_ref().map(|turn| turn.open) {
            self.live.gap = false;
            self.mark_partial(row);
        }
    }

    fn mark_partial(&mut self, row: u64) {
        self.edit(row, Field::Status, |row| row.status = Some(Status::Interrupted));
    }

    /// Authoritative text has spoken of these segments: they are whole.
    pub(super) fn heal(&mut self, group: core::ops::Range<usize>) {
        self.live.gap = false;
        let Some(turn) = self.live.turn.as_ref() else { return };
        let segments = turn.segments.iter().skip(group.start).take(group.len());
        let rows: alloc::vec::Vec<u64> = segments.flat_map(|s| s.rows.iter().copied()).collect();
        for id in rows {
            if self.ring.get(id).is_some_and(|row| row.status.is_some()) {
                self.edit(id, Field::Status, |row| row.status = None);
            }
        }
    }

    /// Whether the event belongs to a turn that is shown and is told once more; then it has no
    /// effect. A turn that runs may be told anew: what is shown of it goes.
    pub(super) fn is_told_again(&mut self, env: &Envelope<'_>, of_turn: bool) -> bool {
        if self.live.replay_due && of_turn {
            return self.replay_begins(env);
        }
        if env.seq.is_some() {
            return false;
        }
        if let Event::TurnStarted(start) = &env.event {
            self.live.repeats = self.repeats_last(start);
            if self.restarts(start) {
                self.restart_turn();
            }
        } else if let Event::UserMessage(message) = &env.event
            && self.restarts(&TurnStarted {
                user_text: Some(message.text.as_ref().into()),
                ..TurnStarted::new()
            })
        {
            self.restart_turn();
        }
        let repeats = self.live.repeats;
        if repeats && env.event.is_terminal() {
            self.live.repeats = false;
        }
        repeats
    }

    /// The first event of a turn after a resync.
    fn replay_begins(&mut self, env: &Envelope<'_>) -> bool {
        self.live.replay_due = false;
        self.set_state("resync", Value::Null);
        if self.live.turn.as_ref().is_some_and(|turn| turn.started) {
            self.restart_turn();
        } else if let Event::TurnStarted(start) = &env.event {
            self.live.repeats = self.repeats_last(start);
        }
        self.live.repeats
    }

    /// Whether this is the last turn, which has ended, and not the one that waits for its start.
    fn repeats_last(&self, start: &TurnStarted<'_>) -> bool {
        let waits = match (&self.live.turn, &self.live.pending_user) {
            (None, _) => true,
            (Some(turn), Some(user)) => {
                let text = start.user_text.as_deref();
                !turn.started && text.is_some() && !user.is(start.client_id.as_deref(), text)
            }
            _ => false,
        };
        let known = |told: &Told| told.repeats(start);
        waits && start.turn_id.is_none() && self.live.told.as_ref().is_some_and(known)
    }

    /// Whether this is the turn that runs, from its start.
    fn restarts(&self, start: &TurnStarted<'_>) -> bool {
        let running = self.live.turn.as_ref().filter(|turn| turn.start_seen);
        self.rules.resync == OnResync::Turn && running.is_some_and(|turn| turn.told.repeats(start))
    }

    /// Takes back what is shown of the turn that runs. Its messages in the session are written
    /// again, under the ids that they have.
    fn restart_turn(&mut self) {
        let Some(turn) = self.live.turn.take() else { return };
        for row in self.ring.truncate(turn.first_row) {
            // Until it is written again a message keeps what it said.
            if let (Some(index), Some(card)) = (self.session.card_index(row.id), row.card())
                && let Some(message) = self.session.messages.get_mut(index)
            {
                message.body = Body::Text(card.encode());
            }
            for item in row.card().map_or(&[][..], |card| card.items()) {
                if let Some(id) = item.call_id.as_deref() {
                    self.calls.remove(id);
                }
            }
        }
        self.session.cards.retain(|(row, _)| *row < turn.first_row);
        self.live.reuse = (turn.first_message, self.session.messages.len());
        self.queue.window(WindowReason::Resync);
        self.live.turn = Some(Turn {
            id: turn.id,
            own: turn.own,
            foreign: turn.foreign,
            started: true,
            echo: turn.user.clone(),
            user: turn.user,
            first_row: self.ring.next_id(),
            first_message: turn.first_message,
            ..Turn::default()
        });
    }

    /// Whether the second channel only repeats what the turn's own says, or what a session that is
    /// being loaded will say.
    #[inline]
    pub(super) fn is_muted(&mut self, env: &Envelope<'_>, of_turn: bool) -> bool {
        if !self.is_beside(env) {
            return false;
        }
        self.live.side_seen = true;
        let muted = self.mutes(&env.event, of_turn);
        self.live.ignored.muted += u64::from(muted);
        muted
    }

    fn mutes(&mut self, event: &Event<'_>, of_turn: bool) -> bool {
        if matches!(event, Event::Resync(_)) {
            return false;
        }
        if let Some(turn) = self.live.turn.as_mut().filter(|turn| turn.own && !turn.foreign) {
            turn.side_ended |= turn.started && event.is_terminal();
            return true;
        }
        if self.live.loading {
            return true;
        }
        // The rest of a turn whose end came over its own channel first.
        let rest = self.live.side_tail && of_turn && !matches!(event, Event::Question(_));
        self.live.side_tail &= !(rest && event.is_terminal());
        rest
    }
}
