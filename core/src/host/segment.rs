//! Where text that outgrows a row goes on in the next one (X11).

use crate::limits::{ROW_CUT_LINE_BYTES, ROW_MAX_BYTES};
use crate::text::{head_bytes, tail_bytes};

/// The part of `text` that still goes into a row which says `row`; all of it if it fits.
///
/// A row within 4,096 bytes of its end takes no more once it ends a line. Else the cut is after a
/// line end where one is among the last 4,096 bytes of what fits, and failing that between two
/// scalar values. An empty answer means: go on in a new row. Linear in `text`.
#[inline]
pub(super) fn fitting<'t>(row: &str, text: &'t str) -> &'t str {
    let room = ROW_MAX_BYTES.saturating_sub(row.len());
    if room <= ROW_CUT_LINE_BYTES && row.ends_with('\n') {
        return "";
    }
    if text.len() <= room { text } else { cut(room, text) }
}

fn cut(room: usize, text: &str) -> &str {
    let head = head_bytes(text, room);
    let near = tail_bytes(head, ROW_CUT_LINE_BYTES);
    match near.rfind('\n') {
        Some(at) => &head[..head.len() - near.len() + at + 1],
        None => head,
    }
}
