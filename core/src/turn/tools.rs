//! The emitter's verbs of tools: a call is written, runs, and comes to something.

use alloc::borrow::Cow;
use alloc::string::String;

use super::emitter::{Emitter, Sink, named};
use super::fit::{clip_output, fits, pieces, short};
use super::flatten::flatten;
use super::judge::{changed_dir, judge};
use super::order::{Irregular, Thing};
use super::outcome::{Output, ToolOutcome};
use super::preview::preview;
use super::summary::summary;
use crate::error::{CallerError, Code};
use crate::event::{
    Event, OutputStream, ToolArgs, ToolArgsDelta, ToolCall, ToolOutput, ToolResult, ToolStart,
    TraceEntry,
};
use crate::limits::{
    DELTA_MAX_ESCAPED_BYTES, NAME_MAX_BYTES, PREVIEW_MAX_CHARS, SUMMARY_MAX_CHARS,
};
use crate::text::{clip_chars, is_blank, relative_path};

/// The name of a tool that has none (`agent` 2).
const NAMELESS: &str = "tool";

impl Emitter {
    /// The model begins to write a call.
    ///
    /// # Errors
    ///
    /// [`Code::BadField`] for an empty id, [`Code::DuplicateId`] for one that is open,
    /// [`Code::TooManyOpen`].
    pub fn tool_call(
        &mut self,
        call_id: &str,
        name: &str,
        sink: &mut Sink<'_>,
    ) -> Result<(), CallerError> {
        self.tool_call_of(call_id, name, None, sink)
    }

    pub(super) fn tool_call_of(
        &mut self,
        call_id: &str,
        name: &str,
        step: Option<u64>,
        sink: &mut Sink<'_>,
    ) -> Result<(), CallerError> {
        if self.is_late() {
            return Ok(());
        }
        named(call_id, "call_id")?;
        short(name, "name")?;
        let mut call = ToolCall::new(call_id, name_or(name, NAMELESS));
        let step = step.unwrap_or_default().max(self.step).max(1);
        call.step = Some(step);
        let event = Event::ToolCall(call);
        self.check(&event, call_id)?;
        self.begin_step(sink);
        self.advance(Some(step), sink);
        self.cover(sink);
        self.give(event, sink);
        Ok(())
    }

    /// A piece of a call's arguments, as JSON text. An empty one is dropped; one that comes after
    /// the arguments are complete, or the call is settled, is noted and dropped.
    ///
    /// # Errors
    ///
    /// [`Code::UnknownId`].
    pub fn tool_args_delta(
        &mut self,
        call_id: &str,
        delta: &str,
        sink: &mut Sink<'_>,
    ) -> Result<(), CallerError> {
        if self.is_late() {
            return Ok(());
        }
        let event = Event::ToolArgsDelta(ToolArgsDelta::new(call_id, delta));
        if self.check_args(&event, call_id)? {
            for piece in pieces(delta, DELTA_MAX_ESCAPED_BYTES) {
                self.give(ToolArgsDelta::new(call_id, piece).into(), sink);
            }
        }
        Ok(())
    }

    /// A call's arguments are complete: JSON text, given on byte for byte (X6), valid or not, since
    /// the model wrote it. Blank text means `{}`. A second time is noted and dropped.
    ///
    /// # Errors
    ///
    /// [`Code::UnknownId`], [`Code::EventTooLarge`].
    pub fn tool_args(
        &mut self,
        call_id: &str,
        args: &str,
        sink: &mut Sink<'_>,
    ) -> Result<(), CallerError> {
        if self.is_late() {
            return Ok(());
        }
        let calls = self.order.ledger(Thing::Call);
        let call = calls.position(call_id).and_then(|index| calls.open().get(index));
        let name = call.map_or_else(String::new, |call| call.label.clone());
        let event = Event::ToolArgs(ToolArgs::new(call_id, name, or_empty_object(args)));
        if self.check_args(&event, call_id)? {
            fits(&event)?;
            self.give(event, sink);
        }
        Ok(())
    }

