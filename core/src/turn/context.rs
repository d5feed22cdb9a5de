//! How full a model's context is, in the words of the wire (`respond` 3).

use crate::event::Context;

/// What the display says of a conversation that the provider keeps.
pub(super) const STATEFUL: &str = "stateful";

/// What it says of one that is sent anew.
pub(super) const REPLAY: &str = "replay";

/// How bad a ratio of input to limit is: `normal` below 0.70, `info` below 0.85, `warning` below
/// 0.92, `danger` below 0.97, else `critical`. What is no number is `normal`.
///
/// ```
/// use turnwire::turn::context_severity;
/// assert_eq!([0.69, 0.7, 0.97].map(context_severity), ["normal", "info", "critical"]);
/// ```
#[must_use]
pub fn context_severity(ratio: f64) -> &'static str {
    const EDGES: [(f64, &str); 4] =
        [(0.97, "critical"), (0.92, "danger"), (0.85, "warning"), (0.70, "info")];
    EDGES.iter().find(|(edge, _)| ratio >= *edge).map_or("normal", |(_, word)| word)
}

/// Tokens of a text of so many characters: a quarter, rounded up.
#[must_use]
pub const fn estimate_tokens(chars: u64) -> u64 {
    chars.div_ceil(4)
}

/// The event that says how full the context is. An unknown limit, 0, is not full.
#[must_use]
#[allow(clippy::cast_precision_loss, reason = "a ratio for people")]
pub fn context_event(input_tokens: u64, limit: u64, has_cursor: bool) -> Context<'static> {
    let ratio = if limit == 0 { 0.0 } else { input_tokens as f64 / limit as f64 };
    let mode = if has_cursor { STATEFUL } else { REPLAY };
    Context::new(input_tokens, limit, ratio, mode, context_severity(ratio))
}
