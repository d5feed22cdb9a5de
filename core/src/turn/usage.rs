//! What the model calls of a turn cost together.

use alloc::string::String;
use serde_json::map::Entry;
use serde_json::{Map, Number, Value};

use crate::error::{CallerError, Code};
use crate::limits::{USAGE_FIELDS_MAX, USAGE_MAX_BYTES};

/// The sum of the usage objects of a turn's steps.
///
/// Whole numbers stay whole while they fit 64 bits. What is no number is taken from the last step
/// that has it. Names past the first [`USAGE_FIELDS_MAX`] are not summed.
#[derive(Clone, Debug, Default)]
pub(super) struct Usage(Map<String, Value>);

impl Usage {
    /// Adds the top-level fields of `json`, which must be a JSON object.
    pub fn add(&mut self, json: &str) -> Result<(), CallerError> {
        if json.len() > USAGE_MAX_BYTES {
            return Err(CallerError::new(Code::EventTooLarge).with("usage"));
        }
        let step: Map<String, Value> = serde_json::from_str(json)
            .map_err(|_| CallerError::new(Code::BadJson).with("usage"))?;
        for (name, value) in step {
            let full = self.0.len() >= USAGE_FIELDS_MAX;
            match self.0.entry(name) {
                Entry::Vacant(_) if full => {}
                Entry::Vacant(slot) => {
                    slot.insert(value);
                }
                Entry::Occupied(mut slot) => {
                    let sum = match (slot.get(), &value) {
                        (Value::Number(a), Value::Number(b)) => sum(a, b),
                        _ => None,
                    };
                    slot.insert(sum.map_or(value, Value::Number));
                }
            }
        }
        Ok(())
    }

    /// The sum as JSON text; `None` if no step said anything.
    pub fn json(&self) -> Option<String> {
        if self.0.is_empty() {
            return None;
        }
        serde_json::to_string(&self.0).ok()
    }
}

fn sum(a: &Number, b: &Number) -> Option<Number> {
    if let Some(sum) = a.as_u64().zip(b.as_u64()).and_then(|(a, b)| a.checked_add(b)) {
        return Some(sum.into());
    }
    if let Some(sum) = a.as_i64().zip(b.as_i64()).and_then(|(a, b)| a.checked_add(b)) {
        return Some(sum.into());
    }
    Number::from_f64(a.as_f64()? + b.as_f64()?)
}
