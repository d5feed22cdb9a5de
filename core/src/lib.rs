//! No-I/O state machines for agent-chat streams: callbacks to bytes, bytes to a transcript.
//!
//! A backend holds a [`Turn`], tells it what its model and tools do, and sends what each call
//! appends. A reader holds a [`Host`], feeds it bytes as they arrive, and paints the ops that each
//! call gives. Both speak a [`Dialect`](dialect::Dialect), one of the protocols that existing
//! products use, through one vocabulary of [events](event).
//!
//! # A backend
//!
//! ```
//! use turnwire::dialect::Dialect;
//! use turnwire::event::ToolStart;
//! use turnwire::time::Millis;
//! use turnwire::turn::{Finish, Output, ToolOutcome};
//! use turnwire::{Turn, TurnOptions};
//!
//! let mut turn = Turn::new(Some(Dialect::AGENT), TurnOptions::default())?;
//! let (now, mut out) = (Millis(0), Vec::new());
//! let mut start = ToolStart::new("read_file");
//! start.call_id = Some("call_1".into());
//! turn.tool_start(now, start, &mut out)?;
//! let mut outcome = ToolOutcome::new("read_file", Output::Text("read_file a.md:\nOne\nTwo"));
//! outcome.call_id = Some("call_1");
//! turn.tool_result(now, outcome, &mut out)?;
//! turn.text(now, "It has two lines.", &mut out)?;
//! turn.finish(now, Finish::default(), &mut out)?;
//! let frames = String::from_utf8(out).expect("JSON is text");
//! assert!(frames.contains(r#""summary":"read_file · ✓ ok · a.md · 2 lines · 7 B""#));
//! # Ok::<(), turnwire::error::CallerError>(())
//! ```
//!
//! The turn keeps the order legal: it implies the start, numbers the steps, drops empty deltas,
//! settles open calls before the one terminal, and adds the trailer where the protocol has one. It
//! writes the summary line and the bounded preview of each tool's output, judges whether the tool
//! did its work, and follows the working directory. Made without a dialect it gives
//! [entries](Entry) for a log instead of bytes.
//!
//! Between calls, wake it when [`Turn::poll_timeout`] says so: a stream that is silent for fifteen
//! seconds needs a comment, or proxies cut it.
//!
//! # A host
//!
//! ```
//! use turnwire::dialect::Dialect;
//! use turnwire::host::Op;
//! use turnwire::time::Millis;
//! use turnwire::{Host, HostOptions};
//!
//! let mut host = Host::new(Dialect::AGENT, HostOptions::default())?;
//! let now = Millis(0);
//! host.submit(now, "Hello?", None, &[], &mut |op| {
//!     if let Op::Request(request) = op {
//!         // This is where the program makes the request.
//!         assert_eq!((request.method, request.path.as_str()), ("POST", "/api/agent"));
//!     }
//! })?;
//! host.response(now, 200, "text/event-stream", None, None, &mut |_| {})?;
//! let mut painted = String::new();
//! for chunk in ["data: {\"type\":\"text_de", "lta\",\"text\":\"Hi\"}\n\n", "data: {\"type\":\"done\"}\n\n"] {
//!     host.feed(now, chunk.as_bytes(), None, &mut |op| match op {
//!         Op::Push { row, .. } => painted.push_str(&row.text),
//!         Op::Grow { text, .. } => painted.push_str(text),
//!         _ => {}
//!     })?;
//! }
//! host.finish(now, None, &mut |_| {})?;
//! assert_eq!(painted, "HiTurn ended · model finished");
//! # Ok::<(), turnwire::error::CallerError>(())
//! ```
//!
//! Ops say what a painter has to do and no more: `push` a row, `grow` its text, `patch` fields of
//! it. One call gives at most one change a row, however many deltas its chunk held. A painter that
//! comes late starts from [`Host::view`]; [`host::apply_ops`] is what it does with the ops after
//! that. Requests to make, and connections to give up, are ops too, so a program needs no rule of
//! the protocol: it performs them and reports what happened with [`Host::response`],
//! [`Host::feed`], [`Host::finish`] and [`Host::fail`].
//!
//! # A server
//!
//! [`request::negotiate`] and [`request::parse`] read what a client asks for and word the refusals
//! of each protocol; [`Turn::headers`] and [`Turn::json_response`] say what goes back. This is the
//! whole of a route that an HTTP framework is wrapped around:
//!
//! ```
//! use turnwire::dialect::Dialect;
//! use turnwire::request::{self, Headers, Negotiated, ParseOptions};
//! use turnwire::time::Millis;
//! use turnwire::turn::Finish;
//! use turnwire::{Turn, TurnOptions};
//!
//! /// Status, headers and body of the answer to a POST.
//! fn answer(content_type: &str, accept: Option<&str>, body: &[u8]) -> (u16, Headers, Vec<u8>) {
//!     let spec = Dialect::AGENT.requests();
//!     let mut options = ParseOptions::default();
//!     options.content_type = Some(content_type);
//!     let wanted = match request::parse(spec, body, &options) {
//!         Ok(wanted) => wanted,
//!         Err(refused) => return (refused.status, refused.headers, refused.body),
//!     };
//!     let mut turn = Turn::new(Some(Dialect::AGENT), TurnOptions::default()).expect("options");
//!     let (now, mut out) = (Millis(0), Vec::new());
//!     // A real one sends `out` after each call, while the model still writes.
//!     turn.text(now, &wanted.prompt, &mut out).expect("a turn that runs");
//!     turn.finish(now, Finish::default(), &mut out).expect("a turn that runs");
//!     match request::negotiate(spec, accept) {
//!         Negotiated::Stream => (200, turn.headers(), out),
//!         Negotiated::Json => {
//!             let (status, body) = turn.json_response().expect("a turn that ended");
//!             (status, turn.json_headers(), body)
//!         }
//!     }
//! }
//!
//! let json = "application/json";
//! assert_eq!(answer(json, None, br#"{"prompt":"Hi"}"#).2, br#"{"text":"Hi"}"#);
//! assert!(answer(json, Some("text/event-stream"), br#"{"prompt":"Hi"}"#).2.starts_with(b"data: "));
//! assert_eq!(answer(json, None, b"{}").0, 400);
//! ```
//!
//! The example server of the repository is such a route with axum, a model, tools and a page.
//!
//! # Options
//!
//! Structs of options grow with time, so they are made by `default()` and changed field by field:
//! `let mut options = TurnOptions::default(); options.cwd = Some("src".to_owned());`.
//!
//! # Time, ids and chance
//!
//! Time comes in with each call, as monotonic [milliseconds](time::Millis); wall stamps are derived
//! from the one pair given at construction. Ids and jitter come from a [seed](ids::Seed) that the
//! caller gives. The same seed, clock and input give the same bytes.
//!
//! # Errors and odd input
//!
//! A wrong call is a [`CallerError`](error::CallerError) with a stable [code](error::Code), and
//! changes nothing. Odd bytes and odd orders are [diagnostics](error::Diagnostics) beside the
//! output, each with a code and a position; they cost the field or the event that they concern and
//! nothing else. Whatever is unknown passes through as [`Unknown`](event::Unknown). No input
//! panics.
//!
//! # Bounds
//!
//! All of them are in [`limits`], with unit, reason and source. Work is linear in the bytes seen.
//!
//! # Features
//!
//! The crate is `no_std` with `alloc`. The feature `std`, on by default, only forwards to
//! dependencies (faster search by the processor's own instructions); it changes no result.
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
pub mod log;
pub mod request;
pub mod session;
pub mod text;
pub mod time;
pub mod turn;
pub mod wire;

pub use ends::{Entry, Host, HostOptions, OpSink, Transcoder, Turn, TurnOptions};

/// Runs the examples of the README.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
struct Readme;
