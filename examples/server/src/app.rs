//! What all requests of one server share.

use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use turnwire::ids::{IdMaker, Seed};

use crate::config::Environment;
use crate::http::Access;
use crate::model::Provider;
use crate::tools::Tools;
use crate::workspace::Workspace;

/// The state of one server.
pub(crate) struct App {
    pub(crate) access: Access,
    pub(crate) environment: Environment,
    pub(crate) max_body_bytes: usize,
    pub(crate) provider: Arc<dyn Provider>,
    pub(crate) tools: Tools,
    pub(crate) workspace: Arc<Workspace>,
    /// One permit for each turn that may run.
    pub(crate) turns: Arc<Semaphore>,
    /// The tasks of the turns that run.
    pub(crate) running: TaskTracker,
    /// Cancelled when no new turn may begin.
    pub(crate) closing: CancellationToken,
    /// Cancelled when the turns that still run must end.
    pub(crate) ending: CancellationToken,
    pub(crate) ids: TurnIds,
}

/// Makes the ids of turns.
pub(crate) struct TurnIds(Mutex<IdMaker>);

impl TurnIds {
    pub(crate) const fn new(seed: Seed) -> Self {
        Self(Mutex::new(IdMaker::new(seed)))
    }

    pub(crate) fn next(&self) -> String {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).next("t_")
    }
}

/// Sixteen random bytes.
pub(crate) fn seed() -> Result<Seed, getrandom::Error> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes)?;
    Ok(Seed(bytes))
}
