//! One event: whether it concerns this host now, and what it leads to.

use alloc::boxed::Box;

use super::fold::Fold;
use super::turn::Open;
use crate::error::Code;
use crate::event::{Channel, Envelope, Event, SideChannel};
use crate::limits::{EPOCHS_MAX, NAME_MAX_BYTES, STAMP_MAX_MS, STAMP_MIN_MS};

/// What an event belongs to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Scope {
    /// The start of a turn.
    Start,
    /// The turn that runs.
    Turn,
    /// Something that a row waits for, whether its turn runs or not.
    Row,
    /// The session: the panel, and lines that are of no turn.
    Session,
    /// Nothing.
    Nothing,
}

const fn scope(event: &Event<'_>) -> Scope {
    match event {
        Event::TurnStarted(_) => Scope::Start,
        Event::Progress(_)
        | Event::ReasoningDelta(_)
        | Event::TextDelta(_)
        | Event::Message(_)
        | Event::ToolCall(_)
        | Event::ToolArgsDelta(_)
        | Event::ToolArgs(_)
        | Event::ToolStart(_)
        | Event::ToolOutput(_)
        | Event::ToolProgress(_)
        | Event::ToolResult(_)
        | Event::Question(_)
        | Event::ApprovalRequired(_)
        | Event::PlanProposed(_)
        | Event::SubagentStarted(_)
        | Event::SubagentText(_)
        | Event::SubagentTool(_)
        | Event::ImageStarted(_)
        | Event::Media(_)
        | Event::Done(_)
        | Event::Error(_)
        | Event::Cancelled(_) => Scope::Turn,
        Event::QuestionResolved(_)
        | Event::ApprovalResolved(_)
        | Event::PlanResolved(_)
        | Event::SubagentFinished(_)
        | Event::ImageFinished(_) => Scope::Row,
        Event::UserMessage(_)
        | Event::Todo(_)
        | Event::Context(_)
        | Event::Fallback(_)
        | Event::Continuation(_)
        | Event::Notice(_)
        | Event::Compacted(_)
        | Event::Title(_)
        | Event::Queue(_)
        | Event::State(_)
        | Event::Resync(_) => Scope::Session,
        Event::Unknown(_) => Scope::Nothing,
    }
}

impl Fold {
    /// Folds one event. `at_ms` is the wall time now, in Unix milliseconds, for events that carry
    /// none.
    ///
    /// The cost is that of the event's own text; ends of turns and lookups by id look at most at
    /// each row of the ring once.
    pub fn apply(&mut self, env: &Envelope<'_>, at_ms: u64) {
        self.live.events += 1;
        if let Some((row, text)) = self.continuation_of(env) {
            return self.grow_text(row, text, at_ms);
        }
        let scope = scope(&env.event);
        if scope == Scope::Nothing {
            self.note_seq(env);
            self.live.ignored.unknown += 1;
            return;
        }
        let of_turn = matches!(scope, Scope::Start | Scope::Turn);
        if !self.note_seq(env) || !self.is_of_session(env) || self.is_muted(env, of_turn) {
            return;
        }
        if self.is_told_again(env, of_turn) {
            _ = self.late(env);
            return;
        }
        let scope = self.scope_now(env, scope);
        let at = self.stamp(env, at_ms);
        if self.admit(env, scope) {
            self.dispatch(env, at);
        }
    }

    /// What the event belongs to as things are. A question over a second channel opens no turn, and
    /// a line that follows the end of a turn's own answer is part of no session.
    #[inline]
    fn scope_now(&self, env: &Envelope<'_>, scope: Scope) -> Scope {
        if self.live.turn.is_some() {
            return scope;
        }
        match env.event {
            Event::Question(_) if self.is_beside(env) => Scope::Row,
            Event::Notice(_)
            | Event::Fallback(_)
            | Event::Continuation(_)
            | Event::Compacted(_)
                if env.channel == Channel::Turn && self.live.ended =>
            {
                Scope::Turn
            }
            _ => scope,
        }
    }

