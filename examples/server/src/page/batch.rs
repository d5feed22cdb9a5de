//! Ops and frames on their way to the pages, gathered into one message.

use serde::Serialize;
use serde_json::json;
use serde_json::value::{RawValue, to_raw_value};
use turnwire::host::Op;

/// What happened since the last message.
#[derive(Debug, Default)]
pub(super) struct Batch {
    ops: Vec<Piece>,
    frames: Vec<Box<RawValue>>,
    bytes: usize,
}

#[derive(Debug)]
enum Piece {
    Grow { row_id: u64, item_id: Option<u32>, text: String },
    Other(Box<RawValue>),
}

impl Batch {
    /// Takes an op, and gives the row that it changed. What concerns no painter is left out.
    pub(super) fn op(&mut self, op: Op<'_>) -> Option<u64> {
        let row = match op {
            Op::Grow { row_id, text, item_id } => {
                self.grow(row_id, item_id, text);
                return Some(row_id);
            }
            Op::Push { row, .. } | Op::Update { row, .. } => Some(row.id),
            Op::Patch { row_id, .. } => Some(row_id),
            Op::Drop { .. } | Op::Window { .. } | Op::Lifecycle(_) | Op::State { .. } => None,
            _ => return None,
        };
        // Plain data, so that it is always JSON.
        if let Ok(json) = to_raw_value(&op) {
            self.bytes += json.get().len();
            self.ops.push(Piece::Other(json));
        }
        row
    }

    fn grow(&mut self, row_id: u64, item_id: Option<u32>, text: &str) {
        self.bytes += text.len();
        if let Some(Piece::Grow { row_id: row, item_id: item, text: grown }) = self.ops.last_mut()
            && (*row, *item) == (row_id, item_id)
        {
            grown.push_str(text);
            return;
        }
        self.ops.push(Piece::Grow { row_id, item_id, text: text.to_owned() });
    }

    pub(super) fn frame(&mut self, frame: Box<RawValue>) {
        self.bytes += frame.get().len();
        self.frames.push(frame);
    }

    /// Bytes gathered, about.
    pub(super) const fn bytes(&self) -> usize {
        self.bytes
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.ops.is_empty() && self.frames.is_empty()
    }

    /// The message `ops`.
    pub(super) fn message(&self, revision: u64) -> Vec<u8> {
        #[derive(Serialize)]
        struct Message<'a> {
            revision: u64,
            ops: Vec<&'a RawValue>,
            frames: &'a [Box<RawValue>],
        }
        let grown: Vec<Option<Box<RawValue>>> = self.ops.iter().map(Piece::grown).collect();
        let ops = self.ops.iter().zip(&grown).filter_map(|(piece, grown)| match piece {
            Piece::Other(json) => Some(&**json),
            Piece::Grow { .. } => grown.as_deref(),
        });
        message("ops", &Message { revision, ops: ops.collect(), frames: &self.frames })
    }
}

impl Piece {
    fn grown(&self) -> Option<Box<RawValue>> {
        let Self::Grow { row_id, item_id, text } = self else { return None };
        let mut op = json!({"op": "grow", "row_id": row_id, "text": text});
        if let (Some(item_id), Some(map)) = (item_id, op.as_object_mut()) {
            map.insert("item_id".to_owned(), json!(item_id));
        }
        to_raw_value(&op).ok()
    }
}

/// A message of the page's stream.
pub(super) fn message(event: &str, data: &impl Serialize) -> Vec<u8> {
    // JSON has no line ends, so one data line holds it.
    let mut out = format!("event: {event}\ndata: ").into_bytes();
    if serde_json::to_writer(&mut out, data).is_err() {
        // Plain data with string keys: there is nothing that JSON cannot say.
        return Vec::new();
    }
    out.extend_from_slice(b"\n\n");
    out
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};
    use turnwire::host::{Lifecycle, Op};

    use super::Batch;

    #[test]
    fn neighbouring_grows_are_one_op() {
        let mut batch = Batch::default();
        for (row_id, text) in [(1, "a"), (1, "b\n"), (2, "c"), (1, "d")] {
            assert_eq!(batch.op(Op::Grow { row_id, text, item_id: None }), Some(row_id));
        }
        assert_eq!(batch.op(Op::Lifecycle(Lifecycle::Busy)), None);
        assert_eq!(batch.op(Op::Cancelled { by: "user" }), None);
        let message = String::from_utf8(batch.message(7)).expect("JSON is UTF-8");
        let data = message.strip_prefix("event: ops\ndata: ").expect("an ops message");
        let data: Value = serde_json::from_str(data).expect("JSON");
        let grow = |row_id: u64, text: &str| json!({"op": "grow", "row_id": row_id, "text": text});
        let lifecycle = json!({"op": "lifecycle", "lifecycle": "busy"});
        let ops = [grow(1, "ab\n"), grow(2, "c"), grow(1, "d"), lifecycle];
        assert_eq!(data, json!({"revision": 7, "ops": ops, "frames": []}));
    }
}
