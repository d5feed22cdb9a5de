//! The integration suite: one binary, one module a room.
#![allow(missing_docs, clippy::unwrap_used, clippy::panic)]

mod host_card;
mod host_laws;
mod host_reference;
mod host_vectors;