    /// Whether it came over a second channel.
    pub(super) fn is_beside(&self, env: &Envelope<'_>) -> bool {
        self.rules.side_channel == SideChannel::MutedWhileBusy && env.channel == Channel::Events
    }

    /// The commonest event, a piece of the open bubble in an envelope that says nothing: the row
    /// and the piece. What follows in [`Fold::apply`] comes to the same, at greater length.
    #[inline]
    fn continuation_of<'e>(&self, env: &'e Envelope<'_>) -> Option<(u64, &'e str)> {
        let Event::TextDelta(delta) = &env.event else { return None };
        let turn = self.live.turn.as_ref().filter(|turn| turn.started)?;
        let Open::Text(row) = turn.open else { return None };
        let named = env.seq.is_some() || env.turn_id.is_some() || env.session_id.is_some();
        let placed = delta.step.is_some() || delta.message_id.is_some();
        let plain = !named && !placed && env.ts_ms.is_none() && env.channel == Channel::Turn;
        (plain && !turn.segments.is_empty()).then_some((row, &*delta.text))
    }

    /// Whether the event's number is new in its epoch.
    #[inline]
    fn note_seq(&mut self, env: &Envelope<'_>) -> bool {
        let Some(seq) = env.seq else { return true };
        let epoch = env.epoch.as_deref();
        let known = self.live.epochs.iter_mut().rev().find(|(e, _)| e.as_deref() == epoch);
        match known {
            Some((_, last)) if *last >= seq => {
                self.live.ignored.duplicate += 1;
                self.diagnostics.push(Code::DuplicateSeq, seq);
                return false;
            }
            Some((_, last)) => *last = seq,
            None => {
                if self.live.epochs.len() >= EPOCHS_MAX {
                    self.live.epochs.pop_front();
                }
                self.live.epochs.push_back((epoch.map(Into::into), seq));
            }
        }
        true
    }

    /// Whether the event is of the session shown, or of a subagent's row.
    #[inline]
    fn is_of_session(&mut self, env: &Envelope<'_>) -> bool {
        let named = match &env.event {
            Event::TurnStarted(start) => env.session_id.as_deref().or(start.session_id.as_deref()),
            _ => env.session_id.as_deref(),
        };
        let (Some(named), shown) = (named, self.live.server_session.as_deref()) else {
            return true;
        };
        let call_id = match &env.event {
            Event::SubagentStarted(_) => return true,
            Event::SubagentText(e) => Some(&e.call_id),
            Event::SubagentTool(e) => Some(&e.call_id),
            Event::SubagentFinished(e) => Some(&e.call_id),
            _ => None,
        };
        if shown == Some(named) || call_id.is_some_and(|id| self.subagent_row(id).is_some()) {
            return true;
        }
        if shown.is_none() {
            self.live.server_session = Some(named.into());
            return true;
        }
        self.live.ignored.foreign += 1;
        self.diagnostics.push_with(Code::ForeignSession, self.at(env), named);
        false
    }

    /// The event's stamp where it can be Unix milliseconds, else the time now. Never used for
    /// order.
    #[inline]
    fn stamp(&mut self, env: &Envelope<'_>, at_ms: u64) -> u64 {
        match env.ts_ms {
            None => at_ms,
            Some(ts) if (STAMP_MIN_MS..STAMP_MAX_MS).contains(&ts) => ts,
            Some(_) => {
                self.diagnostics.push(Code::OddTimestamp, self.at(env));
                at_ms
            }
        }
    }

    fn at(&self, env: &Envelope<'_>) -> u64 {
        env.seq.unwrap_or(self.live.events)
    }

    /// Whether the event may have its effect: it opens the turn it belongs to, and is late if
    /// that turn has ended.
    #[inline]
    fn admit(&mut self, env: &Envelope<'_>, scope: Scope) -> bool {
        let own = match &env.event {
            Event::TurnStarted(start) => start.turn_id.as_deref(),
            _ => None,
        };
        let id = self.short(env.turn_id.as_deref().or(own));
        if id.is_some_and(|id| self.live.ended_ids.iter().any(|ended| **ended == *id)) {
            return scope == Scope::Row || self.late(env);
        }
        match scope {
            Scope::Start => self.admit_start(env, id),
            Scope::Turn => self.admit_turn(env, id),
            Scope::Row | Scope::Session | Scope::Nothing => true,
        }
    }

    fn admit_start(&mut self, env: &Envelope<'_>, id: Option<&str>) -> bool {
        if self.is_stopped_start(env, id) {
            if let Some(id) = id {
                self.remember_ended(id.into());
            }
            self.live.stopped_user = None;
            return self.late(env);
        }
        let other = |turn: &super::turn::Turn| turn.id.is_some() && turn.id.as_deref() != id;
        if id.is_some() && self.live.turn.as_ref().is_some_and(other) {
            // The end of the turn before was missed.
            let lost = super::outcome::Outcome::with(
                super::outcome::OutcomeKind::Lost,
                super::outcome::LOST_TEXT,
            );
            let at = self.live.turn.as_ref().map_or(0, |_| self.session.updated_at);
            self.end_turn(lost, None, at);
        }
        self.join(id);
        true
    }

    /// Whether this starts the turn that was stopped before the server had spoken of it, and not
    /// the one that was asked for since.
    fn is_stopped_start(&self, env: &Envelope<'_>, id: Option<&str>) -> bool {
        let (Event::TurnStarted(start), Some(stopped)) = (&env.event, &self.live.stopped_user)
        else {
            return false;
        };
        let (client_id, text) = (start.client_id.as_deref(), start.user_text.as_deref());
        let Some(turn) = &self.live.turn else {
            return stopped.is(client_id, text) || (text.is_none() && client_id.is_none());
        };
        let since = [self.live.pending_user.as_ref(), turn.echo.as_ref()];
        let waits = since.into_iter().flatten().any(|user| user.is(client_id, text));
        let another = turn.id.is_some() && turn.id.as_deref() != id;
        stopped.is(client_id, text) && (another || (turn.id.is_none() && !waits))
    }

    #[inline]
    fn admit_turn(&mut self, env: &Envelope<'_>, id: Option<&str>) -> bool {
        let Some(turn) = self.live.turn.as_ref() else {
            // Only a second channel tells of a turn without saying that it begins.
            let begins = self.is_beside(env) && env.seq.is_some() && !env.event.is_terminal();
            if self.live.ended && id.is_none() && !begins {
                return self.late(env);
            }
            self.join(id);
            return true;
        };
        if id.is_some() && turn.id.is_some() && turn.id.as_deref() != id {
            return self.late(env);
        }
        if !turn.started || (id.is_some() && turn.id.is_none()) {
            self.join(id);
            if let Some(turn) = self.live.turn.as_mut() {
                turn.started = true;
            }
            if env.channel == Channel::Turn {
                self.take_pending(None, false);
            }
        }
        true
    }

    /// An id that rows may repeat. One over the bound is as none, since each row that repeats it
    /// would hold it.
    pub(super) fn short<'i>(&mut self, id: Option<&'i str>) -> Option<&'i str> {
        let short = id.filter(|id| id.len() <= NAME_MAX_BYTES);
        if short.is_none() && id.is_some() {
            self.diagnostics.push(Code::IdTooLong, self.live.events);
        }
        short
    }

    /// Goes on with the turn of this id, or begins one.
    fn join(&mut self, id: Option<&str>) {
        if self.live.turn.is_none() {
            self.begin_turn(false);
        }
        self.set_lifecycle(super::op::Lifecycle::Busy);
        if let Some(turn) = self.live.turn.as_mut()
            && let (None, Some(id)) = (&turn.id, id)
        {
            turn.id = Some(Box::from(id));
        }
    }

    /// Counts an event that came after the end of its turn. A trailer is expected there.
    fn late(&mut self, env: &Envelope<'_>) -> bool {
        let trailer = matches!(&env.event, Event::Done(done) if done.status.is_some());
        if !trailer {
            self.live.ignored.late += 1;
            if !self.live.late_noted {
                self.live.late_noted = true;
                let name = env.event.kind().name();
                self.diagnostics.push_with(Code::LateEvent, self.at(env), name);
            }
        }
        false
    }

    fn dispatch(&mut self, env: &Envelope<'_>, at: u64) {
        match &env.event {
            Event::TextDelta(e) if self.live.gap && env.seq.is_none() => self.text_after_gap(e, at),
            Event::TextDelta(e) => self.text_delta(e, at),
            Event::ReasoningDelta(e) => self.reasoning_delta(e, at),
            Event::TurnStarted(e) => self.started(e, env.channel == Channel::Turn, at),
            Event::UserMessage(e) => {
                let (message_id, client_id) = (e.message_id.as_deref(), e.client_id.as_deref());
                self.user_message(&e.text, message_id, client_id, at);
                // What comes without a turn's id now belongs to a turn that this message opens.
                self.live.ended &= self.live.turn.is_some();
            }
            Event::Progress(e) => self.phase(&e.phase),
            Event::Message(e) => self.message(e, at),
            Event::ToolCall(e) => self.tool_start(&e.name, Some(&e.call_id), None, at),
            Event::ToolArgsDelta(e) => self.args_delta(&e.call_id, &e.delta),
            Event::ToolArgs(e) => self.tool_args(&e.call_id, &e.name, &e.args, at),
            Event::ToolStart(e) => {
                self.tool_start(&e.name, e.call_id.as_deref(), e.args.as_deref(), at);
            }
            Event::ToolOutput(e) => self.tool_output(e),
            Event::ToolResult(e) => self.tool_result(e, at),
            Event::Question(e) => self.question(e, at),
            Event::QuestionResolved(e) => self.question_resolved(e),
            Event::ApprovalRequired(e) => self.approval_required(e, at),
            Event::ApprovalResolved(e) => self.approval_resolved(e),
            Event::PlanProposed(e) => self.plan_proposed(e, at),
            Event::PlanResolved(e) => self.plan_resolved(e),
            Event::SubagentStarted(e) => self.subagent_started(e, at),
            Event::SubagentText(e) => self.subagent_text(e, at),
            Event::SubagentTool(e) => self.subagent_tool(e, at),
            Event::SubagentFinished(e) => self.subagent_finished(e, at),
            Event::ImageStarted(e) => self.image_started(e, at),
            Event::ImageFinished(e) => self.image_finished(e, at),
            Event::Media(e) => self.media(e, at),
            Event::Todo(e) => self.panel_value("todo", &e.items),
            Event::Context(e) => self.panel_value("context", e),
            Event::Fallback(e) => self.fallback(e, at),
            Event::Continuation(e) => self.continuation(e, at),
            Event::Notice(e) => self.notice(e, at),
            Event::Compacted(e) => self.compacted(e, at),
            Event::Title(e) => self.panel_value("title", &e.title),
            Event::Queue(e) => self.queue_state(e),
            Event::State(e) => self.agent_state(e),
            Event::Resync(e) => self.resync(e, at),
            Event::Done(e) => self.done(e, at),
            Event::Error(e) => self.error(e, at),
            Event::Cancelled(e) => self.cancelled(e, at),
            Event::ToolProgress(_) | Event::Unknown(_) => {}
        }
        if let Event::TurnStarted(e) = &env.event
            && let Some(capabilities) = &e.capabilities
        {
            self.panel_value("capabilities", capabilities);
        }
    }
}
