//! Raw frames, for the pane that shows the wire.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// Bytes of a frame's text that the page is given; a `done` can be of megabytes.
pub(super) const FRAME_TEXT_MAX_BYTES: usize = 4096;

/// Frames that a page which comes late is given.
const KEPT_MAX: usize = 500;

/// A frame as the page sees it.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Shown {
    pub(super) n: u64,
    pub(super) dir: &'static str,
    pub(super) at: u64,
    #[serde(rename = "type")]
    pub(super) kind: String,
    pub(super) bytes: usize,
    pub(super) text: String,
    pub(super) rows: Vec<u64>,
}

/// Counts frames and keeps the last ones.
#[derive(Debug, Default)]
pub(super) struct Frames {
    count: u64,
    kept: VecDeque<Box<RawValue>>,
}

impl Frames {
    /// The JSON of a frame that has just passed.
    pub(super) fn pass(
        &mut self,
        dir: &'static str,
        at: u64,
        kind: String,
        raw: &str,
        rows: Vec<u64>,
    ) -> Option<Box<RawValue>> {
        self.count += 1;
        let text = cut(raw);
        let shown = Shown { n: self.count, dir, at, kind, bytes: raw.len(), text, rows };
        // Plain data, so that it is always JSON.
        let json = serde_json::value::to_raw_value(&shown).ok()?;
        if self.kept.len() == KEPT_MAX {
            self.kept.pop_front();
        }
        self.kept.push_back(json.clone());
        Some(json)
    }

    /// The last frames, oldest first.
    pub(super) const fn kept(&self) -> &VecDeque<Box<RawValue>> {
        &self.kept
    }
}

/// The text, or its start with a mark that says how much is missing.
fn cut(raw: &str) -> String {
    let mut end = raw.len().min(FRAME_TEXT_MAX_BYTES);
    while !raw.is_char_boundary(end) {
        end -= 1;
    }
    let (head, rest) = raw.split_at(end);
    if rest.is_empty() { head.to_owned() } else { format!("{head}… ({} more bytes)", rest.len()) }
}

/// The frames of a chunk, each with the empty line that ends it. A turn writes whole ones.
pub(super) fn split(chunk: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = chunk;
    std::iter::from_fn(move || {
        let end = rest.windows(2).position(|pair| pair == b"\n\n").map_or(rest.len(), |at| at + 2);
        let (frame, after) = rest.split_at(end);
        rest = after;
        (!frame.is_empty()).then_some(frame)
    })
}

/// What a frame says it is.
pub(super) fn kind(frame: &str) -> String {
    #[derive(Deserialize)]
    struct Typed {
        r#type: String,
    }
    let data = frame.lines().find_map(|line| line.strip_prefix("data:"));
    match data.map(serde_json::from_str::<Typed>) {
        Some(Ok(typed)) => typed.r#type,
        Some(Err(_)) => "data".to_owned(),
        None => "comment".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::{FRAME_TEXT_MAX_BYTES, cut, kind, split};

    #[test]
    fn a_chunk_is_its_frames() {
        let chunk = b"data: {\"type\":\"done\"}\n\n: quiet\n\ndata: half";
        let frames: Vec<_> = split(chunk).map(|f| String::from_utf8_lossy(f)).collect();
        assert_eq!(frames, ["data: {\"type\":\"done\"}\n\n", ": quiet\n\n", "data: half"]);
        let kinds: Vec<_> = frames.iter().map(|f| kind(f)).collect();
        assert_eq!(kinds, ["done", "comment", "data"]);
        assert_eq!(split(b"").count(), 0);
    }

    #[test]
    fn a_long_frame_is_cut_between_characters() {
        let long = "é".repeat(FRAME_TEXT_MAX_BYTES);
        let text = cut(&format!("x{long}"));
        assert!(text.starts_with("xé") && text.ends_with("é… (4098 more bytes)"), "{text}");
        assert_eq!(cut("short"), "short");
    }
}
