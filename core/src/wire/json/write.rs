//! Objects and arrays, written straight into the caller's buffer.

use alloc::vec::Vec;
use core::fmt::Write;

use super::RawJson;
use super::escape::{escaped_len, write_escaped};
use super::words::may_escape;

/// Writes one object; its end writes the closing bracket.
///
/// Whatever the keys and values hold, the output is one JSON value on one line. The field methods
/// can be chained.
///
/// ```
/// use turnwire::wire::json::ObjectWriter;
/// let mut out = Vec::new();
/// let mut object = ObjectWriter::begin(&mut out);
/// object.str("type", "done").u64("steps", 2).f64("ratio", 0.5).null("usage");
/// object.array("ids").str("a").i64(-1).object().bool("ok", true);
/// drop(object);
/// let text = r#"{"type":"done","steps":2,"ratio":0.5,"usage":null,"ids":["a",-1,{"ok":true}]}"#;
/// assert_eq!(out, text.as_bytes());
/// ```
#[derive(Debug)]
pub struct ObjectWriter<'o> {
    out: &'o mut Vec<u8>,
    first: bool,
}

/// Writes one array; its end writes the closing bracket. See [`ObjectWriter`].
#[derive(Debug)]
pub struct ArrayWriter<'o> {
    out: &'o mut Vec<u8>,
    first: bool,
}

impl<'o> ObjectWriter<'o> {
    /// Begins an object at the end of `out`.
    #[inline]
    pub fn begin(out: &'o mut Vec<u8>) -> Self {
        out.push(b'{');
        Self { out, first: true }
    }

    /// Goes on with an object whose bracket and first field stand at the end of `out`.
    #[inline]
    pub(in crate::wire) const fn resume(out: &'o mut Vec<u8>) -> Self {
        Self { out, first: false }
    }

    /// A string.
    #[inline(always)]
    pub fn str(&mut self, key: &str, value: &str) -> &mut Self {
        self.key(key);
        write_str(value, self.out);
        self
    }

    /// A string, if there is one.
    pub fn opt_str(&mut self, key: &str, value: Option<&str>) -> &mut Self {
        if let Some(value) = value {
            self.str(key, value);
        }
        self
    }

    /// A whole number.
    pub fn u64(&mut self, key: &str, value: u64) -> &mut Self {
        self.key(key);
        write_u64(value, self.out);
        self
    }

    /// A whole number, if there is one.
    pub fn opt_u64(&mut self, key: &str, value: Option<u64>) -> &mut Self {
        if let Some(value) = value {
            self.u64(key, value);
        }
        self
    }

    /// A whole number with a sign.
    pub fn i64(&mut self, key: &str, value: i64) -> &mut Self {
        self.key(key);
        write_i64(value, self.out);
        self
    }

    /// A number; `null` if it is not finite, for which JSON has no number.
    pub fn f64(&mut self, key: &str, value: f64) -> &mut Self {
        self.key(key);
        write_f64(value, self.out);
        self
    }

    /// `true` or `false`.
    pub fn bool(&mut self, key: &str, value: bool) -> &mut Self {
        self.key(key);
        self.out.extend_from_slice(if value { b"true" } else { b"false" });
        self
    }

    /// `null`.
    pub fn null(&mut self, key: &str) -> &mut Self {
        self.key(key);
        self.out.extend_from_slice(b"null");
        self
    }

    /// A value that is JSON text already.
    pub fn raw(&mut self, key: &str, value: &RawJson<'_>) -> &mut Self {
        self.key(key);
        self.out.extend_from_slice(value.as_str().as_bytes());
        self
    }

    /// Fields that were written before.
    #[inline]
    pub(crate) fn fields(&mut self, fields: &FieldsJson) -> &mut Self {
        if !fields.0.is_empty() {
            self.comma();
            self.out.extend_from_slice(&fields.0);
        }
        self
    }

    /// An object that begins with a text, as
    /// [`FrameWriter::text_object`](crate::wire::FrameWriter); `head` goes from its own key to the
    /// colon of the text.
    #[inline(always)]
    pub(crate) fn text_object(&mut self, head: &'static str, text: &str) -> ObjectWriter<'_> {
        self.comma();
        self.out.extend_from_slice(head.as_bytes());
        write_str(text, self.out);
        ObjectWriter::resume(self.out)
    }

    #[inline(always)]
    fn comma(&mut self) {
        if !core::mem::take(&mut self.first) {
            self.out.push(b',');
        }
    }

    /// An object, which is complete when its writer ends.
    pub fn object(&mut self, key: &str) -> ObjectWriter<'_> {
        self.key(key);
        ObjectWriter::begin(self.out)
    }

    /// An array, which is complete when its writer ends.
    pub fn array(&mut self, key: &str) -> ArrayWriter<'_> {
        self.key(key);
        ArrayWriter::begin(self.out)
    }

    /// Ends the object, as dropping it does.
    pub fn end(self) {}

    #[inline(always)]
    fn key(&mut self, key: &str) {
        self.out.extend_from_slice(if self.first { b"\"" } else { b",\"" });
        self.first = false;
        // Nearly always a literal, for which the compiler has the answer.
        if key.bytes().any(may_escape) {
            write_escaped(key, self.out);
        } else {
            self.out.extend_from_slice(key.as_bytes());
        }
        self.out.extend_from_slice(b"\":");
    }
}

impl Drop for ObjectWriter<'_> {
    #[inline]
    fn drop(&mut self) {
        self.out.push(b'}');
    }
}

