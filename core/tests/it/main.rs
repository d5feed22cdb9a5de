//! The integration suite: one binary, one module a room.
#![allow(missing_docs, clippy::unwrap_used, clippy::panic)]

mod host_vectors;
