//! What the steps of a turn cost, each in a `usage` event of its own, as one object (`run` 3).

use alloc::string::{String, ToString};
use alloc::vec::Vec;

use crate::event::RawJson;
use crate::limits::USAGE_NAMES_MAX;
use crate::wire::json::{ObjectWriter, RawJson as Checked, Value};

/// The sum: whole numbers are added up, of the rest the last stays.
#[derive(Default)]
pub(super) struct Usage(Vec<(String, String)>);

impl Usage {
    /// Adds the fields of one event, without those that name the event and its step.
    pub(super) fn add(&mut self, object: Value<'_>) {
        for (name, value) in object.fields() {
            let full = self.0.len() >= USAGE_NAMES_MAX;
            if matches!(&*name, "type" | "step") {
                continue;
            }
            match self.0.iter_mut().find(|(known, _)| *known == name) {
                Some((_, sum)) => {
                    let number = |text: &str| Value::parse(text).ok().and_then(|v| v.u64());
                    let added = number(sum).zip(value.u64());
                    let added = added.and_then(|(sum, more)| sum.checked_add(more));
                    *sum = added.map_or_else(|| value.raw().into(), |sum| sum.to_string());
                }
                None if !full => {
                    self.0.push((name.into_owned(), value.raw().into()));
                }
                None => {}
            }
        }
    }

    /// The sum as one object, and nothing is left; `None` if no event came.
    pub(super) fn take(&mut self) -> Option<RawJson<'static>> {
        let fields = core::mem::take(&mut self.0);
        if fields.is_empty() {
            return None;
        }
        let mut out = Vec::new();
        let mut object = ObjectWriter::begin(&mut out);
        for (name, text) in &fields {
            if let Ok(value) = Checked::check(text) {
                object.raw(name, &value);
            }
        }
        object.end();
        String::from_utf8(out).ok().map(RawJson::from)
    }
}