    /// A tool begins to run. Without an id it is the oldest call of that name that was written and
    /// waits, else a new one, with an id made for it where the rules want one.
    ///
    /// # Errors
    ///
    /// [`Code::DuplicateId`] if a call of this id runs, [`Code::TooManyOpen`],
    /// [`Code::EventTooLarge`].
    pub fn tool_start(
        &mut self,
        start: ToolStart<'_>,
        sink: &mut Sink<'_>,
    ) -> Result<(), CallerError> {
        if self.is_late() {
            return Ok(());
        }
        let mut start = start;
        if start.name.trim().is_empty() {
            start.name = NAMELESS.into();
        }
        let step = start.step.unwrap_or_default().max(self.step).max(1);
        start.step = Some(step);
        start.args = start.args.map(|args| if is_blank(&args) { "{}".into() } else { args });
        start.call_id = start.call_id.filter(|id| !id.is_empty());
        if start.call_id.is_none() {
            let calls = self.order.ledger(Thing::Call);
            let waiting = self.order.waiting(&start.name).and_then(|at| calls.open().get(at));
            start.call_id = waiting.map(|call| Cow::Owned(call.id.clone()));
        }
        let mut event = Event::ToolStart(start);
        fits(&event)?;
        if let Event::ToolStart(start) = &event {
            self.check(&event, start.call_id.as_deref().unwrap_or(&start.name))?;
        }
        if let Event::ToolStart(start) = &mut event {
            let made = self.made_id(start.call_id.is_none());
            start.call_id = start.call_id.take().or(made.map(Cow::Owned));
        }
        self.begin_step(sink);
        self.advance(Some(step), sink);
        self.cover(sink);
        self.give(event, sink);
        Ok(())
    }

    /// Live output of a running tool. An empty piece is dropped; one for a settled call is noted
    /// and dropped.
    ///
    /// # Errors
    ///
    /// [`Code::UnknownId`]; [`Code::OutOfOrder`] if the call does not run yet.
    pub fn tool_output(
        &mut self,
        call_id: &str,
        stream: OutputStream,
        text: &str,
        sink: &mut Sink<'_>,
    ) -> Result<(), CallerError> {
        self.tool_sign(Event::ToolOutput(ToolOutput::new(call_id, stream, text)), call_id, sink)
    }

    pub(super) fn tool_sign(
        &mut self,
        event: Event<'_>,
        call_id: &str,
        sink: &mut Sink<'_>,
    ) -> Result<(), CallerError> {
        if self.is_late() {
            return Ok(());
        }
        match self.order.judge_touch(&event) {
            Err(Irregular::Settled(_)) => {
                self.diagnostics.push_with(Code::AlreadySettled, self.calls, call_id);
                return Ok(());
            }
            _ => self.check(&event, call_id)?,
        }
        let Event::ToolOutput(output) = &event else {
            self.give(event, sink);
            return Ok(());
        };
        for piece in pieces(&output.text, DELTA_MAX_ESCAPED_BYTES) {
            self.give(ToolOutput::new(call_id, output.stream, piece).into(), sink);
        }
        Ok(())
    }

    /// A tool came to something. Without an id it belongs to the running call of that name, the
    /// newest unless the rules say the oldest; if none runs, a `tool_start` is implied. A second
    /// result of a settled call is noted and dropped. An output over
    /// [`TOOL_OUTPUT_MAX_ESCAPED_BYTES`](crate::limits::TOOL_OUTPUT_MAX_ESCAPED_BYTES) keeps its
    /// head and tail; `ok`, summary and preview come of the whole.
    ///
    /// # Errors
    ///
    /// [`Code::TooManyOpen`] if it has no call and no more may be open, [`Code::BadField`] for a
    /// name, id or status and [`Code::EventTooLarge`] for paths that are too long.
    pub fn tool_result(
        &mut self,
        outcome: ToolOutcome<'_>,
        sink: &mut Sink<'_>,
    ) -> Result<(), CallerError> {
        if self.is_late() {
            return Ok(());
        }
        short(outcome.name, "name")?;
        short(outcome.call_id.unwrap_or_default(), "call_id")?;
        short(outcome.status.unwrap_or_default(), "status")?;
        if outcome.files_changed.iter().map(|path| path.len()).sum::<usize>() > NAME_MAX_BYTES {
            return Err(CallerError::new(Code::EventTooLarge).with("files_changed"));
        }
        let Some(Callee { id, name, runs }) = self.callee(&outcome)? else {
            self.diagnostics.push_with(
                Code::DuplicateResult,
                self.calls,
                outcome.call_id.unwrap_or_default(),
            );
            return Ok(());
        };
        let call_id = (!id.is_empty()).then_some(Cow::Borrowed(id.as_str()));

        self.begin_step(sink);
        if !runs {
            self.cover(sink);
            let mut start = ToolStart::new(name.as_str());
            start.call_id = call_id.clone();
            start.step = Some(self.step);
            self.give(start.into(), sink);
        }
        let output = self.read_output(outcome.output);
        let failed = matches!(outcome.output, Output::Error(_));
        let ok = outcome.ok.unwrap_or_else(|| !failed && judge(&output));
        let line = match outcome.summary {
            Some(line) => clip_chars(line, SUMMARY_MAX_CHARS),
            None => Cow::Owned(summary(&name, ok, &output)),
        };
        self.note_place(&name, ok, &output, outcome.cwd);
        self.trace.push(TraceEntry::new(name.clone(), ok, String::from(&*line)));

        let mut result = ToolResult::new(name.as_str(), ok, line);
        result.call_id = call_id;
        result.preview = match outcome.preview {
            Some(text) => Some(clip_chars(text, PREVIEW_MAX_CHARS)),
            None => preview(&output).map(Cow::Owned),
        };
        result.output = (!output.is_empty()).then_some(clip_output(output));
        result.status = outcome.status.map(Cow::Borrowed);
        result.exit_code = outcome.exit_code;
        result.files_changed = outcome.files_changed;
        self.give(result.into(), sink);
        Ok(())
    }

