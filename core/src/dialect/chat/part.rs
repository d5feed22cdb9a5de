//! Parts of tools to events.

use alloc::collections::BTreeMap;
use alloc::string::String;

use super::{dialog, names};
use crate::dialect::fields::{Fields, Slot, slots};
use crate::dialect::outcome::read_outcome;
use crate::dialect::said::{Rest, Said};
use crate::event::{Event, OutputStream, Str, ToolOutput, ToolResult, ToolStart};
use crate::limits::{KEPT_CALL_MAX_BYTES, OPEN_CALLS_MAX};
use crate::wire::json::{Kind, Value};

/// What one frame becomes, in order.
pub(super) type Pair<'a> = [Option<Event<'a>>; 2];

/// The calls that run, with what was seen of their output.
#[derive(Default)]
pub(super) struct Calls(BTreeMap<String, Said>);

impl Calls {
    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    /// Reads a part. One that runs is the start of its call, or more of its output; one that has
    /// ended is its result, after a start that was missed.
    pub(super) fn part<'a>(&mut self, part: Value<'a>, f: &mut Fields<'_>) -> Option<Pair<'a>> {
        let [of, id, name, state, input, output, error, result] = slots(
            part.raw(),
            &["type", "toolCallId", "toolName", "state", "input", "output", "errorText", "result"],
        )?;
        let of = f.need_text(of, "type")?;
        let state = f.text(state, "state").unwrap_or_default();
        let name = f.text(name, "toolName");
        if of == dialog::PART && name.is_none() {
            return Some([dialog::read(id, &state, input, output, f), None]);
        }
        let name = name.unwrap_or_else(|| Str::Owned(names::tool_name(&of)));
        let call_id = f.text(id, "toolCallId");
        let known = call_id.as_deref().is_some_and(|id| self.0.contains_key(id));
        let args = input.filter(|value| !value.is_null()).map(text_of);
        let has_args = args.is_some();
        let start = ToolStart { call_id: call_id.clone(), args, ..ToolStart::new(name.clone()) };
        let start = Event::from(start);

        let ok = state == "output-available";
        if ok || matches!(&*state, "output-error" | "output-denied") {
            if let Some(id) = call_id.as_deref() {
                self.0.remove(id);
            }
            let present = |slot: Slot<'a>| slot.filter(|value| !value.is_null());
            let value = present(output).or(present(error)).or(present(result));
            let end = read_outcome(f, part.raw(), name, ok, value);
            let missed = (!known && has_args).then_some(start);
            return Some([missed, Some(ToolResult { call_id, ..end }.into())]);
        }
        let output = match (call_id, result.filter(|value| !value.is_null())) {
            (Some(id), Some(result)) => self.grow(id, text_of(result)),
            (Some(id), None) => {
                self.know(&id);
                None
            }
            _ => None,
        };
        // An update of a call that runs is no second start.
        let start = (!known || result.is_none()).then_some(start);
        Some([start, output])
    }

    /// What of the output so far is new; all of it where it is another.
    fn grow<'a>(&mut self, id: Str<'a>, whole: Str<'a>) -> Option<Event<'a>> {
        let mut unkept = Said::default();
        let said = self.know(&id).unwrap_or(&mut unkept);
        let rest = match said.rest_of(&whole) {
            Rest::Same => return None,
            Rest::More(rest) => String::from(rest),
            Rest::Other => {
                *said = Said::default();
                String::from(&*whole)
            }
        };
        said.push(&rest);
        Some(ToolOutput::new(id, OutputStream::Stdout, rest).into())
    }

    /// What was seen of the output of a call, from now on remembered unless its id is too long.
    fn know(&mut self, id: &str) -> Option<&mut Said> {
        if id.len() > KEPT_CALL_MAX_BYTES {
            return None;
        }
        if self.0.len() >= OPEN_CALLS_MAX && !self.0.contains_key(id) {
            self.0.pop_first();
        }
        Some(self.0.entry(id.into()).or_default())
    }
}

/// A value as text: a string as it is, everything else as the JSON that it came in (X6).
fn text_of(value: Value<'_>) -> Str<'_> {
    match value.kind() {
        Kind::Str => value.str().unwrap_or_default(),
        _ => Str::Borrowed(value.raw()),
    }
}
