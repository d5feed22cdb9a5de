//! The integration suite: one binary, one module a room.
#![allow(missing_docs, clippy::unwrap_used, clippy::panic)]

mod wire_encode;
mod wire_framing;
mod wire_json;
mod wire_support;
mod wire_vectors;
