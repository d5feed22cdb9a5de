//! No-I/O state machines for agent-chat streams.
#![no_std]

extern crate alloc;
#[cfg(feature = "std")]
extern crate std;

pub mod dialect;
pub mod ends;
pub mod error;
pub mod event;
pub mod host;
pub mod ids;
pub mod limits;
pub mod link;
pub mod request;
pub mod text;
pub mod time;
pub mod turn;
pub mod wire;

pub use ends::{Entry, Host, HostOptions, OpSink, Turn, TurnOptions};
