//! Which part of the session the ring shows: putting one in, going back, returning to the newest.

use alloc::boxed::Box;

use serde_json::{Value, json};

use super::card::Card;
use super::fold::Fold;
use super::op::WindowReason;
use super::payload::Payload;
use super::row::{Row, RowKind};
use super::session::{Body, Parsed, SessionRole, parse};
use crate::error::{CallerError, Code};
use crate::limits::LOAD_EARLIER_ROWS;
use crate::text::relative_path;

impl Fold {
    /// Shows a stored session, `{id, messages: [{id, role, text, at}], updatedAt, cwd?}`: the
    /// newest messages as rows, neighbouring cards merged (`agent` 7, hydrate). The session itself
    /// stays as it came; an entry that cannot be read is skipped with a diagnostic.
    ///
    /// # Errors
    ///
    /// [`Code::Busy`] while a turn runs, [`Code::BadSession`] without a list of messages.
    pub fn hydrate(&mut self, session: &Value) -> Result<(), CallerError> {
        self.put(session, WindowReason::Hydrate)
    }

    pub(super) fn put(&mut self, session: &Value, reason: WindowReason) -> Result<(), CallerError> {
        if self.live.turn.is_some() {
            return Err(Code::Busy.into());
        }
        let parsed = parse(session).ok_or(Code::BadSession)?;
        self.adopt(parsed);
        self.queue.hydrated(self.session.messages.len());
        let start = self.session.messages.len().saturating_sub(self.ring.max_rows());
        self.live.told = None;
        self.show(start, reason);
        Ok(())
    }

    fn adopt(&mut self, parsed: Parsed) {
        for place in parsed.bad {
            self.diagnostics.push(Code::BadSession, place as u64);
        }
        let id = parsed.id.unwrap_or_else(|| self.session.id.clone());
        if id != self.session.id {
            // Numbers, turns and names are those of a session.
            self.live.epochs.clear();
            self.live.ended_ids.clear();
            self.live.stopped_user = None;
            self.live.ended = false;
            self.live.server_session = self.live.server_session.take().map(|_| id.clone());
        }
        self.session = super::session::Session { id, ..Default::default() };
        for message in parsed.messages {
            self.session.push(message);
        }
        self.session.updated_at = parsed.updated_at;
        match parsed.cwd.as_deref().map(relative_path) {
            Some(Ok(cwd)) => self.set_cwd(cwd),
            _ => {
                self.live.cwd = None;
                self.set_state("cwd", Value::Null);
            }
        }
    }

    /// The session as a store keeps it.
    #[must_use]
    pub fn session(&self) -> Value {
        let messages: alloc::vec::Vec<_> = self.messages().map(|row| json!(row)).collect();
        let mut session = json!({
            "id": self.session.id,
            "messages": messages,
            "updatedAt": self.session.updated_at,
        });
        if let (Some(cwd), Some(map)) = (&self.live.cwd, session.as_object_mut()) {
            map.insert("cwd".into(), json!(cwd));
        }
        session
    }

    /// Shows 512 earlier messages. Returns whether there were any; refused while a turn runs
    /// (`agent` 6).
    pub fn load_earlier(&mut self) -> bool {
        if self.live.turn.is_some() || self.live.window_start == 0 {
            return false;
        }
        let start = self.live.window_start.saturating_sub(LOAD_EARLIER_ROWS);
        self.show(start, WindowReason::Earlier);
        true
    }

    /// Back to the newest messages, before something new is said.
    pub(super) fn snap_to_latest(&mut self) {
        if self.live.scrolled {
            let start = self.session.messages.len().saturating_sub(self.ring.max_rows());
            self.show(start, WindowReason::Latest);
        }
    }

    /// Makes the rows anew from the message at `start`.
    fn show(&mut self, start: usize, reason: WindowReason) {
        for row in self.ring.rows() {
            if let Some(card) = row.card() {
                self.session.keep_card(row.id, card);
            }
        }
        self.ring.clear();
        self.calls.clear();
        let end = start.saturating_add(self.ring.max_rows()).min(self.session.messages.len());
        self.live.scrolled = end < self.session.messages.len();
        self.queue.window(reason);
        // The card that the next encoded body is merged into, and its anchor.
        let mut open: Option<(Card, Box<str>, u64)> = None;
        for index in start..end {
            let Some(message) = self.session.messages.get(index) else { break };
            let (id, role, at) = (message.id.clone(), message.role, message.at);
            let Body::Text(text) = &message.body else { continue };
            let kind = match role {
                SessionRole::User => RowKind::User,
                SessionRole::Assistant => RowKind::Assistant,
                SessionRole::System => RowKind::System,
                SessionRole::Error => RowKind::Error,
                SessionRole::ToolRun => RowKind::ToolRun,
            };
            if let Some(card) = Card::decode(text).filter(|_| kind == RowKind::ToolRun) {
                for item in card.items() {
                    let (merged, _, _) =
                        open.get_or_insert_with(|| (Card::default(), id.clone(), at));
                    if merged.add(item.clone()).is_none() {
                        self.show_card(open.take());
                        let mut next = Card::default();
                        next.add(item.clone());
                        open = Some((next, id.clone(), at));
                    }
                }
                continue;
            }
            let text = text.clone();
            self.show_card(open.take());
            let row = self.push_text(kind, &text, at);
            self.anchor(row, id);
        }
        self.show_card(open.take());
        // Rows that did not fit counted as left behind; what is left behind is before `start`.
        self.live.window_start = start;
        self.live.earlier = start;
    }

    fn show_card(&mut self, card: Option<(Card, Box<str>, u64)>) {
        if let Some((mut card, id, at)) = card {
            if !self.rules.keep_pending_on_end {
                card.interrupt_all();
            }
            let mut row = Row::new(0, RowKind::ToolRun, at, "");
            row.payload = Payload::Card(card);
            let row = self.push_row(row);
            self.anchor(row, id);
        }
    }

    /// Names the message that a row shows.
    fn anchor(&mut self, row: u64, message_id: Box<str>) {
        if let Some(slot) = self.ring.slot_mut(row) {
            slot.row.message_id = Some(message_id);
        }
    }
}
