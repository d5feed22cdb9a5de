//! No-I/O state machines for agent-chat streams.
#![no_std]

extern crate alloc;
#[cfg(feature = "std")]
extern crate std;

pub mod error;
pub mod event;
pub mod host;
pub mod ids;
pub mod limits;
pub mod text;
pub mod time;
