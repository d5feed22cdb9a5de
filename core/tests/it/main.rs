//! The integration suite: one binary, one module a room.
#![allow(missing_docs, clippy::unwrap_used, clippy::panic)]

mod dialect_laws;
mod dialect_table;
mod dialect_turns;
mod dialect_usual;
mod dialect_vectors;
mod ends_host;
mod ends_laws;
mod ends_run;
mod ends_support;
mod ends_turn;
mod ends_vectors;
mod host_card;
mod host_laws;
mod host_reference;
mod host_vectors;
mod link;
mod log;
mod requests;
mod requests_run;
mod session;
mod session_laws;
mod turn_ask;
mod turn_bounds;
mod turn_calls;
mod turn_checker;
mod turn_continuation;
mod turn_emitter;
mod turn_laws;
mod turn_text;
mod vectors;
mod wire_encode;
mod wire_framing;
mod wire_json;
mod wire_support;
mod wire_vectors;
