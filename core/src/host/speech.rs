//! What is said: the user's messages, the model's text and thinking (`agent` 7).

use alloc::string::String;

use super::fold::Fold;
use super::replay::Told;
use super::row::{Field, Row, RowKind};
use super::segment::fitting;
use super::session::{Body, SessionRole};
use super::turn::{Open, PendingUser, Segment};
use crate::event::{Message, ReasoningDelta, Role, TextDelta, TurnStarted};
use crate::text::is_blank;

impl Fold {
    /// A piece of the answer. The cost is that of the piece.
    pub(super) fn text_delta(&mut self, delta: &TextDelta<'_>, at: u64) {
        let text = &*delta.text;
        let Some(turn) = self.live.turn.as_mut() else { return };
        let goes_on = |segment: &Segment| {
            let step = delta.step.is_none() || delta.step == segment.step;
            let id = delta.message_id.as_deref();
            step && (id.is_none()
                || segment.message_id.is_none()
                || id == segment.message_id.as_deref())
        };
        match turn.open {
            Open::Text(row) if turn.segments.last().is_some_and(goes_on) => {
                self.grow_text(row, text, at);
            }
            _ if text.is_empty() => {}
            _ if is_blank(text) => {
                // No boundary: it waits for the next bubble; before the first it is only counted.
                if turn.segments.is_empty() {
                    turn.gathered.add_text(text);
                } else {
                    turn.held.push_str(text);
                }
            }
            _ => {
                let held = core::mem::take(&mut turn.held);
                let mut segment = Segment { step: delta.step, ..Segment::default() };
                segment.message_id = self.short(delta.message_id.as_deref()).map(Into::into);
                self.open_text(segment, &held, at);
                if let Some(Open::Text(row)) = self.live.turn.as_ref().map(|turn| turn.open) {
                    self.grow_text(row, text, at);
                }
            }
        }
    }

    /// Opens a bubble that begins with `text`.
    fn open_text(&mut self, mut segment: Segment, text: &str, at: u64) {
        segment.id = self.next_segment();
        if let Some(turn) = self.live.turn.as_mut() {
            segment.message_id = segment.message_id.or_else(|| turn.message_id.clone());
            turn.segments.push(segment);
        }
        let row = self.text_row(at);
        self.grow_text(row, text, at);
    }

    /// The next row of the newest segment of text.
    fn text_row(&mut self, at: u64) -> u64 {
        let mut row = Row::new(0, RowKind::Assistant, at, "");
        if let Some(segment) = self.live.turn.as_ref().and_then(|turn| turn.segments.last()) {
            row.segment = Some(segment.id);
            row.message_id.clone_from(&segment.message_id);
        }
        let id = self.push_row(row);
        if let Some(turn) = self.live.turn.as_mut() {
            turn.open = Open::Text(id);
            turn.gathered.add_row(id);
            if let Some(segment) = turn.segments.last_mut() {
                segment.rows.push(id);
            }
        }
        id
    }

    #[inline]
    pub(super) fn grow_text(&mut self, mut row: u64, text: &str, at: u64) {
        let mut rest = self.grow_row(row, text);
        while !rest.is_empty() {
            row = self.text_row(at);
            rest = self.grow_row(row, rest);
        }
    }

    /// A piece of reasoning; blank is not empty here. The cost is that of the piece.
    pub(super) fn reasoning_delta(&mut self, delta: &ReasoningDelta<'_>, at: u64) {
        if delta.text.is_empty() {
            return;
        }
        let mut row = match self.live.turn.as_ref().map(|turn| turn.open) {
            Some(Open::Thinking(row)) => row,
            _ => {
                let segment = self.next_segment();
                if let Some(turn) = self.live.turn.as_mut() {
                    turn.open_segment = segment;
                }
                self.thinking_row(at)
            }
        };
        let mut rest = self.grow_row(row, &delta.text);
        while !rest.is_empty() {
            row = self.thinking_row(at);
            rest = self.grow_row(row, rest);
        }
    }

    fn thinking_row(&mut self, at: u64) -> u64 {
        let mut row = Row::new(0, RowKind::Thinking, at, "");
        row.segment = self.live.turn.as_ref().map(|turn| turn.open_segment);
        row.collapsed = Some(false);
        let id = self.push_row(row);
        if let Some(turn) = self.live.turn.as_mut() {
            turn.open = Open::Thinking(id);
        }
        id
    }

    /// Ends what goes on with the next delta.
    pub(super) fn close_open(&mut self) {
        if let Some(turn) = self.live.turn.as_mut() {
            turn.open = Open::None;
        }
    }

