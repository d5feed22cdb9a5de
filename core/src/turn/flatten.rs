//! A tool's JSON output as text (`agent` 2, Flattening).

use alloc::borrow::Cow;
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;

use serde_json::value::RawValue;

use crate::error::Code;
use crate::limits::FLATTEN_DEPTH_MAX;

type Object<'j> = BTreeMap<Cow<'j, str>, &'j RawValue>;

/// The text of a JSON value.
///
/// `null` and blank strings are empty; numbers and booleans stand as they are written; of a list
/// the texts that are not empty are joined by line ends; of the envelope of an MCP tool (a
/// `content` list of typed parts) the texts of its text parts; of another object its `text`, else
/// its `message`, else the JSON itself without blanks between tokens, in the order it came.
///
/// Nested lists are read again on each level, so the work is linear in the text times their depth,
/// which is bounded by 128.
///
/// ```
/// use turnwire::turn::flatten;
/// let mcp = r#"{"content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}"#;
/// assert_eq!(flatten(mcp).as_deref(), Ok("a\nb"));
/// assert_eq!(flatten(r#"[1, null, {"b": 2, "a": 1}]"#).as_deref(), Ok("1\n{\"b\":2,\"a\":1}"));
/// ```
///
/// # Errors
///
/// [`Code::BadJson`] if it is not JSON, holds half a surrogate pair, or nests lists deeper than
/// 128: such an output is better taken as text.
pub fn flatten(json: &str) -> Result<Cow<'_, str>, Code> {
    let value: &RawValue = read(json)?;
    flatten_value(value, FLATTEN_DEPTH_MAX)
}

fn flatten_value(value: &RawValue, depth: usize) -> Result<Cow<'_, str>, Code> {
    let json = value.get();
    match json.as_bytes().first() {
        Some(b'"') => Ok(not_blank(string(value)?)),
        Some(b'[') => flatten_list(&read::<Vec<&RawValue>>(json)?, depth).map(Cow::Owned),
        Some(b'{') => flatten_object(json),
        Some(b'n') | None => Ok(Cow::Borrowed("")),
        Some(_) => Ok(Cow::Borrowed(json)),
    }
}

fn flatten_list(items: &[&RawValue], depth: usize) -> Result<String, Code> {
    let depth = depth.checked_sub(1).ok_or(Code::BadJson)?;
    let mut out = String::new();
    for item in items {
        let text = flatten_value(item, depth)?;
        if !text.is_empty() {
            join(&mut out, &text);
        }
    }
    Ok(out)
}

fn flatten_object(json: &str) -> Result<Cow<'_, str>, Code> {
    let object: Object<'_> = read(json)?;
    if let Some(texts) = object.get("content").and_then(|content| envelope(content)) {
        return Ok(texts);
    }
    for name in ["text", "message"] {
        if let Some(value) = object.get(name).filter(|value| is_string(value)) {
            return Ok(not_blank(string(value)?));
        }
    }
    Ok(Cow::Owned(compact(json)))
}

/// The texts of an MCP envelope's parts; `None` if this is not the content of one. Parts of other
/// types (images, resources) are no text.
fn envelope<'j>(content: &'j RawValue) -> Option<Cow<'j, str>> {
    let parts: Vec<Object<'j>> = read(content.get()).ok()?;
    let mut out = String::new();
    for part in &parts {
        let kind = string(part.get("type")?).ok()?;
        if kind == "text" {
            join(&mut out, &string(part.get("text")?).ok()?);
        }
    }
    Some(not_blank(Cow::Owned(out)))
}

fn join(out: &mut String, text: &str) {
    if !out.is_empty() {
        out.push('\n');
    }
    out.push_str(text);
}

fn not_blank(text: Cow<'_, str>) -> Cow<'_, str> {
    if text.trim().is_empty() { Cow::Borrowed("") } else { text }
}

fn is_string(value: &RawValue) -> bool {
    value.get().starts_with('"')
}

fn string(value: &RawValue) -> Result<Cow<'_, str>, Code> {
    read::<String>(value.get()).map(Cow::Owned)
}

fn read<'j, T: serde::Deserialize<'j>>(json: &'j str) -> Result<T, Code> {
    serde_json::from_str(json).map_err(|_| Code::BadJson)
}

/// Valid JSON text without the blanks between its tokens.
fn compact(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    let (mut in_string, mut escaped) = (false, false);
    for c in json.chars() {
        if in_string {
            (in_string, escaped) = match c {
                '\\' => (true, !escaped),
                '"' => (escaped, false),
                _ => (true, false),
            };
        } else if c.is_ascii_whitespace() {
            continue;
        } else {
            in_string = c == '"';
        }
        out.push(c);
    }
    out
}
