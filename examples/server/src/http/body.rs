//! Reading a request body within bounds of size and time.

use std::time::Duration;

use axum::body::Body;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::Response;
use http_body_util::BodyExt;
use tokio::time::{Instant, timeout_at};

use super::reply::refusal;

/// Time in which a body must be complete (`server`, Bodies: a stalled one is cut within 60 s).
const TIME_MAX: Duration = Duration::from_secs(45);

/// Bytes and time for which a body that is too large is still read and thrown away. A client that
/// is busy sending would otherwise see a broken connection and never the answer.
const DISCARD_MAX_BYTES: usize = 16 << 20;
const DISCARD_TIME_MAX: Duration = Duration::from_secs(5);

/// The body: whole if it has at most `max_bytes`, else its first `max_bytes + 1`, so that whoever
/// judges it sees that it is too large.
pub(crate) async fn read(
    headers: &HeaderMap,
    mut body: Body,
    max_bytes: usize,
) -> Result<Vec<u8>, Response> {
    let kept_max = max_bytes.saturating_add(1);
    let declared = headers.get(header::CONTENT_LENGTH).and_then(|v| v.to_str().ok()?.parse().ok());
    let too_large = declared.is_some_and(|n: u64| n > max_bytes as u64);
    if too_large && headers.contains_key(header::EXPECT) {
        // It waits to be told to send, and is not.
        return Ok(vec![b' '; kept_max]);
    }
    let mut deadline = Instant::now() + if too_large { DISCARD_TIME_MAX } else { TIME_MAX };
    let mut kept = if too_large { vec![b' '; kept_max] } else { Vec::new() };
    let mut discarded = 0_usize;
    loop {
        let frame = match timeout_at(deadline, body.frame()).await {
            Ok(None) => return Ok(kept),
            Ok(Some(Ok(frame))) => frame,
            Ok(Some(Err(_))) => {
                return Err(refusal(StatusCode::BAD_REQUEST, "The request body broke off."));
            }
            Err(_) if kept.len() == kept_max => return Ok(kept),
            Err(_) => {
                return Err(refusal(StatusCode::REQUEST_TIMEOUT, "The request body stalled."));
            }
        };
        let Ok(data) = frame.into_data() else { continue };
        let room = (kept_max - kept.len()).min(data.len());
        let (head, rest) = data.split_at(room);
        kept.extend_from_slice(head);
        if !rest.is_empty() {
            if discarded == 0 {
                deadline = deadline.min(Instant::now() + DISCARD_TIME_MAX);
            }
            discarded = discarded.saturating_add(rest.len());
            if discarded > DISCARD_MAX_BYTES {
                return Ok(kept);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use axum::body::Bytes;
    use futures_util::{StreamExt, stream};

    use super::{Body, HeaderMap, StatusCode, read};

    /// A body that gives these pieces and then neither goes on nor ends.
    fn stalling(pieces: &[&'static str]) -> Body {
        let pieces: Vec<_> = pieces
            .iter()
            .map(|p| Ok::<_, std::io::Error>(Bytes::from_static(p.as_bytes())))
            .collect();
        Body::from_stream(stream::iter(pieces).chain(stream::pending()))
    }

    #[tokio::test(start_paused = true)]
    async fn a_body_that_stalls_is_cut_off() {
        let refused = read(&HeaderMap::new(), stalling(&["{\"prompt\":"]), 100).await;
        assert_eq!(refused.unwrap_err().status(), StatusCode::REQUEST_TIMEOUT);
    }

    #[tokio::test(start_paused = true)]
    async fn a_body_over_the_bound_need_not_end() {
        let body = read(&HeaderMap::new(), stalling(&["12345", "67890"]), 7).await;
        assert_eq!(body.unwrap(), b"12345678");
    }
}
