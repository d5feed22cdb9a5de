//! A session after the process died: a turn that ran then is closed.

use alloc::vec::Vec;

use super::fanout::read;
use super::machine::{Running, Session, SessionOptions, emitter};
use crate::error::CallerError;
use crate::event::{Done, DoneStatus, Event};
use crate::time::Millis;
use crate::turn::Failure;

/// What the error of a turn says that the process did not survive.
const DIED: &str = "The server stopped while this turn ran.";

impl Session {
    /// A session from its store: `tail` are the entries from the start of the newest turn on. If
    /// that turn has not ended, its open step is covered by what was stored of it, what is open is
    /// settled, and an error and the trailer are appended (design, The log).
    ///
    /// # Errors
    ///
    /// Those of [`Session::new`] and of [`Log::append`](crate::log::Log::append). An entry that no
    /// session wrote is skipped.
    pub fn restore(
        options: SessionOptions,
        now: Millis,
        tail: &[(u64, Vec<u8>)],
    ) -> Result<Self, CallerError> {
        let mut turn = emitter(&options)?;
        let mut session = Self::new(options)?;
        let mut id = None;
        let mut owed = None;
        for (_, entry) in tail {
            let Some(envelope) = read(entry) else { continue };
            if let Some(turn_id) = envelope.turn_id.as_deref() {
                id.get_or_insert_with(|| turn_id.into());
            }
            owed = trailer_of(&envelope.event);
            // What the turn said before is in the store: only its state is made again.
            let _ = turn.emit(&envelope.event, now, &mut |_| {});
        }
        let _ = turn.settled();
        let Some(id) = id else { return Ok(session) };
        let open = !turn.is_finished();
        session.turn = Some(Running { id, emitter: turn });
        if open {
            session.say(now, |turn, sink| turn.fail(Failure::new(DIED), sink))?;
        } else if let Some(status) = owed {
            let trailer = Done { status: Some(status), ..Done::new() };
            session.append_to_turn(now, &trailer.into())?;
        }
        Ok(session)
    }
}

/// The trailer that follows an event: the store may have that and not this.
const fn trailer_of(event: &Event<'_>) -> Option<DoneStatus> {
    match event {
        Event::Error(error) if !error.recoverable => Some(DoneStatus::Failed),
        Event::Cancelled(_) => Some(DoneStatus::Cancelled),
        _ => None,
    }
}
