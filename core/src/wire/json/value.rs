//! One value of a text that has been checked, read on demand.

use alloc::borrow::Cow;
use alloc::string::String;

use super::JsonError;
use super::scan::Scanner;
use super::unescape::{Halves, halves, halves_into, unescape};

/// What a value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Kind {
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool,
    /// A number.
    Number,
    /// A string.
    Str,
    /// An array.
    Array,
    /// An object.
    Object,
}

/// A value as the text that it was written in. Copying it copies no text.
///
/// The getters give `None` for a value of another kind.
///
/// ```
/// use turnwire::wire::json::{Kind, Value};
/// let list = Value::parse(r#" [1, "zw\u00f6lf", {"deep": [null]}] "#)?;
/// let kinds: Vec<_> = list.elements().map(|v| v.kind()).collect();
/// assert_eq!(kinds, [Kind::Number, Kind::Str, Kind::Object]);
/// assert_eq!(list.elements().nth(1).and_then(|v| v.str()).as_deref(), Some("zwölf"));
/// # Ok::<(), turnwire::wire::json::JsonError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Value<'a> {
    raw: &'a str,
    kind: Kind,
    escaped: bool,
}

impl<'a> Value<'a> {
    /// The one value that `src` is, with blanks around it left out.
    ///
    /// # Errors
    /// As [`validate`](super::validate).
    pub fn parse(src: &'a str) -> Result<Self, JsonError> {
        let mut scan = Scanner::new(src);
        scan.blanks();
        let value = Self::scan(&mut scan, 0)?;
        scan.end()?;
        Ok(value)
    }

    /// The value at the scanner's place, inside `around` levels of brackets.
    #[inline]
    pub(super) fn scan(scan: &mut Scanner<'a>, around: usize) -> Result<Self, JsonError> {
        let start = scan.at;
        let (kind, escaped) = scan.value(around)?;
        Ok(Self { raw: &scan.text[start..scan.at], kind, escaped })
    }

    /// The string at the scanner's place, if there is one.
    #[inline(always)]
    pub(super) fn scan_str(scan: &mut Scanner<'a>) -> Option<Self> {
        let start = scan.at;
        let escaped = scan.string().ok()?;
        Some(Self { raw: scan.text.get(start..scan.at)?, kind: Kind::Str, escaped })
    }

    /// What it is.
    #[must_use]
    pub const fn kind(&self) -> Kind {
        self.kind
    }

    /// Its text, as it was written.
    #[must_use]
    pub const fn raw(&self) -> &'a str {
        self.raw
    }

    /// The text of a string; borrowed if it has no escapes. Halves of surrogate pairs become U+FFFD.
    #[must_use]
    pub fn str(&self) -> Option<Cow<'a, str>> {
        let inner = self.inner()?;
        Some(if self.escaped { unescape(inner) } else { Cow::Borrowed(inner) })
    }

    /// The text of a string, with a half of a surrogate pair at either end given apart.
    #[must_use]
    pub fn str_halves(&self) -> Option<Halves<'a>> {
        let inner = self.inner()?;
        Some(if self.escaped { halves(inner) } else { Halves::plain(inner) })
    }

    /// The text of a string without escapes, in which there are no halves either.
    #[inline]
    pub(crate) fn plain_str(&self) -> Option<&'a str> {
        if self.escaped { None } else { self.inner() }
    }

    /// As [`Value::str_halves`], with the text in `scratch`, whose room is reused; gives the halves
    /// at the ends, and nothing for a value that is no string.
    pub(crate) fn unescape_into(&self, scratch: &mut String) -> Option<(Option<u16>, Option<u16>)> {
        let inner = self.inner()?;
        scratch.clear();
        let ends = halves_into(inner, scratch);
        Some((ends.low, ends.high))
    }

    /// A whole number from 0 to 2^64 - 1, also one that is written as `3.0` or `3e2`, if that form
    /// is exact (at most 2^53).
    #[must_use]
    pub fn u64(&self) -> Option<u64> {
        let exact = || self.integral().filter(|n| *n >= 0.0).map(|n| n as u64);
        self.number()?.parse().ok().or_else(exact)
    }

    /// A whole number from -2^63 to 2^63 - 1, in the same forms as [`Value::u64`].
    #[must_use]
    pub fn i64(&self) -> Option<i64> {
        self.number()?.parse().ok().or_else(|| self.integral().map(|n| n as i64))
    }

    /// A number as the nearest 64-bit float; `None` if it is too large for one.
    #[must_use]
    pub fn f64(&self) -> Option<f64> {
        self.number()?.parse().ok().filter(|n: &f64| n.is_finite())
    }

    /// `true` or `false`.
    #[must_use]
    pub fn bool(&self) -> Option<bool> {
        (self.kind == Kind::Bool).then_some(self.raw == "true")
    }

    /// Whether it is `null`.
    #[must_use]
    pub fn is_null(&self) -> bool {
        self.kind == Kind::Null
    }

    /// The values of an array, in order; none if it is something else. Linear in the text over all.
    #[must_use]
    pub fn elements(&self) -> Elements<'a> {
        Elements(Items::new(if self.kind == Kind::Array { self.raw } else { "" }))
    }

    /// The names and values of an object, in order and with repeats; none if it is something else.
    /// Linear in the text over all.
    #[must_use]
    pub fn fields(&self) -> Fields<'a> {
        Fields(Items::new(if self.kind == Kind::Object { self.raw } else { "" }))
    }

    #[inline]
    fn inner(&self) -> Option<&'a str> {
        if self.kind == Kind::Str { self.raw.get(1..self.raw.len() - 1) } else { None }
    }

    fn number(&self) -> Option<&'a str> {
        (self.kind == Kind::Number).then_some(self.raw)
    }

    fn integral(&self) -> Option<f64> {
        const EXACT_MAX: f64 = 9_007_199_254_740_992.0;
        self.f64().filter(|n| (-EXACT_MAX..=EXACT_MAX).contains(n) && (*n as i64) as f64 == *n)
    }
}

/// The inside of checked brackets. An error cannot come up, and would end the walk.
#[derive(Clone, Debug)]
struct Items<'a>(Scanner<'a>);

impl<'a> Items<'a> {
    const fn new(raw: &'a str) -> Self {
        Self(Scanner { text: raw, at: 1 })
    }

    /// Goes to the next item; `None` at the closing bracket.
    fn advance(&mut self) -> Option<&mut Scanner<'a>> {
        let scan = &mut self.0;
        scan.blanks();
        if scan.eat(b',') {
            scan.blanks();
        }
        match scan.peek()? {
            b']' | b'}' => None,
            _ => Some(scan),
        }
    }
}

/// The values of an array.
#[derive(Clone, Debug)]
pub struct Elements<'a>(Items<'a>);

impl<'a> Iterator for Elements<'a> {
    type Item = Value<'a>;

    fn next(&mut self) -> Option<Value<'a>> {
        Value::scan(self.0.advance()?, 1).ok()
    }
}

/// The names and values of an object.
#[derive(Clone, Debug)]
pub struct Fields<'a>(Items<'a>);

impl<'a> Iterator for Fields<'a> {
    type Item = (Cow<'a, str>, Value<'a>);

    fn next(&mut self) -> Option<Self::Item> {
        let scan = self.0.advance()?;
        let key = Value::scan(scan, 1).ok()?.str()?;
        scan.blanks();
        scan.expect(b':').ok()?;
        scan.blanks();
        Some((key, Value::scan(scan, 1).ok()?))
    }
}
