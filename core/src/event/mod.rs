//! The vocabulary: what happens in a turn, whatever the protocol, and what dialects differ in.
//!
//! ```
//! use turnwire::event::{Event, EventKind, TextDelta};
//! let event = Event::from(TextDelta::new("Hello"));
//! assert_eq!(event.kind(), EventKind::TextDelta);
//! let json = serde_json::to_string(&event).expect("plain data");
//! assert_eq!(json, r#"{"type":"text_delta","text":"Hello"}"#);
//! assert_eq!(serde_json::from_str::<Event<'static>>(&json).expect("the same"), event);
//! ```

use alloc::borrow::Cow;

#[macro_use]
mod macros;
mod envelope;
mod payload;
mod rules;
mod values;

pub use envelope::{Channel, Envelope};
pub use payload::*;
pub use rules::{
    Authoritative, Eof, OnResync, Orphan, Pairing, Rules, Severities, Severity, SideChannel,
};
pub use values::{Decision, DoneStatus, OutputStream, Phase, QuestionOutcome, RawJson, Role};

/// Text of an event: borrowed from the wire or the caller where that is possible.
pub type Str<'a> = Cow<'a, str>;

events! {
    TurnStarted(TurnStarted) "turn_started" "A turn begins.",
    UserMessage(UserMessage) "user_message" "A message of the user that opened no turn here.",
    Progress(Progress) "progress" "What the agent is busy with.",
    ReasoningDelta(ReasoningDelta) "reasoning_delta" "A piece of reasoning.",
    TextDelta(TextDelta) "text_delta" "A piece of the answer.",
    Message(Message) "message" "Authoritative text of a step.",
    ToolCall(ToolCall) "tool_call" "The model begins to write a call.",
    ToolArgsDelta(ToolArgsDelta) "tool_args_delta" "A piece of a call's arguments.",
    ToolArgs(ToolArgs) "tool_args" "A call's arguments are complete.",
    ToolStart(ToolStart) "tool_start" "A tool begins to run.",
    ToolOutput(ToolOutput) "tool_output" "Live output of a running tool.",
    ToolProgress(ToolProgress) "tool_progress" "A sign of life of a running tool.",
    ToolResult(ToolResult) "tool_result" "A tool's outcome.",
    Question(Question) "question" "The agent asks the user.",
    QuestionResolved(QuestionResolved) "question_resolved" "A question ended.",
    ApprovalRequired(ApprovalRequired) "approval_required" "Something needs consent.",
    ApprovalResolved(ApprovalResolved) "approval_resolved" "An approval was decided.",
    PlanProposed(PlanProposed) "plan_proposed" "The agent proposes a plan and waits.",
    PlanResolved(PlanResolved) "plan_resolved" "A plan was decided.",
    SubagentStarted(SubagentStarted) "subagent_started" "A subagent begins.",
    SubagentText(SubagentText) "subagent_text" "A piece of a subagent's text.",
    SubagentTool(SubagentTool) "subagent_tool" "A subagent calls a tool.",
    SubagentFinished(SubagentFinished) "subagent_finished" "A subagent ended.",
    ImageStarted(ImageStarted) "image_started" "An image is being made.",
    ImageFinished(ImageFinished) "image_finished" "An image is there, or will not be.",
    Media(Media) "media" "A tool produced something to look at.",
    Todo(Todo) "todo" "The to-do list, whole.",
    Context(Context) "context" "How full the model's context is.",
    Fallback(Fallback) "fallback" "The conversation is carried on in a lesser way.",
    Continuation(Continuation) "continuation" "How the conversation is carried on has changed.",
    Notice(Notice) "notice" "Something worth a line.",
    Compacted(Compacted) "compacted" "History is being folded.",
    Title(Title) "title" "The session's title.",
    Queue(Queue) "queue" "What the user typed that still waits.",
    State(State) "state" "A named state of the agent.",
    Resync(Resync) "resync" "The reader has missed something.",
    Done(Done) "done" "The turn is over.",
    Error(Error) "error" "Something went wrong.",
    Cancelled(Cancelled) "cancelled" "Somebody stopped the turn.",
    Unknown(Unknown) "unknown" "An event that the vocabulary has no name for.",
}

impl Event<'_> {
    /// Whether this ends its turn (design, rule 7). The trailer, a `done` with a status, counts
    /// too: it ends a turn whose terminal the reader did not see.
    #[must_use]
    pub const fn is_terminal(&self) -> bool {
        match self {
            Self::Done(_) | Self::Cancelled(_) => true,
            Self::Error(error) => !error.recoverable,
            _ => false,
        }
    }
}

impl EventKind {
    /// Whether it is a part of one turn; the others speak of the session and may come at any time.
    #[must_use]
    pub const fn belongs_to_turn(self) -> bool {
        !matches!(
            self,
            Self::UserMessage
                | Self::Title
                | Self::Queue
                | Self::State
                | Self::Notice
                | Self::Compacted
                | Self::Resync
                | Self::Unknown
        )
    }
}
