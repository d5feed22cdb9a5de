//! An example server for `turnwire`: `POST /api/agent` over a built-in agent with real tools.
//!
//! It holds no rule of a protocol. It moves bytes, runs tools and keeps time; what is sent is what
//! [`turnwire`] says. Where to look: [`config`] for flags, `page` for the page and what feeds it, `http` for who may ask what, `turn` for
//! the loop of model and tools, [`model`] for the built-in model and the seam for others, [`tools`]
//! and [`workspace`] for what the agent can touch.
//!
//! It needs a Unix system: commands run in process groups.

mod app;
mod http;
mod page;
mod stall;
mod turn;

pub mod config;
pub mod model;
pub mod sample;
pub mod server;
pub mod tools;
pub mod workspace;
