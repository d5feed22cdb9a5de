//! The two ends of a stream, as people use them: [`Turn`] on the backend, [`Host`] at the reader;
//! and [`Transcoder`] between two that speak different protocols.
//!
//! This room joins the others and has no rule of its own.

mod entry;
mod host;
mod outlet;
mod transcoder;
mod transcript;
mod turn;
mod turn_ask;

pub use entry::Entry;
pub use host::{Host, HostOptions, OpSink};
pub use outlet::{Outlet, OutletOptions};
pub use transcoder::Transcoder;
pub use turn::{Turn, TurnOptions};
