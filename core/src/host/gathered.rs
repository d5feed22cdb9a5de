//! The whole text of a turn, kept in the rows that show it.
//!
//! A piece is a row of the ring, or text of its own: what the ring left out, and what was in rows
//! that fell out of it. So the text of a turn is in memory once.

use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use super::ring::Ring;
use crate::text::is_blank;

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Gathered {
    pieces: Vec<Piece>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Piece {
    /// The row that shows it, or did.
    row: Option<u64>,
    /// The text, unless the row is in the ring.
    text: String,
}

impl Piece {
    fn text<'a>(&'a self, ring: &'a Ring) -> &'a str {
        self.row.and_then(|id| ring.get(id)).map_or(&self.text, |row| &row.text)
    }
}

impl Gathered {
    /// Goes on in this row.
    pub(super) fn add_row(&mut self, row: u64) {
        self.pieces.push(Piece { row: Some(row), text: String::new() });
    }

    /// Goes on with text that no row shows.
    pub(super) fn add_text(&mut self, text: &str) {
        match self.pieces.last_mut().filter(|piece| piece.row.is_none()) {
            Some(piece) => piece.text.push_str(text),
            None => self.pieces.push(Piece { row: None, text: text.into() }),
        }
    }

    /// Keeps the text of a row that leaves the ring. Rows leave oldest first, and this one is
    /// looked for from the newest of those that left before.
    pub(super) fn keep(&mut self, row: u64, text: String) {
        let at = self.pieces.partition_point(|piece| piece.row.is_none_or(|id| id < row));
        if let Some(piece) = self.pieces.get_mut(at).filter(|piece| piece.row == Some(row)) {
            piece.text = text;
        }
    }

    /// Replaces the text of a row that has left the ring.
    pub(super) fn replace(&mut self, row: u64, text: &str) {
        if let Some(piece) = self.pieces.iter_mut().find(|piece| piece.row == Some(row)) {
            piece.text = text.into();
        }
    }

    /// Whether there is nothing but white space.
    pub(super) fn is_blank(&self, ring: &Ring) -> bool {
        self.pieces.iter().all(|piece| is_blank(piece.text(ring)))
    }

    /// The text. Linear in it.
    pub(super) fn text(&self, ring: &Ring) -> String {
        let mut out = String::with_capacity(self.pieces.iter().map(|p| p.text(ring).len()).sum());
        for piece in &self.pieces {
            out.push_str(piece.text(ring));
        }
        out
    }

    /// The text without white space at its ends.
    pub(super) fn trimmed(&self, ring: &Ring) -> String {
        let mut text = self.text(ring);
        text.truncate(text.trim_end().len());
        let lead = text.len() - text.trim_start().len();
        text.drain(..lead);
        text
    }

    /// What `text` says beyond the pieces before `row` (all of them without one), if it begins
    /// with those. White space in front of the first piece does not count.
    pub(super) fn strip<'t>(
        &self,
        before: Option<u64>,
        text: &'t str,
        ring: &Ring,
    ) -> Option<&'t str> {
        let mut rest = text;
        let mut leading = true;
        for piece in &self.pieces {
            if piece.row.is_some() && piece.row == before {
                break;
            }
            let mut part = piece.text(ring);
            if leading {
                part = part.trim_start();
            }
            leading &= part.is_empty();
            rest = rest.strip_prefix(part)?;
        }
        Some(rest)
    }
}
