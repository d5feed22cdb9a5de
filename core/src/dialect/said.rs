//! How far a text has come, without keeping it.

use crate::text::is_blank;

/// The text that was said so far, by its length and a hash of it, so that a whole text can be told
/// to go on from it. A collision costs that text alone, of the same peer that made it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Said {
    bytes: usize,
    /// The bytes as the digits of a number to the base [`BASE`], modulo 2^64: what two texts make
    /// together can be told from what each makes.
    hash: u64,
    /// [`BASE`] to the power of `bytes`.
    power: u64,
    blank: bool,
}

/// Odd, so that no byte is ever shifted out.
const BASE: u64 = 0x9e37_79b9_7f4a_7c15;

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
        Self { bytes: 0, hash: 0, power: 1, blank: true }
    }
}

impl Said {
    /// Says more. Linear in `text`.
    pub(super) fn push(&mut self, text: &str) {
        self.bytes = self.bytes.saturating_add(text.len());
        self.blank = self.blank && is_blank(text);
        for byte in text.bytes() {
            self.hash = self.hash.wrapping_mul(BASE).wrapping_add(u64::from(byte));
            self.power = self.power.wrapping_mul(BASE);
        }
    }

    /// Says what `more` has said.
    pub(super) const fn join(&mut self, more: Self) {
        self.bytes = self.bytes.saturating_add(more.bytes);
        self.hash = self.hash.wrapping_mul(more.power).wrapping_add(more.hash);
        self.power = self.power.wrapping_mul(more.power);
        self.blank &= more.blank;
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
