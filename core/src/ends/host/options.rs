//! What a host is made with.

use alloc::string::String;

use serde::{Deserialize, Serialize};

use crate::ids::Seed;
use crate::limits::{PROMPT_MAX_CHARS, RING_ROWS};
use crate::time::Millis;

/// What a [`Host`](super::Host) is made with.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[non_exhaustive]
pub struct HostOptions {
    /// Goes in front of every path.
    pub base_path: String,
    /// The session to show. Without one, an id is made.
    pub session_id: Option<String>,
    /// The workspace, where paths name one; `default` if absent.
    pub workspace_id: Option<String>,
    /// The working directory to begin with.
    pub cwd: Option<String>,
    /// The model to ask for; the server's choice if absent.
    pub model_id: Option<String>,
    /// Rows that the ring keeps, at least 1.
    pub max_rows: usize,
    /// Whether ops carry a card's encoded body, for painters that replace whole rows.
    pub bridge: bool,
    /// Characters of a prompt that is sent, history included. A longer prompt is refused.
    pub prompt_max_chars: usize,
    /// Silence after which a running turn is given up, in milliseconds; never if absent. Anything
    /// that comes counts, keepalives too.
    pub stall_ms: Option<u64>,
    /// The moment of construction on the caller's monotonic clock.
    #[serde(skip)]
    pub now: Millis,
    /// The same moment in Unix milliseconds.
    #[serde(skip)]
    pub wall_ms: u64,
    /// The source of the ids that the host makes, and of the jitter of its reconnects.
    #[serde(skip)]
    pub seed: Seed,
}

impl Default for HostOptions {
    fn default() -> Self {
        Self {
            base_path: String::new(),
            session_id: None,
            workspace_id: None,
            cwd: None,
            model_id: None,
            max_rows: RING_ROWS,
            bridge: false,
            prompt_max_chars: PROMPT_MAX_CHARS,
            stall_ms: None,
            now: Millis(0),
            wall_ms: 0,
            seed: Seed::default(),
        }
    }
}
