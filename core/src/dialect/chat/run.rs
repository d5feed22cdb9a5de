//! What `chat`'s encoder keeps of a run: its ids, its phase, and the final message as it grows.

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::event::TurnStarted;
use crate::limits::{DONE_PARTS_MAX_BYTES, DONE_TEXT_MAX_ESCAPED_BYTES, OPEN_CALLS_MAX};
use crate::text::is_blank;
use crate::wire::json::{ArrayWriter, ObjectWriter, RawJson, escaped_len, read_object};

/// The feature that a reader must know to get `reasoning` frames (`chat` 1).
pub(super) const REASONING: &str = "reasoning-summary-v1";

/// The ids of a run and how far its presentation has come.
#[derive(Default)]
pub(super) struct Run {
    pub(super) run_id: Option<String>,
    pub(super) session_id: Option<String>,
    /// The id of the assistant's message: `<runId>-a1`, since a turn is one message here; without
    /// a run the one that the turn began with.
    pub(super) message_id: Option<String>,
    pub(super) started_ms: Option<u64>,
    /// The phase that the last `reasoning` frame named.
    pub(super) phase: Option<&'static str>,
    /// Whether reasoning is presented at all.
    pub(super) presents: bool,
}

impl Run {
    pub(super) fn new(start: &TurnStarted<'_>, ts_ms: Option<u64>) -> Self {
        let own = |id: &Option<crate::event::Str<'_>>| id.as_deref().map(String::from);
        let run_id = own(&start.run_id).or_else(|| own(&start.turn_id));
        let made = run_id.as_ref().map(|run| format!("{run}-a1"));
        Self {
            message_id: made.or_else(|| own(&start.message_id)),
            run_id,
            session_id: own(&start.session_id),
            started_ms: ts_ms,
            phase: None,
            presents: start.capabilities.as_ref().is_none_or(|it| has_reasoning(it.text())),
        }
    }

    /// The id of the run, as frames name it.
    pub(super) fn id(&self) -> &str {
        self.run_id.as_deref().unwrap_or("pending")
    }
}

/// Whether capabilities name the feature; none that cannot be read do (`chat` 1).
fn has_reasoning(capabilities: &str) -> bool {
    let Ok([Some(features)]) = read_object(capabilities, &["features"]) else { return false };
    features.elements().any(|feature| feature.str().as_deref() == Some(REASONING))
}

/// The final message: all text, then the parts of the tools (`chat` 2, `done.message`).
#[derive(Default)]
pub(super) struct Gathered {
    text: String,
    /// Where the text begins that no message covers.
    step_at: usize,
    escaped: usize,
    /// Settled parts as JSON.
    parts: Vec<String>,
    parts_bytes: usize,
    /// Something was too much: the final message is left empty.
    over: bool,
    /// The arguments of calls that run, which their parts repeat (`chat` 2, *Part merge*).
    inputs: BTreeMap<String, String>,
    inputs_bytes: usize,
}

impl Gathered {
    pub(super) fn push(&mut self, text: &str) {
        self.escaped = self.escaped.saturating_add(escaped_len(text));
        self.over |= self.escaped > DONE_TEXT_MAX_ESCAPED_BYTES;
        if !self.over {
            self.text.push_str(text);
        }
    }

    /// Takes authoritative text for what was gathered since the last. Gives what of it was not
    /// said yet, where it goes on from that. Linear in both.
    pub(super) fn cover<'t>(&mut self, message: &'t str) -> Option<&'t str> {
        if self.over {
            return None;
        }
        let said = self.text.get(self.step_at..).unwrap_or_default();
        let rest = match message.strip_prefix(said) {
            Some(rest) => Some(rest).filter(|rest| !rest.is_empty()),
            None if is_blank(said) => Some(message),
            None => None,
        };
        if !is_blank(message) {
            self.escaped = self.escaped.saturating_sub(escaped_len(said));
            self.text.truncate(self.step_at);
            self.push(message);
        }
        self.step_at = self.text.len();
        rest
    }

    /// Keeps the arguments of a call.
    pub(super) fn keep_input(&mut self, call_id: &str, args: &str) {
        let bytes = self.inputs_bytes.saturating_add(args.len());
        if self.inputs.len() >= OPEN_CALLS_MAX || bytes > DONE_PARTS_MAX_BYTES {
            return;
        }
        // The first input of a call is kept.
        if !self.inputs.contains_key(call_id) {
            self.inputs.insert(call_id.into(), args.into());
            self.inputs_bytes = bytes;
        }
    }

    pub(super) fn input(&self, call_id: &str) -> Option<&str> {
        self.inputs.get(call_id).map(String::as_str)
    }

    /// Keeps the settled part of a call, as JSON.
    pub(super) fn settle(&mut self, call_id: Option<&str>, part: String) {
        if let Some(args) = call_id.and_then(|id| self.inputs.remove(id)) {
            self.inputs_bytes = self.inputs_bytes.saturating_sub(args.len());
        }
        self.parts_bytes = self.parts_bytes.saturating_add(part.len());
        self.over |= self.parts_bytes > DONE_PARTS_MAX_BYTES;
        if !self.over {
            self.parts.push(part);
        }
    }

    /// All text, where it was not too much.
    pub(super) fn text(&self) -> Option<&str> {
        Some(self.text.as_str()).filter(|text| !self.over && !is_blank(text))
    }

    /// Writes the parts of the final message; none where something was too much, since readers of
    /// an empty message keep what they have.
    pub(super) fn write_parts(&self, text: Option<&str>, parts: &mut ArrayWriter<'_>) {
        if self.over {
            return;
        }
        if let Some(text) = text {
            parts.object().str("type", "text").str("text", text);
        }
        for part in self.parts.iter().filter_map(|part| RawJson::check(part).ok()) {
            parts.raw(&part);
        }
    }
}

/// Writes arguments as a value: JSON as it is, and what is none, or a mere string, as a string.
pub(super) fn write_input(part: &mut ObjectWriter<'_>, args: &str) {
    match RawJson::check(args) {
        Ok(raw) if !raw.as_str().trim_start().starts_with('"') => _ = part.raw("input", &raw),
        _ => _ = part.str("input", args),
    }
}