    /// Authoritative text of a step: it replaces what the deltas of that step gathered, and a
    /// blank one never wipes it (X2).
    pub(super) fn message(&mut self, message: &Message<'_>, at: u64) {
        if message.role == Role::User {
            let id = message.message_id.as_deref();
            self.user_message(&message.text, id, None, at);
            return;
        }
        let group = self.group_of(message.step);
        if let Some(turn) = self.live.turn.as_mut() {
            for segment in turn.segments.iter_mut().skip(group.start).take(group.len()) {
                segment.settled = true;
            }
            while turn.segments.get(turn.settled).is_some_and(|segment| segment.settled) {
                turn.settled += 1;
            }
        }
        if !is_blank(&message.text) {
            self.heal(group.clone());
            if group.is_empty() {
                let mut segment =
                    Segment { step: message.step, settled: true, ..Segment::default() };
                segment.message_id = self.short(message.message_id.as_deref()).map(Into::into);
                self.open_text(segment, &message.text, at);
            } else {
                self.rewrite_group(group, &message.text, at);
            }
        }
        // Blank text that waited for a bubble was all that this message said, whether it came in
        // pieces before or comes now.
        if let Some(turn) = self.live.turn.as_mut().filter(|_| is_blank(&message.text)) {
            let held = core::mem::take(&mut turn.held);
            let said = if message.text.is_empty() { held.as_str() } else { &message.text };
            turn.gathered.add_text(said);
        }
        // What comes next is another message.
        if matches!(self.live.turn.as_ref().map(|turn| turn.open), Some(Open::Text(_))) {
            self.close_open();
        }
    }

    /// The segments that a message of `step` speaks of: those not settled, of that step, or of
    /// the first step that is not settled where the message names none.
    fn group_of(&self, step: Option<u64>) -> core::ops::Range<usize> {
        let Some(turn) = self.live.turn.as_ref() else { return 0..0 };
        let segments = &turn.segments;
        let mut open = segments.iter().enumerate().skip(turn.settled).filter(|(_, s)| !s.settled);
        let first = |step: Option<u64>| open.clone().find(|(_, s)| s.step == step);
        let start = match step {
            Some(_) => first(step).or_else(|| first(None)),
            None => open.next(),
        };
        let start = start.map(|(at, _)| at);
        let Some(start) = start else { return 0..0 };
        let of = segments.get(start).and_then(|s| s.step);
        let more = segments.iter().skip(start).take_while(|s| !s.settled && s.step == of).count();
        start..start + more
    }

    /// Rewrites the segments of a group so that together they say `text`: the last of them if the
    /// others are a part of it, else the first, and the others become empty. Where nothing but a
    /// hole in the stream parts them, they are one text again.
    pub(super) fn rewrite_group(&mut self, group: core::ops::Range<usize>, text: &str, at: u64) {
        let last = group.end.saturating_sub(1);
        let mut rest = Some(text).filter(|_| !(group.start..last).any(|n| self.touches_next(n)));
        for index in group.start..last {
            let said = self.segment_text(index);
            rest = rest.and_then(|rest| rest.strip_prefix(said.as_str()));
        }
        match rest {
            Some(rest) => self.rewrite(last, rest, at),
            None => {
                self.rewrite(group.start, text, at);
                for index in group.start + 1..group.end {
                    self.rewrite(index, "", at);
                }
            }
        }
    }

    /// Whether no row stands between this segment and the next.
    fn touches_next(&self, index: usize) -> bool {
        let segments = self.live.turn.as_ref().map_or(&[][..], |turn| &turn.segments);
        let end = segments.get(index).and_then(|segment| segment.rows.last());
        let next = segments.get(index + 1).and_then(|segment| segment.rows.first());
        end.zip(next).is_some_and(|(end, next)| end + 1 == *next)
    }

    pub(super) fn segment_text(&self, index: usize) -> String {
        let rows = self.live.turn.as_ref().and_then(|turn| turn.segments.get(index));
        let ids = rows.map_or(&[][..], |segment| &segment.rows);
        ids.iter().filter_map(|id| self.ring.get(*id)).map(|row| row.text.as_str()).collect()
    }

