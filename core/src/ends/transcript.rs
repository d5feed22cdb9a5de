//! The messages of a turn, for an answer that shows them at its end.

use alloc::vec::Vec;

use crate::event::{Done, Event, Message, Role, ToolStart, ToolUse};

/// What was said and called, in order. Holds the turn's text and arguments once more.
#[derive(Clone, Debug, Default)]
pub(super) struct Transcript {
    pub(super) messages: Vec<Message<'static>>,
    pub(super) done: Option<Done<'static>>,
}

impl Transcript {
    pub(super) fn add(&mut self, event: &Event<'_>) {
        match event {
            Event::TurnStarted(start) => {
                if let Some(text) = start.user_text.as_deref() {
                    self.messages.push(Message::new(Role::User, text).into_owned());
                }
            }
            Event::UserMessage(message) => {
                self.messages.push(Message::new(Role::User, &*message.text).into_owned());
            }
            Event::Message(message) => self.messages.push(message.clone().into_owned()),
            Event::ToolStart(start) => self.call(start),
            Event::Done(done) => {
                // Text and trace are told by the messages.
                let mut kept = done.clone();
                (kept.text, kept.tool_trace) = (None, Vec::new());
                self.done = Some(kept.into_owned());
            }
            _ => {}
        }
    }

    /// A call belongs to the message of its step, which came before; a step that said nothing gets
    /// one without text.
    fn call(&mut self, start: &ToolStart<'_>) {
        let last = self.messages.last();
        if !last.is_some_and(|last| last.role == Role::Assistant && last.step == start.step) {
            let mut message = Message::new(Role::Assistant, "");
            message.step = start.step;
            self.messages.push(message);
        }
        let id = start.call_id.as_deref().unwrap_or_default();
        let Some(message) = self.messages.last_mut() else { return };
        // The message may have named the call itself.
        if id.is_empty() || message.tool_uses.iter().all(|call| call.call_id != id) {
            let mut call = ToolUse::new(id, &*start.name);
            call.args = start.args.clone();
            message.tool_uses.push(call.into_owned());
        }
    }
}