impl<'o> ArrayWriter<'o> {
    /// Begins an array at the end of `out`.
    pub fn begin(out: &'o mut Vec<u8>) -> Self {
        out.push(b'[');
        Self { out, first: true }
    }

    /// A string.
    pub fn str(&mut self, value: &str) -> &mut Self {
        self.comma();
        write_str(value, self.out);
        self
    }

    /// A whole number.
    pub fn u64(&mut self, value: u64) -> &mut Self {
        self.comma();
        write_u64(value, self.out);
        self
    }

    /// A whole number with a sign.
    pub fn i64(&mut self, value: i64) -> &mut Self {
        self.comma();
        write_i64(value, self.out);
        self
    }

    /// A number; `null` if it is not finite, for which JSON has no number.
    pub fn f64(&mut self, value: f64) -> &mut Self {
        self.comma();
        write_f64(value, self.out);
        self
    }

    /// `true` or `false`.
    pub fn bool(&mut self, value: bool) -> &mut Self {
        self.comma();
        self.out.extend_from_slice(if value { b"true" } else { b"false" });
        self
    }

    /// `null`.
    pub fn null(&mut self) -> &mut Self {
        self.comma();
        self.out.extend_from_slice(b"null");
        self
    }

    /// A value that is JSON text already.
    pub fn raw(&mut self, value: &RawJson<'_>) -> &mut Self {
        self.comma();
        self.out.extend_from_slice(value.as_str().as_bytes());
        self
    }

    /// An object, which is complete when its writer ends.
    pub fn object(&mut self) -> ObjectWriter<'_> {
        self.comma();
        ObjectWriter::begin(self.out)
    }

    /// An array, which is complete when its writer ends.
    pub fn array(&mut self) -> ArrayWriter<'_> {
        self.comma();
        ArrayWriter::begin(self.out)
    }

    /// Ends the array, as dropping it does.
    pub fn end(self) {}

    fn comma(&mut self) {
        if !core::mem::take(&mut self.first) {
            self.out.push(b',');
        }
    }
}

impl Drop for ArrayWriter<'_> {
    fn drop(&mut self) {
        self.out.push(b']');
    }
}

/// Fields of an object as they are written, for objects that repeat them by the thousand.
#[derive(Clone, Debug, Default)]
pub(crate) struct FieldsJson(Vec<u8>);

impl FieldsJson {
    /// The fields that `fill` writes.
    pub(crate) fn new(fill: impl FnOnce(&mut ObjectWriter<'_>)) -> Self {
        let mut out = Vec::new();
        fill(&mut ObjectWriter::begin(&mut out));
        let inside = out.get(1..out.len() - 1).unwrap_or_default();
        Self(inside.into())
    }
}

/// Texts from this length on are measured before they are written.
const MEASURED_BYTES: usize = 64 << 10;

/// Appends `value` as a JSON string.
#[inline]
pub(in crate::wire) fn write_str(value: &str, out: &mut Vec<u8>) {
    // A long text is measured first, so that room for its escapes does not double the buffer.
    let len = if value.len() < MEASURED_BYTES { value.len() } else { escaped_len(value) + 8 };
    out.reserve(len + 2);
    out.push(b'"');
    write_escaped(value, out);
    out.push(b'"');
}

/// Appends `value` in decimal.
pub(in crate::wire) fn write_u64(value: u64, out: &mut Vec<u8>) {
    const EIGHT_DIGITS: u64 = 100_000_000;
    // At most twice: 64 bits have twenty digits.
    if value >= EIGHT_DIGITS {
        write_u64(value / EIGHT_DIGITS, out);
        out.extend_from_slice(&eight_digits((value % EIGHT_DIGITS) as u32));
        return;
    }
    let digits = eight_digits(value as u32);
    let differ = u64::from_le_bytes(digits) ^ u64::from_le_bytes([b'0'; 8]);
    let zeros = (differ.trailing_zeros() / 8).min(7) as usize;
    out.extend_from_slice(&digits[zeros..]);
}

/// The digits of a number below 10^8. The halves are divided side by side: digit by digit, each
/// division would wait for the one before.
#[inline]
fn eight_digits(value: u32) -> [u8; 8] {
    let mut digits = [0; 8];
    let halves = [value / 10_000, value % 10_000];
    for (four, half) in digits.chunks_exact_mut(4).zip(halves) {
        let pairs = [half / 100, half % 100];
        for (two, pair) in four.chunks_exact_mut(2).zip(pairs) {
            two.copy_from_slice(&[b'0' + (pair / 10) as u8, b'0' + (pair % 10) as u8]);
        }
    }
    digits
}

fn write_i64(value: i64, out: &mut Vec<u8>) {
    if value < 0 {
        out.push(b'-');
    }
    write_u64(value.unsigned_abs(), out);
}

fn write_f64(value: f64, out: &mut Vec<u8>) {
    if !value.is_finite() {
        return out.extend_from_slice(b"null");
    }
    let size = value.abs();
    let plain = size == 0.0 || (1e-6..1e21).contains(&size);
    // Writing to a vector does not fail.
    let _ = if plain { write!(Text(out), "{value}") } else { write!(Text(out), "{value:e}") };
}

struct Text<'o>(&'o mut Vec<u8>);

impl Write for Text<'_> {
    fn write_str(&mut self, text: &str) -> core::fmt::Result {
        self.0.extend_from_slice(text.as_bytes());
        Ok(())
    }
}
