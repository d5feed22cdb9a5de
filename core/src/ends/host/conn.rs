//! One connection of a host, from its request to its end.

use alloc::boxed::Box;
use alloc::vec::Vec;

use crate::dialect::Decoder;
use crate::limits::EVENT_MAX_BYTES;
use crate::time::Millis;

pub(super) struct Conn {
    pub(super) request_id: u64,
    pub(super) body: Body,
    /// When something last came, or when it was asked for.
    pub(super) last_byte: Millis,
    /// It was given up; what still comes is ignored.
    pub(super) aborted: bool,
}

/// What the bytes of a connection are.
pub(super) enum Body {
    /// No answer yet.
    Waiting,
    /// Frames.
    Stream(Box<Decoder>),
    /// One JSON text, read at its end; bounded as one event is.
    Text { status: u16, bytes: Vec<u8> },
}

impl Conn {
    pub(super) const fn new(request_id: u64, now: Millis) -> Self {
        Self { request_id, body: Body::Waiting, last_byte: now, aborted: false }
    }

    /// Keeps a piece of an answer that is no stream, up to the bound.
    pub(super) fn keep(bytes: &mut Vec<u8>, chunk: &[u8]) {
        let room = EVENT_MAX_BYTES.saturating_sub(bytes.len());
        bytes.extend_from_slice(chunk.get(..room).unwrap_or(chunk));
    }
}
