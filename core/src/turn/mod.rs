//! A turn as its backend sees it: callbacks of a model and its tools in, events in legal order out.
//!
//! [`Emitter`] is the machine. It obeys the order of a turn strictly; [`Checker`] judges anybody's
//! stream by the same table. What they and the summaries do knows no wire format and no dialect.

mod ask;
mod checker;
mod context;
mod continuation;
mod effort;
mod emit;
mod emitter;
mod ending;
mod exec;
mod fit;
mod flatten;
mod judge;
mod ledger;
mod order;
mod outcome;
mod preview;
mod provider_state;
mod summary;
mod tools;
mod usage;
mod waits;

pub use ask::ApprovalOptions;
pub use checker::{Checker, Finding};
pub use context::{context_event, context_severity, estimate_tokens};
pub use continuation::{ContinuationReason, Continuity, CursorLoss, OnLoss, ProviderSetup, Save};
pub use effort::{Effort, reasoning_effort};
pub use emitter::{Emitter, EmitterOptions, Sink};
pub use ending::{Ending, Failure, Finish};
pub use flatten::flatten;
pub use judge::{changed_dir, judge};
pub use outcome::{Output, ToolOutcome};
pub use preview::preview;
pub use provider_state::{ProviderMode, ProviderState};
pub use summary::summary;
pub use waits::Settled;
