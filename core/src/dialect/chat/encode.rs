//! Events to frames of `chat`, on both channels.

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;

use super::run::{Gathered, REASONING, Run, write_input};
use super::{DELTA_HEAD, carriage, dialog, names, session};
use crate::dialect::outcome::{value_of, write_extras};
use crate::dialect::{Carriage, Encode, Stamp, Written};
use crate::event::{
    Channel, Done, DoneStatus, Error, Event, Message, Question, Role, ToolResult, ToolStart,
    TurnStarted,
};
use crate::limits::OPEN_CALLS_MAX;
use crate::text::is_blank;
use crate::wire::FrameWriter;
use crate::wire::json::{ObjectWriter, RawJson};

pub(super) struct Encoder {
    channel: Channel,
    run: Option<Run>,
    gathered: Gathered,
    /// Titles of the dialogs that wait, which their end repeats.
    titles: BTreeMap<String, String>,
    /// The run has had its last frame; what follows is the trailer.
    ended: bool,
}

impl Encoder {
    pub(super) fn new(channel: Channel) -> Self {
        Self {
            channel,
            run: None,
            gathered: Gathered::default(),
            titles: BTreeMap::new(),
            ended: false,
        }
    }
}

impl Encode for Encoder {
    fn encode(
        &mut self,
        stamp: &Stamp<'_>,
        event: &Event<'_>,
        frames: &mut FrameWriter<'_>,
    ) -> Written {
        let carriage = self.say(stamp, event, frames);
        if event.is_terminal() {
            *self = Self { ended: true, ..Self::new(self.channel) };
        } else if event.kind().belongs_to_turn() {
            self.ended = false;
        }
        // A resync is no entry of the ring, and neither is the greeting (`chat` 3).
        let greets = matches!(event, Event::State(state) if state.name == super::CONNECTED);
        let transient = greets || matches!(event, Event::Resync(_));
        Written { carriage, transient }
    }
}

/// Begins a frame. Frames of the event stream have the name that is the default of such streams
/// (`chat` 3, *Block*).
pub(super) fn frame<'f>(frames: &'f mut FrameWriter<'_>, kind: &str) -> ObjectWriter<'f> {
    let mut frame = frames.object(Some("message"));
    frame.str("type", kind);
    frame
}

pub(super) fn capabilities(frame: &mut ObjectWriter<'_>, given: Option<&str>) {
    if let Some(Ok(raw)) = given.map(RawJson::check) {
        frame.raw("adapterCapabilities", &raw);
        return;
    }
    let mut own = frame.object("adapterCapabilities");
    own.u64("protocolVersion", 1).u64("schemaRevision", 1);
    own.array("features").str(REASONING);
}

pub(super) fn state(frames: &mut FrameWriter<'_>, name: &str, message: Option<&str>) {
    let mut frame = frame(frames, "state");
    frame.object("state").str("name", name).opt_str("message", message);
}

impl Encoder {
    fn say(
        &mut self,
        stamp: &Stamp<'_>,
        event: &Event<'_>,
        frames: &mut FrameWriter<'_>,
    ) -> Carriage {
        let usual = carriage(event.kind());
        match event {
            Event::TurnStarted(e) => return self.start(stamp, e, frames),
            Event::Progress(e) => return self.progress(stamp, &e.phase, frames),
            // The model's own words are never sent (`chat` 2, *Run*).
            Event::ReasoningDelta(_) => self.phase(stamp, "planning", frames),
            Event::TextDelta(e) => {
                self.phase(stamp, "responding", frames);
                self.delta(&e.text, e.message_id.as_deref(), frames);
                self.gathered.push(&e.text);
            }
            Event::Message(e) => self.message(stamp, e, frames),
            Event::ToolArgs(e) => self.gathered.keep_input(&e.call_id, &e.args),
            Event::ToolStart(e) => self.tool_start(stamp, e, frames),
            Event::ToolResult(e) => return self.tool_result(e, frames),
            Event::Question(e) => return self.question(e, frames),
            Event::QuestionResolved(e) => {
                let title = self.titles.remove(&*e.question_id).unwrap_or_default();
                self.part(frames, |part| {
                    part.str("type", dialog::PART);
                    dialog::write_end(part, e, &title);
                });
            }
            Event::Error(e) if e.recoverable => retry(e, frames),
            Event::Error(e) => self.error(stamp, e, frames),
            // The trailer, after a terminal.
            Event::Done(e) if self.ended && e.status.is_some() => return Carriage::Derived,
            Event::Done(e) => return self.done(stamp, e, frames),
            Event::Cancelled(_) => {
                let done = Done { status: Some(DoneStatus::Cancelled), ..Done::new() };
                self.done(stamp, &done, frames);
            }
            Event::Unknown(e) => {
                // What was this dialect's before is passed on as it came.
                let Ok(raw) = RawJson::check(&e.raw) else { return Carriage::Dropped };
                frames.raw(Some("message"), &raw);
                return Carriage::Carried;
            }
            _ => return session::say(event, frames),
        }
        usual
    }

