//! The host's side: events become rows of a bounded ring, and ops tell a painter what changed.
//!
//! [`Fold`] is the machine; [`Row`] and [`Card`] are what it keeps; [`Op`] is what it gives. It
//! knows neither protocols nor connections: envelopes come from any decoder, and what dialects
//! differ in comes as [`Rules`](crate::event::Rules).

mod apply;
mod aside;
mod ask;
mod card;
mod card_text;
mod finish;
mod fold;
mod gathered;
mod history;
mod op;
mod options;
mod outcome;
mod payload;
mod queue;
mod replay;
mod ring;
mod row;
mod rows;
mod segment;
mod session;
mod snapshot;
mod speech;
mod tools;
mod turn;
mod view;
mod window;

pub use ask::Asked;
pub use card::{Card, Item, ItemStatus};
pub use fold::{Fold, Ignored};
pub use op::{CardChange, Lifecycle, Op, PatchSet, Request, Rows, StoreAction, WindowReason};
pub use options::FoldOptions;
pub use outcome::{Failure, Outcome, OutcomeKind};
pub use payload::{
    ApprovalPayload, MediaPayload, NoticePayload, Payload, PlanPayload, QuestionPayload,
    SubagentPayload,
};
pub use row::{Row, RowJson, RowKind, Status};
pub use session::{SessionRole, StoredRow};
pub use view::{apply_ops, empty_view};
