//! How far a text has come, without keeping it.

use crate::text::is_blank;

/// The text that was said so far, by its length and a hash of it, so that a whole text can be told
/// to go on from it. A collision costs that text alone, of the same peer that made it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Said {
    bytes: usize,
    hash: u64,
    blank: bool,
}

/// What a whole text has beyond what was said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rest<'t> {
    /// Nothing.
    Same,
    /// This is yet to be said.
    More(&'t str),
    /// It is another text.
    Other,
}

impl Default for Said {
    fn default() -> Self {
        // The offset of FNV-1a with 64 bits.
        Self { bytes: 0, hash: 0xcbf2_9ce4_8422_2325, blank: true }
    }
}

impl Said {
    /// Says more. Linear in `text`.
    pub(super) fn push(&mut self, text: &str) {
        self.bytes = self.bytes.saturating_add(text.len());
        self.blank &= is_blank(text);
        for byte in text.bytes() {
            self.hash = (self.hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }

    /// What `whole` has beyond it. Where nothing but blanks was said, all of a text that does not
    /// begin with them is yet to be said. Linear in `whole`.
    pub(super) fn rest_of<'t>(&self, whole: &'t str) -> Rest<'t> {
        if let Some((head, rest)) = whole.split_at_checked(self.bytes) {
            let mut same = Self::default();
            same.push(head);
            if same.hash == self.hash {
                return if rest.is_empty() { Rest::Same } else { Rest::More(rest) };
            }
        }
        if self.blank && !is_blank(whole) { Rest::More(whole) } else { Rest::Other }
    }
}
