//! What all requests of one server share.

use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use turnwire::ids::{IdMaker, Seed};

use crate::config::Environment;
use crate::http::Access;
use crate::model::Provider;
use crate::page::Sessions;
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
    pub(crate) sessions: Sessions,
}

/// Makes the ids of turns, and the seed that each makes its own ids of.
pub(crate) struct TurnIds(Mutex<IdMaker>);

impl TurnIds {
    pub(crate) const fn new(seed: Seed) -> Self {
        Self(Mutex::new(IdMaker::new(seed)))
    }

    /// The next turn's id and seed.
    pub(crate) fn next(&self) -> (String, Seed) {
        let mut ids = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let id = ids.next("t_");
        let (seed, made) = (ids.seed(), ids.made());
        let mut bytes = [0; 16];
        let (low, high) = bytes.split_at_mut(8);
        low.copy_from_slice(&seed.mix(made).to_le_bytes());
        high.copy_from_slice(&seed.mix(!made).to_le_bytes());
        (id, Seed(bytes))
    }
}

/// Sixteen random bytes.
pub(crate) fn seed() -> Result<Seed, getrandom::Error> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes)?;
    Ok(Seed(bytes))
}
