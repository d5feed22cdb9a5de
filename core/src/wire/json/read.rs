//! The outermost object of a text, into slots.

use super::scan::Scanner;
use super::unescape::unescape;
use super::value::Value;
use super::{JsonError, JsonErrorKind};

/// Reads the fields in `names` of the object that `src` is, in one pass.
///
/// The slots are in the order of `names`, `None` for a field that is not there. Fields come in any
/// order; of several with one name the last counts; names may be written with escapes. All others
/// are skipped, but checked. Reading is quickest if `names` is in the order of the usual text.
///
/// # Errors
/// `Syntax` if `src` is not one JSON value (RFC 8259), `TooDeep` if it is nested too deep,
/// `NotAnObject` if it is good JSON and something else than an object.
pub fn read_object<'a, const N: usize>(
    src: &'a str,
    names: &[&str; N],
) -> Result<[Option<Value<'a>>; N], JsonError> {
    let mut slots = [None; N];
    let mut scan = Scanner::new(src);
    scan.blanks();
    if scan.peek() != Some(b'{') {
        validate(src)?;
        return Err(JsonError { kind: JsonErrorKind::NotAnObject, at: scan.at });
    }
    scan.at += 1;
    scan.blanks();
    if scan.eat(b'}') {
        scan.end()?;
        return Ok(slots);
    }
    let mut likely = 0;
    loop {
        let start = scan.at + 1;
        let escaped = scan.string()?;
        let key = &src[start..scan.at - 1];
        let slot = if escaped { slot(&unescape(key), names, 0) } else { slot(key, names, likely) };
        scan.blanks();
        scan.expect(b':')?;
        scan.blanks();
        let value = Value::scan(&mut scan, 1)?;
        if let Some(slot) = slot {
            slots[slot] = Some(value);
            likely = slot + 1;
        }
        scan.blanks();
        if !scan.eat(b',') {
            scan.expect(b'}')?;
            scan.end()?;
            return Ok(slots);
        }
        scan.blanks();
    }
}

/// The index of `key`, looked for at `likely` first: in the usual text the names are in order.
#[inline]
fn slot<const N: usize>(key: &str, names: &[&str; N], likely: usize) -> Option<usize> {
    match names.get(likely) {
        Some(name) if **name == *key => Some(likely),
        _ => names.iter().position(|name| **name == *key),
    }
}

/// Whether `src` is one JSON value (RFC 8259) with nothing but blanks around it.
///
/// # Errors
/// `Syntax` or `TooDeep`, with the place.
pub fn validate(src: &str) -> Result<(), JsonError> {
    let mut scan = Scanner::new(src);
    scan.blanks();
    scan.value(0)?;
    scan.end()
}
