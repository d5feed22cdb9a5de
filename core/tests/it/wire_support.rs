//! What a decoder says about a whole stream, so that two ways of feeding it can be compared.

use turnwire::wire::{Frame, NdjsonDecoder, NdjsonOptions, SseDecoder, SseOptions, Step};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Got {
    pub event: String,
    pub data: String,
    pub id: String,
    pub at: u64,
    pub terminated: bool,
}

impl From<Frame<'_>> for Got {
    fn from(frame: Frame<'_>) -> Self {
        Self {
            event: frame.event.into(),
            data: frame.data.into_owned(),
            id: frame.id.into(),
            at: frame.at,
            terminated: frame.terminated,
        }
    }
}

/// Frames, diagnostics (code and place), and the state at the end.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Said {
    pub frames: Vec<Got>,
    pub diagnostics: Vec<(&'static str, u64)>,
    pub last_event_id: String,
    pub retry_ms: Option<u64>,
    pub comments: u64,
}

/// The bound of a decoder; `None` is the default.
pub type Bound = Option<usize>;

pub fn sse_options(max: Bound, lenient_eof: bool) -> SseOptions {
    let mut options = SseOptions::default();
    options.max_event_bytes = max.unwrap_or(options.max_event_bytes);
    options.lenient_eof = lenient_eof;
    options
}

pub fn sse(chunks: &[&[u8]], max: Bound, lenient_eof: bool) -> Said {
    let options = sse_options(max, lenient_eof);
    let bound = options.max_event_bytes;
    let mut decoder = SseDecoder::new(options).unwrap();
    let mut said = Said::default();
    for chunk in chunks {
        let mut input = *chunk;
        while let Step::Frame(frame) = decoder.next(&mut input) {
            said.frames.push(frame.into());
        }
        assert!(input.is_empty());
        assert!(decoder.buffered() <= bound, "{} held", decoder.buffered());
    }
    while let Step::Frame(frame) = decoder.finish() {
        said.frames.push(frame.into());
    }
    assert_eq!(decoder.next(&mut &b"data: late\n\n"[..]), Step::Finished);
    said.diagnostics = decoder.diagnostics().drain().map(|d| (d.code.as_str(), d.at)).collect();
    said.last_event_id = decoder.last_event_id().into();
    said.retry_ms = decoder.retry_ms();
    said.comments = decoder.comments();
    said
}

pub fn ndjson(chunks: &[&[u8]], max: Bound) -> Said {
    let mut options = NdjsonOptions::default();
    options.max_line_bytes = max.unwrap_or(options.max_line_bytes);
    let bound = options.max_line_bytes;
    let mut decoder = NdjsonDecoder::new(options).unwrap();
    let mut said = Said::default();
    for chunk in chunks {
        let mut input = *chunk;
        while let Step::Frame(frame) = decoder.next(&mut input) {
            said.frames.push(frame.into());
        }
        assert!(input.is_empty());
        assert!(decoder.buffered() <= bound, "{} held", decoder.buffered());
    }
    while let Step::Frame(frame) = decoder.finish() {
        said.frames.push(frame.into());
    }
    assert_eq!(decoder.next(&mut &b"{}\n"[..]), Step::Finished);
    said.diagnostics = decoder.diagnostics().drain().map(|d| (d.code.as_str(), d.at)).collect();
    said
}

/// `bytes` cut before each of the offsets.
pub fn cut<'a>(bytes: &'a [u8], offsets: &[usize]) -> Vec<&'a [u8]> {
    let mut offsets: Vec<_> = offsets.iter().map(|n| n % (bytes.len() + 1)).collect();
    offsets.sort_unstable();
    let mut from = 0;
    let mut chunks = Vec::new();
    for to in offsets {
        chunks.push(&bytes[from..to]);
        from = to;
    }
    chunks.push(&bytes[from..]);
    chunks
}
