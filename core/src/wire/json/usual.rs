//! Objects as most peers write them, which are quicker to read than any that could come.

use super::scan::Scanner;
use super::value::Value;

/// Reads an object that is spelt as expected: these fields, in this order, without blanks.
///
/// Where a step says no, the text may be good all the same, and
/// [`read_object`](super::read_object) has the answer; a text that is read to its
/// [end](Self::is_end) gives the same fields there, because it has no others.
#[derive(Debug)]
pub(crate) struct Usual<'a>(Scanner<'a>);

impl<'a> Usual<'a> {
    /// At the start of `src`.
    #[inline(always)]
    pub(crate) const fn new(src: &'a str) -> Self {
        Self(Scanner::new(src))
    }

    /// Goes past `spelt`, if it is next: brackets, commas, keys, values without a choice.
    #[inline(always)]
    pub(crate) fn skip(&mut self, spelt: &'static str) -> bool {
        // Inlined, the comparison is with a text of known length.
        let rest = self.0.text.as_bytes().get(self.0.at..);
        let is_next = rest.is_some_and(|rest| rest.starts_with(spelt.as_bytes()));
        self.0.at += if is_next { spelt.len() } else { 0 };
        is_next
    }

    /// The string that is next.
    #[inline]
    pub(crate) fn string(&mut self) -> Option<Value<'a>> {
        Value::scan_str(&mut self.0)
    }

    /// The string behind `head`; `Some(None)` if `head` is not next.
    #[inline(always)]
    pub(crate) fn opt_string(&mut self, head: &'static str) -> Option<Option<Value<'a>>> {
        if self.skip(head) { self.string().map(Some) } else { Some(None) }
    }

    /// The whole number that is next, in plain digits; the largest are left to others.
    #[inline]
    pub(crate) fn u64(&mut self) -> Option<u64> {
        const DIGITS_MAX: usize = 19;
        let rest = self.0.text.as_bytes().get(self.0.at..)?;
        let (mut number, mut len) = (0_u64, 0);
        while let Some(digit @ b'0'..=b'9') = rest.get(len) {
            number = number.wrapping_mul(10).wrapping_add(u64::from(digit - b'0'));
            len += 1;
        }
        self.0.at += len;
        let is_plain = len == 1 || rest.first() != Some(&b'0');
        (is_plain && (1..=DIGITS_MAX).contains(&len)).then_some(number)
    }

    /// The whole number behind `head`; `Some(None)` if `head` is not next.
    #[inline(always)]
    pub(crate) fn opt_u64(&mut self, head: &'static str) -> Option<Option<u64>> {
        if self.skip(head) { self.u64().map(Some) } else { Some(None) }
    }

    /// Whether `tail` is all that is left.
    #[inline(always)]
    pub(crate) fn is_end(&self, tail: &'static str) -> bool {
        self.0.text.as_bytes().get(self.0.at..) == Some(tail.as_bytes())
    }
}

/// The last field of the object that `src` is, if all before its value is `head` and nothing but
/// the closing bracket is behind it.
#[inline(always)]
pub(crate) fn read_after<'a>(src: &'a str, head: &'static str) -> Option<Value<'a>> {
    if src.starts_with(head) { last_string(src, head.len()) } else { None }
}

fn last_string(src: &str, at: usize) -> Option<Value<'_>> {
    let mut usual = Usual(Scanner { text: src, at });
    usual.string().filter(|_| usual.is_end("}"))
}