    /// The call that an outcome belongs to; `None` for one that has its result.
    fn callee(&mut self, outcome: &ToolOutcome<'_>) -> Result<Option<Callee>, CallerError> {
        let given = outcome.call_id.unwrap_or_default();
        let calls = self.order.ledger(Thing::Call);
        let by_name = || if given.is_empty() { self.order.waiting(outcome.name) } else { None };
        let index = self.order.pair(given, outcome.name).or_else(by_name);
        if let Some(call) = index.and_then(|index| calls.open().get(index)) {
            let id = if call.id.is_empty() { given } else { &call.id };
            let name = name_or(outcome.name, &call.label);
            return Ok(Some(Callee { id: id.into(), name: name.into(), runs: call.running }));
        }
        if calls.outcome(given).is_some() {
            return Ok(None);
        }
        if calls.is_full() {
            return Err(CallerError::new(Code::TooManyOpen).with(given));
        }
        let made = self.made_id(given.is_empty());
        let name = name_or(outcome.name, NAMELESS).into();
        Ok(Some(Callee { id: made.unwrap_or_else(|| given.into()), name, runs: false }))
    }

    /// Whether an argument event may be given; late ones are noted.
    fn check_args(&mut self, event: &Event<'_>, call_id: &str) -> Result<bool, CallerError> {
        match self.order.judge_touch(event) {
            Ok(()) => Ok(true),
            Err(Irregular::LateArgs | Irregular::Settled(_)) => {
                self.diagnostics.push_with(Code::LateArgs, self.calls, call_id);
                Ok(false)
            }
            Err(_) => self.check(event, call_id).map(|()| false),
        }
    }

    fn made_id(&mut self, wanted: bool) -> Option<String> {
        (wanted && self.rules.makes_call_ids).then(|| self.ids.next("call_"))
    }

    /// The output as text.
    fn read_output<'o>(&mut self, output: Output<'o>) -> Cow<'o, str> {
        match output {
            Output::Text(text) => Cow::Borrowed(text),
            Output::Error(text) if is_blank(text) => Cow::Borrowed("ERROR tool-error"),
            Output::Error(text) => Cow::Borrowed(text),
            Output::Json(json) => match flatten(json) {
                Ok(text) => text,
                Err(_) => {
                    self.diagnostics.push_with(Code::BadResult, self.calls, json);
                    Cow::Borrowed(json)
                }
            },
        }
    }

    /// Follows the working directory (seed of `agent`, `cwd`; A14). An invalid one is dropped.
    fn note_place(&mut self, name: &str, ok: bool, output: &str, given: Option<&str>) {
        let moved = if ok && name == "change_dir" { changed_dir(output) } else { None };
        let place = given.or(moved).and_then(|path| relative_path(path).ok());
        let given_one = given.is_some() && place.is_some();
        self.fs_ran |= given_one || self.fs_tools.iter().any(|tool| tool == name);
        if let Some(place) = place {
            self.cwd = place;
        }
    }
}

/// The call that an outcome belongs to.
struct Callee {
    /// Empty where the rules make none and the caller gave none.
    id: String,
    name: String,
    runs: bool,
}

fn name_or<'n>(name: &'n str, other: &'n str) -> &'n str {
    if is_blank(name) { other } else { name }
}

fn or_empty_object(args: &str) -> &str {
    if is_blank(args) { "{}" } else { args }
}
