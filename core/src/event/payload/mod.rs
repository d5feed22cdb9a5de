//! The payloads of the vocabulary. Names are fixed; fields may grow (design, The vocabulary).
//!
//! Fields that may be absent are options, lists (absent when empty) or flags (absent when false).

mod ask;
mod session;
mod tool;
mod turn;

pub use ask::*;
pub use session::*;
pub use tool::*;
pub use turn::*;
