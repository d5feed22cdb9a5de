//! The page, and what it and the server say to each other.
//!
//! A session of the page is folded here, by a [`turnwire::Host`] that makes its turns with what
//! `POST /api/agent` makes them with. The page paints the host's ops and keeps no truth of its own:
//! every connection begins with the whole view, so a reload, a second tab and a connection that
//! broke show the same transcript.
//!
//! | request | answer |
//! |---|---|
//! | `GET /`, `GET /?session=ID` | the page; without a known session, a redirect to the newest one or a new one |
//! | `GET /page/NAME` | a file of the page |
//! | `POST /page/sessions` | 201 `{id}`: a new session |
//! | `GET /page/sessions/ID/ops` | an event stream, see below; 404 for a session that is not known |
//! | `POST /page/sessions/ID/prompt` `{text, client_id?}` | 202; 409 while a turn runs |
//! | `POST /page/sessions/ID/stop` | 202, also when nothing runs |
//! | `POST /page/sessions/ID/earlier` | 200 `{moved}`: whether there were earlier rows to show |
//!
//! The event stream has messages of three kinds, each with one JSON object as data:
//!
//! - `view` `{session, view, frames}`, once and first: where a painter starts. `frames` are the
//!   last ones.
//! - `ops` `{revision, ops, frames}`: the ops of some frames, in order, neighbouring `grow`s of one
//!   row joined; ops that concern no painter are left out. `revision` is the view's after them.
//! - `ping` `{}`, when there was nothing else for a while.
//!
//! A frame is what passed between host and server in the dialect `agent`, as it was on the wire:
//! `{n, dir, at, type, bytes, text, rows}`. `n` counts from 1, `dir` is `in` or `out` (the request
//! that starts a turn), `at` is Unix milliseconds, `text` is the frame, cut after
//! [`FRAME_TEXT_MAX_BYTES`](frames::FRAME_TEXT_MAX_BYTES), and `rows` are the ids of the rows that
//! it changed.
//!
//! What all see of a session is one: when a page asks for earlier rows, all of them show them, until
//! the next prompt. Only what a page has open is its own.
//!
//! A reader that does not keep up is cut off and starts anew from the view.

mod assets;
mod batch;
mod frames;
mod routes;
mod session;
mod sessions;

pub(crate) use routes::routes;
pub(crate) use sessions::Sessions;
