//! What a late painter starts with, and what a painter does with ops, in terms of JSON.

use alloc::string::String;
use alloc::vec::Vec;

use serde_json::{Map, Value, json};

use super::fold::Fold;
use super::op::Rows;

impl Fold {
    /// Counts the drains that gave ops; the `revision` of [`view`](Self::view).
    #[must_use]
    pub const fn revision(&self) -> u64 {
        self.live.revision
    }

    /// All that is painted: `{revision, rows, lifecycle, state, earlier}`. A card's encoded body
    /// is its row's `text` only for a bridge.
    #[must_use]
    pub fn view(&self) -> Value {
        json!({
            "revision": self.live.revision,
            "rows": Rows { ring: &self.ring, bridge: self.live.bridge },
            "lifecycle": self.live.lifecycle.as_str(),
            "state": self.live.state,
            "earlier": self.live.earlier,
        })
    }
}

/// The view after the ops of one drain. Pure: this is what a painter would write itself.
///
/// Applied to all ops of a fold, from [`empty_view`] on, it gives [`Fold::view`]. Ops that
/// concern no painter, and what is not understood, change nothing.
///
/// ```
/// use turnwire::event::{Envelope, Rules, TextDelta};
/// use turnwire::host::{Fold, FoldOptions, apply_ops, empty_view};
/// let mut fold = Fold::new(FoldOptions::new(Rules::CANONICAL)).expect("good options");
/// fold.apply(&Envelope::new(TextDelta::new("Hi")), 0);
/// let mut ops = Vec::new();
/// fold.drain(&mut |op| ops.push(serde_json::to_value(op).expect("plain data")));
/// assert_eq!(apply_ops(empty_view(), &ops), fold.view());
/// ```
#[must_use]
pub fn apply_ops(view: Value, ops: &[Value]) -> Value {
    let mut view = view;
    let Some(map) = view.as_object_mut() else { return view };
    for op in ops {
        apply_op(map, op);
    }
    // Ops of the connections alone are no change of what is painted.
    let wired = |op: &Value| {
        matches!(op.get("op").and_then(Value::as_str), Some("request" | "abort" | "closed"))
    };
    if !ops.iter().all(wired) {
        let revision = map.get("revision").and_then(Value::as_u64).unwrap_or(0);
        map.insert("revision".into(), json!(revision + 1));
    }
    view
}

/// The view of a host of which nothing is known yet.
#[must_use]
pub fn empty_view() -> Value {
    json!({"revision": 0, "rows": [], "lifecycle": "boot", "state": {}, "earlier": 0})
}

fn apply_op(view: &mut Map<String, Value>, op: &Value) {
    let Some(name) = op.get("op").and_then(Value::as_str) else { return };
    match name {
        "push" => {
            if let (Some(rows), Some(row)) = (rows(view), op.get("row")) {
                rows.push(row.clone());
            }
        }
        "grow" | "update" | "patch" => {
            if let Some(row) = op.get("row_id").and_then(|id| row(view, id)) {
                change_row(row, name, op);
            }
        }
        "drop" => drop_rows(view, op),
        "window" => {
            for key in ["rows", "earlier"] {
                if let Some(value) = op.get(key) {
                    view.insert(key.into(), value.clone());
                }
            }
        }
        "lifecycle" => {
            if let Some(lifecycle) = op.get("lifecycle") {
                view.insert("lifecycle".into(), lifecycle.clone());
            }
        }
        "state" => {
            let state = view.get_mut("state").and_then(Value::as_object_mut);
            if let (Some(state), Some(key)) = (state, op.get("key").and_then(Value::as_str)) {
                set(state, key, op.get("value").unwrap_or(&Value::Null));
            }
        }
        _ => {}
    }
}

fn rows(view: &mut Map<String, Value>) -> Option<&mut Vec<Value>> {
    view.get_mut("rows")?.as_array_mut()
}

/// The row with this id; the newest are looked at first.
fn row<'a>(view: &'a mut Map<String, Value>, id: &Value) -> Option<&'a mut Map<String, Value>> {
    let row = rows(view)?.iter_mut().rev().find(|row| row.get("id") == Some(id))?;
    row.as_object_mut()
}

fn drop_rows(view: &mut Map<String, Value>, op: &Value) {
    let Some(ids) = op.get("row_ids").and_then(Value::as_array) else { return };
    if let Some(rows) = rows(view) {
        rows.retain(|row| row.get("id").is_none_or(|id| !ids.contains(id)));
    }
    let earlier = view.get("earlier").and_then(Value::as_u64).unwrap_or(0);
    view.insert("earlier".into(), json!(earlier + ids.len() as u64));
}

fn change_row(row: &mut Map<String, Value>, name: &str, op: &Value) {
    match (name, op.get("item_id"), op.get("text")) {
        ("grow", Some(item), Some(text)) => {
            let items = row.get_mut("card").and_then(|card| card.get_mut("items"));
            let items = items.and_then(Value::as_array_mut);
            let item = items.and_then(|items| items.iter_mut().find(|i| i.get("id") == Some(item)));
            append(item.and_then(|item| item.get_mut("detail")), text);
        }
        ("grow", None, Some(text)) => append(row.get_mut("text"), text),
        ("update", _, text) => {
            if let Some(text) = text {
                row.insert("text".into(), text.clone());
            }
            if let Some(change) = op.get("card") {
                change_card(row, change);
            }
        }
        ("patch", ..) => {
            if let Some(fields) = op.get("set").and_then(Value::as_object) {
                for (key, value) in fields {
                    set(row, key, value);
                }
            }
        }
        _ => {}
    }
}

fn append(target: Option<&mut Value>, text: &Value) {
    if let (Some(Value::String(target)), Some(text)) = (target, text.as_str()) {
        target.push_str(text);
    }
}

/// Counts anew, and each changed item in its place or, if it is new, at the end.
fn change_card(row: &mut Map<String, Value>, change: &Value) {
    let Some(card) = row.get_mut("card").and_then(Value::as_object_mut) else { return };
    for key in ["ok", "fail", "pending"] {
        if let Some(count) = change.get(key) {
            card.insert(key.into(), count.clone());
        }
    }
    let Some(items) = card.get_mut("items").and_then(Value::as_array_mut) else { return };
    for item in change.get("changed").and_then(Value::as_array).into_iter().flatten() {
        match items.iter_mut().find(|old| old.get("id") == item.get("id")) {
            Some(old) => *old = item.clone(),
            None => items.push(item.clone()),
        }
    }
}

/// Sets a key; `null` removes it.
fn set(map: &mut Map<String, Value>, key: &str, value: &Value) {
    if value.is_null() {
        map.remove(key);
    } else {
        map.insert(key.into(), value.clone());
    }
}
