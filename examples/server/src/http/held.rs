//! A whole answer that holds its turn's place until it is taken.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use axum::body::{Bytes, HttpBody};
use hyper::body::{Frame, SizeHint};
use tokio::sync::OwnedSemaphorePermit;

/// Bytes that are handed over at once, so that a slow reader is noticed before the end.
const PIECE_MAX_BYTES: usize = 64 << 10;

/// The body. What its readers have not taken counts as a running turn, or many of them that do not
/// read could fill the memory with answers.
pub(super) struct Held {
    left: Bytes,
    _place: Arc<OwnedSemaphorePermit>,
}

impl Held {
    pub(super) fn new(body: Vec<u8>, place: Arc<OwnedSemaphorePermit>) -> Self {
        Self { left: body.into(), _place: place }
    }
}

impl HttpBody for Held {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let size = self.left.len().min(PIECE_MAX_BYTES);
        let piece = self.left.split_to(size);
        Poll::Ready((!piece.is_empty()).then_some(Ok(Frame::data(piece))))
    }

    fn is_end_stream(&self) -> bool {
        self.left.is_empty()
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.left.len() as u64)
    }
}
