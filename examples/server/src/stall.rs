//! A connection whose peer must take what is written to it.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep, sleep};

/// Time in which a peer must take something while something waits for it: as long as a turn may
/// wait for its reader. Without it, whoever never reads keeps a connection and an answer for good.
const STALL_MAX: Duration = Duration::from_secs(600);

/// Gives up on a peer that takes nothing for [`STALL_MAX`].
pub(crate) struct Stalls<S> {
    inner: S,
    timer: Pin<Box<Sleep>>,
    waiting: bool,
}

impl<S> Stalls<S> {
    pub(crate) fn new(inner: S) -> Self {
        Self { inner, timer: Box::pin(sleep(STALL_MAX)), waiting: false }
    }

    /// What a write came to, unless it has waited for too long.
    fn judged<T>(
        &mut self,
        context: &mut Context<'_>,
        result: Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        if result.is_ready() {
            self.waiting = false;
            return result;
        }
        if !self.waiting {
            self.waiting = true;
            self.timer.as_mut().reset(Instant::now() + STALL_MAX);
        }
        self.timer.as_mut().poll(context).map(|()| Err(io::ErrorKind::TimedOut.into()))
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Stalls<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_read(context, into)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Stalls<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.inner).poll_write(context, bytes);
        self.judged(context, written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.inner).poll_write_vectored(context, slices);
        self.judged(context, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.inner.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let flushed = Pin::new(&mut self.inner).poll_flush(context);
        self.judged(context, flushed)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let closed = Pin::new(&mut self.inner).poll_shutdown(context);
        self.judged(context, closed)
    }
}

#[cfg(test)]
mod tests {
    use std::io::ErrorKind;

    use tokio::io::{AsyncReadExt, AsyncWriteExt, duplex};
    use tokio::time::sleep;

    use super::{STALL_MAX, Stalls};

    #[tokio::test(start_paused = true)]
    async fn a_peer_that_takes_nothing_is_given_up() {
        let (ours, theirs) = duplex(4);
        let mut ours = Stalls::new(ours);
        assert_eq!(ours.write_all(b"12345").await.unwrap_err().kind(), ErrorKind::TimedOut);
        drop(theirs);
    }

    #[tokio::test(start_paused = true)]
    async fn a_peer_that_takes_little_is_not() {
        let (ours, mut theirs) = duplex(4);
        let mut ours = Stalls::new(ours);
        let reader = tokio::spawn(async move {
            let mut seen = Vec::new();
            for _ in 0..4 {
                sleep(STALL_MAX / 2).await;
                seen.push(theirs.read_u8().await.unwrap());
            }
            (seen, theirs)
        });
        ours.write_all(b"12345678").await.unwrap();
        assert_eq!(reader.await.unwrap().0, b"1234");
    }
}
