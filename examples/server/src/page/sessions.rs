//! The sessions of the page, by id.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::mpsc;
use tracing::info;
use turnwire::error::CallerError;

use super::session::{Command, Session};
use crate::app::App;

/// Sessions that are kept; the oldest goes when one more is made.
const SESSIONS_MAX: usize = 256;

/// Commands that wait for one session.
const COMMANDS_MAX: usize = 16;

/// The sessions of one server, oldest first.
#[derive(Default)]
pub(crate) struct Sessions(Mutex<VecDeque<(String, mpsc::Sender<Command>)>>);

impl Sessions {
    fn all(&self) -> MutexGuard<'_, VecDeque<(String, mpsc::Sender<Command>)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn knows(&self, id: &str) -> bool {
        self.get(id).is_some()
    }

    pub(super) fn get(&self, id: &str) -> Option<mpsc::Sender<Command>> {
        let all = self.all();
        all.iter().find(|(known, _)| known == id).map(|(_, session)| session.clone())
    }

    /// The id of the newest session.
    pub(super) fn newest(&self) -> Option<String> {
        self.all().back().map(|(id, _)| id.clone())
    }

    /// A new session; one that falls off the other end is over, and its turn with it.
    pub(super) fn make(&self, app: &Arc<App>) -> Result<String, CallerError> {
        let (id, _) = app.ids.next();
        let id = id.replacen("t_", "s-", 1);
        let (sender, receiver) = mpsc::channel(COMMANDS_MAX);
        let session = Session::new(Arc::clone(app), id.clone())?;
        tokio::spawn(session.run(receiver));
        let mut all = self.all();
        if all.len() == SESSIONS_MAX {
            all.pop_front();
        }
        all.push_back((id.clone(), sender));
        info!(session = id, "session made");
        Ok(id)
    }
}
