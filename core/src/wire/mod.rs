//! Bytes and frames: server-sent events, newline-delimited JSON, and the JSON inside them.
//!
//! This room knows nothing about events of a chat. A decoder is a *lending pull*: give it the bytes
//! as they arrive and take frames until it needs more; a frame borrows from the input or from the
//! decoder and is gone at the next call. The end of the input is a call of its own, `finish`.
//!
//! ```
//! use turnwire::wire::{SseDecoder, Step};
//!
//! let mut decoder = SseDecoder::default();
//! let mut seen = Vec::new();
//! for chunk in ["data: {\"type\":\"text_delta\",\"te", "xt\":\"Hel\"}\n\ndata: [DO", "NE]\r\n\r\n"] {
//!     let mut input = chunk.as_bytes();
//!     while let Step::Frame(frame) = decoder.next(&mut input) {
//!         seen.push(frame.data.into_owned());
//!     }
//! }
//! assert!(matches!(decoder.finish(), Step::Finished));
//! assert_eq!(seen, ["{\"type\":\"text_delta\",\"text\":\"Hel\"}", "[DONE]"]);
//! ```
//!
//! Everything here is linear in the bytes seen, whatever the chunking, and holds no more than its
//! bound. Frames, diagnostics and state do not depend on where the chunks were cut.

use alloc::borrow::Cow;

mod block;
pub mod encode;
pub mod json;
mod lines;
mod ndjson;
mod sse;

pub(crate) use lines::Clean;

pub use block::SseOptions;
pub use encode::{FieldValue, FrameWriter, Framing};
pub use ndjson::{NdjsonDecoder, NdjsonOptions};
pub use sse::SseDecoder;

/// What a decoder has to say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step<T> {
    /// The next frame; there may be more in the same input.
    Frame(T),
    /// The input is used up.
    NeedMore,
    /// The stream has ended: nothing more comes.
    Finished,
}

/// One event of a stream, or one line of newline-delimited JSON.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Frame<'a> {
    /// The name of the event, `message` if it has none.
    pub event: &'a str,
    /// The data, its lines joined by LF; or the record.
    pub data: Cow<'a, str>,
    /// The id of the last event that had one, this one included; empty if there was none yet.
    pub id: &'a str,
    /// Offset in the stream of the frame's first byte.
    pub at: u64,
    /// Whether the peer ended the frame. `false` only for what `finish` gives: it may be cut.
    pub terminated: bool,
}
