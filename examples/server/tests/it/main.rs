//! The server's suite: the real binary, over real sockets. Each test starts a server of its own.
#![allow(missing_docs, clippy::unwrap_used, clippy::panic)]

mod access;
mod answers;
mod confinement;
mod early;
mod endings;
mod flags;
mod load;
mod page;
mod server;
mod tools;