    /// Gives a segment another text, row by row: missing rows are pushed, surplus ones emptied.
    pub(super) fn rewrite(&mut self, index: usize, text: &str, at: u64) {
        if self.segment_text(index) == text {
            return;
        }
        let turn = self.live.turn.as_ref();
        let Some(segment) = turn.and_then(|turn| turn.segments.get(index)) else { return };
        let (id, message_id) = (segment.id, segment.message_id.clone());
        let mut rest = text;
        for row in segment.rows.clone() {
            let part = fitting("", rest);
            rest = &rest[part.len()..];
            self.set_row_text(row, part);
        }
        while !rest.is_empty() {
            let part = fitting("", rest);
            rest = &rest[part.len()..];
            let mut row = Row::new(0, RowKind::Assistant, at, part);
            row.segment = Some(id);
            row.message_id.clone_from(&message_id);
            let id = self.push_row(row);
            if let Some(turn) = self.live.turn.as_mut() {
                turn.gathered.add_row(id);
                if let Some(segment) = turn.segments.get_mut(index) {
                    segment.rows.push(id);
                }
            }
        }
    }

    /// Pushes a row of the user.
    pub(super) fn push_user(
        &mut self,
        text: &str,
        message_id: Option<&str>,
        client_id: Option<&str>,
        at: u64,
    ) -> u64 {
        let row = self.push_text(RowKind::User, text, at);
        if let Some(slot) = self.ring.slot_mut(row) {
            slot.row.client_id = client_id.map(Into::into);
            slot.row.message_id = message_id.map(Into::into);
        }
        row
    }

    /// The server took the message that waits. Where it did not repeat it (`said`), the stream may
    /// still do so, once.
    pub(super) fn take_pending(&mut self, message_id: Option<&str>, said: bool) {
        let Some(pending) = self.live.pending_user.take() else { return };
        let row = pending.row;
        let Some(turn) = self.live.turn.as_mut() else { return };
        let turn_id = turn.id.clone();
        turn.user = Some(pending.clone());
        turn.echo = (!said).then_some(pending);
        if turn_id.is_some() {
            self.edit(row, Field::TurnId, |row| row.turn_id = turn_id);
        }
        self.name_user(row, message_id);
    }

    fn name_user(&mut self, row: u64, message_id: Option<&str>) {
        if let Some(id) = message_id {
            self.edit(row, Field::MessageId, |row| row.message_id = Some(id.into()));
        }
    }

    /// Whether this is the message sent from here; it is known by `message_id` then.
    fn is_echo(&mut self, is: impl Fn(&PendingUser) -> bool, message_id: Option<&str>) -> bool {
        if self.live.pending_user.as_ref().is_some_and(&is) {
            self.take_pending(message_id, true);
            return true;
        }
        let Some(turn) = self.live.turn.as_mut() else { return false };
        match turn.echo.take_if(|user| is(user)) {
            Some(user) => {
                self.name_user(user.row, message_id);
                true
            }
            None => false,
        }
    }

    /// A message of the user: the one that waits, or one that another host sent.
    pub(super) fn user_message(
        &mut self,
        text: &str,
        message_id: Option<&str>,
        client_id: Option<&str>,
        at: u64,
    ) {
        let ours = self.is_echo(|user| user.is(client_id, Some(text)), message_id);
        if !ours && !is_blank(text) && !self.is_shown(message_id) {
            self.snap_to_latest();
            self.push_user(text, message_id, client_id, at);
            self.store(SessionRole::User, Body::Text(text.into()), at);
        }
    }

    /// Whether a row of the user has this id already.
    fn is_shown(&self, message_id: Option<&str>) -> bool {
        let same = |row: &Row| row.message_id.as_deref() == message_id;
        message_id.is_some() && self.find_row(RowKind::User, same).is_some()
    }

    /// What a turn's start says of the user's message and of the ids. A second start of the same
    /// turn says nothing new.
    pub(super) fn started(&mut self, start: &TurnStarted<'_>, own_channel: bool, at: u64) {
        if self.live.turn.as_ref().is_none_or(|turn| turn.start_seen) {
            return;
        }
        let text = start.user_text.as_deref();
        let client_id = start.client_id.as_deref();
        let user_id = start.user_message_id.as_deref();
        let says_nothing = text.is_none() && client_id.is_none();
        let is = |user: &PendingUser| {
            user.is(client_id, text) || says_nothing || (own_channel && client_id.is_none())
        };
        if let (false, Some(text)) = (self.is_echo(is, user_id), text) {
            self.user_message(text, user_id, client_id, at);
        }
        let waits = self.live.pending_user.is_some();
        let message_id = self.short(start.message_id.as_deref());
        let Some(turn) = self.live.turn.as_mut() else { return };
        turn.started = true;
        turn.start_seen = true;
        turn.told = Told::of(start);
        turn.foreign = waits;
        if let Some(id) = message_id {
            turn.message_id = Some(id.into());
        }
    }
}
