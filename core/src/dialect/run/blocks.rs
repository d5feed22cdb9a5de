//! Messages as lists of content blocks (`run` 3, *message*).

use alloc::borrow::Cow;
use alloc::vec::Vec;

use crate::dialect::fields::{Fields, Slot, slots};
use crate::event::{Role, Str, ToolUse};
use crate::text::is_blank;
use crate::wire::json::{Kind, ObjectWriter, RawJson};

/// Writes the fields of a message. Whether all of its calls were said as they are.
pub(super) fn write_message(
    object: &mut ObjectWriter<'_>,
    role: Role,
    text: &str,
    calls: &[ToolUse<'_>],
) -> bool {
    let mut whole = true;
    object.str("role", role.as_str());
    let mut blocks = object.array("content");
    if !text.is_empty() {
        blocks.object().str("type", "text").str("text", text);
    }
    for call in calls {
        let mut block = blocks.object();
        block.str("type", "tool_use").str("id", &call.call_id).str("name", &call.name);
        // Blank arguments mean an empty object.
        let args = call.args.as_deref().filter(|args| !is_blank(args)).unwrap_or("{}");
        match RawJson::check(args) {
            Ok(input) => block.raw("input", &input),
            Err(_) => {
                whole = false;
                block.str("input", args)
            }
        };
    }
    whole
}

/// Reads content: its text blocks joined, its calls with their input byte for byte (X6). Content
/// may be plain text; other blocks are ignored (A16).
pub(super) fn read_content<'a>(
    content: Slot<'a>,
    f: &mut Fields<'_>,
) -> (Str<'a>, Vec<ToolUse<'a>>) {
    if let Some(text) = content.and_then(|value| value.str()) {
        return (text, Vec::new());
    }
    let mut text = Cow::Borrowed("");
    let mut calls = Vec::new();
    for block in f.elements(content, "content") {
        if block.kind() != Kind::Object {
            f.wrong("content");
            continue;
        }
        let names = ["type", "text", "id", "name", "input"];
        let Some([kind, said, id, name, input]) = slots(block.raw(), &names) else { continue };
        match f.need_text(kind, "type").as_deref() {
            Some("text") => match f.need_text(said, "text") {
                Some(said) if text.is_empty() => text = said,
                Some(said) => text.to_mut().push_str(&said),
                None => {}
            },
            Some("tool_use") => {
                let (id, name) = (f.need_text(id, "id"), f.need_text(name, "name"));
                if let (Some(id), Some(name)) = (id, name) {
                    let args = input.filter(|input| !input.is_null());
                    let args = args.map(|input| Cow::Borrowed(input.raw()));
                    calls.push(ToolUse { args, ..ToolUse::new(id, name) });
                }
            }
            _ => {}
        }
    }
    (text, calls)
}
