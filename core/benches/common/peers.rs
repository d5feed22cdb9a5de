//! What people use or write today in the place of this crate.

use std::borrow::Cow;
use std::convert::Infallible;

use bytes::Bytes;
use futures_util::{FutureExt, StreamExt, stream};
use serde::{Deserialize, Serialize};

/// The payload of a text delta.
#[derive(Serialize)]
pub struct Delta<'a> {
    pub r#type: &'a str,
    pub text: &'a str,
}

/// All that the bare loop wants to know of an event.
#[derive(Deserialize)]
#[allow(dead_code, reason = "a reader would use them")]
pub struct Flat<'a> {
    #[serde(borrow)]
    pub r#type: Cow<'a, str>,
    #[serde(borrow, default)]
    pub text: Cow<'a, str>,
    #[serde(borrow, default)]
    pub name: Cow<'a, str>,
    #[serde(borrow, default)]
    pub id: Cow<'a, str>,
    #[serde(borrow, default)]
    pub summary: Cow<'a, str>,
    #[serde(borrow, default)]
    pub preview: Cow<'a, str>,
    #[serde(default)]
    pub ok: bool,
}

/// The vocabulary as people type it: one enum, told apart by its tag.
#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[allow(dead_code, reason = "a reader would use them")]
pub enum Typed {
    TextDelta {
        text: String,
    },
    ReasoningDelta {
        text: String,
    },
    ToolStart {
        name: String,
        id: Option<String>,
    },
    ToolResult {
        name: String,
        ok: bool,
        summary: String,
        preview: Option<String>,
        id: Option<String>,
    },
    Done {
        text: Option<String>,
        cwd: Option<String>,
    },
    Error {
        error: String,
        status: Option<u16>,
    },
}

/// A line split, one flat struct, text onto a string: the least that a host can do, and no rules.
pub fn bare_loop(chunks: &[Bytes]) -> usize {
    let (mut carry, mut text, mut tools) = (Vec::new(), String::new(), 0);
    let mut line = |line: &[u8]| {
        let Some(data) = line.strip_prefix(b"data: ") else { return };
        let event: Flat<'_> = serde_json::from_slice(data).unwrap();
        match &*event.r#type {
            "text_delta" => text.push_str(&event.text),
            "tool_result" => tools += event.preview.len(),
            _ => {}
        }
    };
    for chunk in chunks {
        let mut rest = &**chunk;
        while let Some(end) = memchr::memchr(b'\n', rest) {
            if carry.is_empty() {
                line(&rest[..end]);
            } else {
                carry.extend_from_slice(&rest[..end]);
                line(&carry);
                carry.clear();
            }
            rest = &rest[end + 1..];
        }
        carry.extend_from_slice(rest);
    }
    text.len() + tools
}

/// `sse-stream` and the enum, without a fold.
pub fn sse_stream_typed(chunks: &[Bytes]) -> usize {
    sse_stream(chunks, |data| match serde_json::from_str(data).unwrap() {
        Typed::TextDelta { text } | Typed::ReasoningDelta { text } => text.len(),
        Typed::ToolResult { preview, .. } => preview.map_or(0, |preview| preview.len()),
        _ => 0,
    })
}

/// `sse-stream` and the struct of the bare loop, without a fold.
pub fn sse_stream_flat(chunks: &[Bytes]) -> usize {
    sse_stream(chunks, |data| {
        let event: Flat<'_> = serde_json::from_str(data).unwrap();
        event.text.len() + event.preview.len()
    })
}

fn sse_stream(chunks: &[Bytes], read: impl Fn(&str) -> usize) -> usize {
    let source = stream::iter(chunks.iter().cloned().map(Ok::<_, Infallible>));
    let mut frames = sse_stream::SseStream::from_bytes_stream(source);
    let mut len = 0;
    while let Some(Some(frame)) = frames.next().now_or_never() {
        let data = frame.unwrap().data.unwrap_or_default();
        len += read(&data);
    }
    len
}

/// The bytes that `axum` sends for each payload: an event with JSON data, through the body of its
/// response.
pub fn axum_events(text: &'static str, count: usize) -> usize {
    use axum::response::IntoResponse;
    use axum::response::sse::{Event, Sse};

    let events = (0..count).map(move |_| {
        let delta = Delta { r#type: "text_delta", text: std::hint::black_box(text) };
        Event::default().json_data(delta)
    });
    let mut body = Sse::new(stream::iter(events)).into_response().into_body().into_data_stream();
    let mut len = 0;
    while let Some(Some(bytes)) = body.next().now_or_never() {
        len += bytes.unwrap().len();
    }
    len
}