    /// `start` opens the answer to the POST and is in no ring; a watching tab learns by the state
    /// alone that a run has begun (`chat` 2).
    fn start(
        &mut self,
        stamp: &Stamp<'_>,
        start: &TurnStarted<'_>,
        frames: &mut FrameWriter<'_>,
    ) -> Carriage {
        let run = Run::new(start, stamp.ts_ms);
        *self = Self::new(self.channel);
        if self.channel == Channel::Turn {
            let mut frame = frame(frames, "start");
            frame.opt_str("id", start.message_id.as_deref()).str("runId", run.id());
            frame.opt_str("sessionId", run.session_id.as_deref());
            frame.opt_str("userMessageId", start.user_message_id.as_deref());
            capabilities(&mut frame, start.capabilities.as_ref().map(|it| it.text()));
        }
        self.run = Some(run);
        state(frames, "agent_start", None);
        self.phase(stamp, "waiting", frames);
        if self.channel == Channel::Turn { Carriage::Carried } else { Carriage::Degraded("state") }
    }

    /// Presents a phase of the run, if it is another than before.
    fn phase(&mut self, stamp: &Stamp<'_>, phase: &'static str, frames: &mut FrameWriter<'_>) {
        let Some(run) = self.run.as_mut().filter(|run| run.presents) else { return };
        if run.phase.replace(phase) == Some(phase) {
            return;
        }
        let over = matches!(phase, "complete" | "error");
        let mut frame = frame(frames, "reasoning");
        let mut presentation = frame.object("presentation");
        presentation.str("runId", run.id()).str("phase", phase);
        presentation.array("steps").end();
        presentation.u64("visibleSteps", 0).bool("streaming", !over);
        presentation.opt_u64("startedAt", run.started_ms);
        if let (true, Some(from), Some(to)) = (over, run.started_ms, stamp.ts_ms) {
            presentation.u64("elapsedMs", to.saturating_sub(from));
        }
        presentation.str("restingLabel", if over { "Worked" } else { "Working" });
        drop(presentation);
        frame.opt_str("messageId", run.message_id.as_deref());
    }

    fn progress(
        &mut self,
        stamp: &Stamp<'_>,
        word: &str,
        frames: &mut FrameWriter<'_>,
    ) -> Carriage {
        let phase = match word {
            "waiting" => "waiting",
            "context" => "context",
            "deciding" | "planning" => "planning",
            "running" | "executing" => "executing",
            "responding" => "responding",
            "compacting" | "recovering" => "recovering",
            _ => return Carriage::Dropped,
        };
        if self.run.as_ref().is_none_or(|run| !run.presents) {
            return Carriage::Dropped;
        }
        self.phase(stamp, phase, frames);
        if phase == word { Carriage::Derived } else { Carriage::Degraded("reasoning") }
    }

    fn message_id(&self) -> Option<&str> {
        self.run.as_ref()?.message_id.as_deref()
    }

    fn delta(&self, text: &str, message_id: Option<&str>, frames: &mut FrameWriter<'_>) {
        // The name is that of every frame: see `frame`.
        let mut frame = frames.text_object(Some("message"), DELTA_HEAD, text);
        frame.opt_str("messageId", message_id.or(self.message_id()));
    }

    /// What was streamed is known; the final message says what holds.
    fn message(&mut self, stamp: &Stamp<'_>, message: &Message<'_>, frames: &mut FrameWriter<'_>) {
        if message.role != Role::Assistant {
            return;
        }
        if let Some(rest) = self.gathered.cover(&message.text) {
            self.phase(stamp, "responding", frames);
            self.delta(rest, message.message_id.as_deref(), frames);
        }
    }

