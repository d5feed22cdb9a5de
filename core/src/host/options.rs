//! What a fold is made with.

use alloc::string::String;

use crate::event::Rules;
use crate::ids::Seed;
use crate::limits::{PROMPT_MAX_CHARS, RING_ROWS};

/// What a fold is made with.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct FoldOptions {
    /// How the dialect behaves.
    pub rules: Rules,
    /// Rows that the ring keeps, at least 1.
    pub max_rows: usize,
    /// The working directory to begin with.
    pub cwd: Option<String>,
    /// The session to show. Without one, an id is made and events of any session are taken until
    /// one names itself.
    pub session_id: Option<String>,
    /// The source of the ids of the session and its messages.
    pub seed: Seed,
    /// Whether ops carry a card's encoded body, for painters that replace whole rows.
    pub bridge: bool,
    /// Characters of a prompt, after trimming.
    pub prompt_max_chars: usize,
}

impl FoldOptions {
    /// The defaults for a dialect with these rules.
    #[must_use]
    pub const fn new(rules: Rules) -> Self {
        Self {
            rules,
            max_rows: RING_ROWS,
            cwd: None,
            session_id: None,
            seed: Seed([0; 16]),
            bridge: false,
            prompt_max_chars: PROMPT_MAX_CHARS,
        }
    }
}