    /// Writes a frame of a part that nothing else needs.
    fn part(&self, frames: &mut FrameWriter<'_>, fill: impl FnOnce(&mut ObjectWriter<'_>)) {
        let mut frame = frame(frames, "tool");
        fill(&mut frame.object("part"));
        frame.opt_str("messageId", self.message_id());
    }

    fn tool_start(
        &mut self,
        stamp: &Stamp<'_>,
        start: &ToolStart<'_>,
        frames: &mut FrameWriter<'_>,
    ) {
        self.phase(stamp, "executing", frames);
        let call_id = start.call_id.as_deref();
        if let (Some(id), Some(args)) = (call_id, start.args.as_deref()) {
            self.gathered.keep_input(id, args);
        }
        let kept = call_id.and_then(|id| self.gathered.input(id));
        let args = start.args.as_deref().or(kept);
        self.part(frames, |part| {
            head(part, &start.name, call_id, "input-streaming");
            if let Some(args) = args {
                write_input(part, args);
            }
        });
    }

    fn tool_result(&mut self, result: &ToolResult<'_>, frames: &mut FrameWriter<'_>) -> Carriage {
        let call_id = result.call_id.as_deref();
        let mut json = Vec::new();
        let mut part = ObjectWriter::begin(&mut json);
        head(
            &mut part,
            &result.name,
            call_id,
            if result.ok { "output-available" } else { "output-error" },
        );
        let args = call_id.and_then(|id| self.gathered.input(id));
        if let Some(args) = args {
            write_input(&mut part, args);
        }
        part.str("output", value_of(result));
        let exact = write_extras(&mut part, result);
        drop(part);
        // What was written is text.
        let json = String::from_utf8(json).unwrap_or_default();
        if let Ok(raw) = RawJson::check(&json) {
            let mut frame = frame(frames, "tool");
            frame.raw("part", &raw).opt_str("messageId", self.message_id());
        }
        self.gathered.settle(call_id, json);
        if exact { Carriage::Carried } else { Carriage::Derived }
    }

    fn question(&mut self, question: &Question<'_>, frames: &mut FrameWriter<'_>) -> Carriage {
        if self.titles.len() >= OPEN_CALLS_MAX {
            self.titles.pop_first();
        }
        self.titles.insert(String::from(&*question.question_id), dialog::title(question).into());
        self.part(frames, |part| {
            part.str("type", dialog::PART);
            dialog::write(part, question);
        });
        if question.kind.is_some() { Carriage::Carried } else { Carriage::Derived }
    }

    /// The last words before the frame that closes a run: other tabs go by them (`chat` 3).
    fn settle(&mut self, stamp: &Stamp<'_>, phase: &'static str, frames: &mut FrameWriter<'_>) {
        if self.run.is_some() {
            self.phase(stamp, phase, frames);
            state(frames, super::SETTLED, None);
        }
    }

    /// A stopped run ends with `done` too (`server`, `chat`), of a status that is ours.
    fn done(
        &mut self,
        stamp: &Stamp<'_>,
        done: &Done<'_>,
        frames: &mut FrameWriter<'_>,
    ) -> Carriage {
        self.settle(stamp, "complete", frames);
        let given = done.text.as_deref().filter(|text| !is_blank(text));
        let text = given.or(self.gathered.text());
        let id = done.message_id.as_deref().or(self.message_id());
        let exact = done.tool_trace.is_empty()
            && text == done.text.as_deref()
            && id == done.message_id.as_deref();
        let mut frame = frame(frames, "done");
        frame.opt_str("runId", self.run.as_ref().map(Run::id));
        let mut message = frame.object("message");
        message.opt_str("id", id).str("role", Role::Assistant.as_str());
        self.gathered.write_parts(text, &mut message.array("parts"));
        drop(message);
        let session_id = self.run.as_ref().and_then(|run| run.session_id.as_deref());
        frame.opt_str("sessionId", session_id);
        frame.opt_str("status", done.status.map(DoneStatus::as_str));
        frame.opt_str("cwd", done.cwd.as_deref());
        frame.opt_str("finishReason", done.finish_reason.as_deref()).opt_u64("steps", done.steps);
        if let Some(Ok(usage)) = done.usage.as_ref().map(|usage| RawJson::check(usage.text())) {
            frame.raw("usage", &usage);
        }
        frame.opt_str("generationTime", done.generation_time.as_deref());
        if exact { Carriage::Carried } else { Carriage::Derived }
    }

    fn error(&mut self, stamp: &Stamp<'_>, error: &Error<'_>, frames: &mut FrameWriter<'_>) {
        self.settle(stamp, "error", frames);
        let mut frame = frame(frames, "error");
        frame.str("message", &error.message);
        frame.opt_str("runId", self.run.as_ref().and_then(|run| run.run_id.as_deref()));
        error_extras(&mut frame, error);
    }
}

/// The fields of a tool's part that come first.
fn head(part: &mut ObjectWriter<'_>, name: &str, call_id: Option<&str>, state: &str) {
    let of = names::part_type(name);
    part.str("type", &of).opt_str("toolCallId", call_id);
    // The type of a dialog is no tool's, unless it says so.
    let plain = names::tool_name(&of) == name && of != dialog::PART;
    part.opt_str("toolName", (!plain).then_some(name)).str("state", state);
}

fn error_extras(frame: &mut ObjectWriter<'_>, error: &Error<'_>) {
    frame.opt_u64("status", error.status.map(u64::from)).opt_str("code", error.code.as_deref());
    frame.opt_str("remedy", error.remedy.as_deref());
    frame.opt_str("unavailableReason", error.unavailable_reason.as_deref());
    frame.opt_str("requiredVersion", error.required_version.as_deref());
}

/// An error that the run survives is the start of another try (`chat` 1, `retry`). How many tries
/// there are, and when the next comes, is not known here.
fn retry(error: &Error<'_>, frames: &mut FrameWriter<'_>) {
    let mut frame = frame(frames, "retry");
    frame.str("phase", "start").u64("attempt", 1).u64("maxAttempts", 1).u64("delayMs", 0);
    frame.str("errorMessage", &error.message);
    error_extras(&mut frame, error);
}
