//! The payloads of the vocabulary. Names are fixed; fields may grow (design, The vocabulary).
//!
//! Fields that may be absent are options, lists (absent when empty) or flags (absent when false).

use alloc::vec::Vec;

use super::values::is_absent;
use super::{Decision, DoneStatus, OutputStream, Phase, QuestionOutcome, RawJson, Role, Str};

payloads! {
    /// A turn begins.
    TurnStarted {
        ;
        /// The turn.
        turn_id: Option<Str<'a>>,
        /// The assistant message that the turn will fill.
        message_id: Option<Str<'a>>,
        /// The stored user message that the turn answers (`respond`).
        user_message_id: Option<Str<'a>>,
        /// The session it belongs to.
        session_id: Option<Str<'a>>,
        /// The workspace it belongs to (`workspace`).
        workspace_id: Option<Str<'a>>,
        /// The run it belongs to (`chat`).
        run_id: Option<Str<'a>>,
        /// What the user wrote, so that a replay can show it.
        user_text: Option<Str<'a>>,
        /// The id that the sending host gave its message, so that it knows it again.
        client_id: Option<Str<'a>>,
        /// What the server can do beyond the base (`chat`), as the object it sends.
        capabilities: Option<RawJson<'a>>,
    }

    /// A message of the user that opened no turn here.
    UserMessage {
        /// What the user wrote.
        text: Str<'a>,
        ;
        /// Its id.
        message_id: Option<Str<'a>>,
        /// The id that the sending host gave it.
        client_id: Option<Str<'a>>,
    }

    /// What the agent is busy with, as one word (`deciding`, `running`, …).
    Progress {
        /// The word.
        phase: Str<'a>,
    }

    /// A piece of the model's reasoning.
    ReasoningDelta {
        /// The piece.
        text: Str<'a>,
        ;
        /// The model call it belongs to, from 1.
        step: Option<u64>,
        /// The assistant message it belongs to.
        message_id: Option<Str<'a>>,
    }

    /// A piece of the model's answer.
    TextDelta {
        /// The piece.
        text: Str<'a>,
        ;
        /// The model call it belongs to, from 1.
        step: Option<u64>,
        /// The assistant message it belongs to.
        message_id: Option<Str<'a>>,
    }

    /// Authoritative text: replaces what the deltas of its step gathered (X2).
    Message {
        /// Who speaks.
        role: Role,
        /// The whole text.
        text: Str<'a>,
        ;
        /// The model call it belongs to, from 1.
        step: Option<u64>,
        /// Its id.
        message_id: Option<Str<'a>>,
        /// The calls that the model made in it.
        tool_uses: Vec<ToolUse<'a>>,
    }

    /// One call inside a [`Message`].
    ToolUse {
        /// The call's id.
        call_id: Str<'a>,
        /// The tool.
        name: Str<'a>,
        ;
        /// The arguments, as JSON text.
        args: Option<Str<'a>>,
    }

    /// The model begins to write a call.
    ToolCall {
        /// The call's id.
        call_id: Str<'a>,
        /// The tool.
        name: Str<'a>,
        ;
        /// The model call it belongs to, from 1.
        step: Option<u64>,
    }

    /// A piece of a call's arguments.
    ToolArgsDelta {
        /// The call's id.
        call_id: Str<'a>,
        /// The piece of JSON text.
        delta: Str<'a>,
    }

    /// A call's arguments are complete.
    ToolArgs {
        /// The call's id.
        call_id: Str<'a>,
        /// The tool.
        name: Str<'a>,
        /// The arguments as JSON text, byte for byte; blank means `{}`.
        args: Str<'a>,
    }

    /// A tool begins to run.
    ToolStart {
        /// The tool.
        name: Str<'a>,
        ;
        /// The call's id.
        call_id: Option<Str<'a>>,
        /// The arguments as JSON text, byte for byte.
        args: Option<Str<'a>>,
        /// The model call it belongs to, from 1.
        step: Option<u64>,
    }

    /// Live output of a running tool.
    ToolOutput {
        /// The call's id.
        call_id: Str<'a>,
        /// Where it was written.
        stream: OutputStream,
        /// The piece.
        text: Str<'a>,
    }

    /// A sign of life of a running tool.
    ToolProgress {
        /// The call's id.
        call_id: Str<'a>,
        /// Milliseconds since it began.
        elapsed_ms: u64,
    }

    /// A tool's outcome.
    ToolResult {
        /// The tool.
        name: Str<'a>,
        /// Whether it did its work.
        ok: bool,
        /// One line of at most 320 characters (`agent` 3).
        summary: Str<'a>,
        ;
        /// The call's id.
        call_id: Option<Str<'a>>,
        /// A bounded part of the output (`agent` 4); absent where the summary says it all.
        preview: Option<Str<'a>>,
        /// The whole output, where the dialect carries it.
        output: Option<Str<'a>>,
        /// A word finer than `ok`: `interrupted`, `denied`, `timeout`, …
        status: Option<Str<'a>>,
        /// The exit code of a command.
        exit_code: Option<i64>,
        /// Paths of files that changed.
        files_changed: Vec<Str<'a>>,
    }

    /// The agent asks the user.
    Question {
        /// Its id.
        question_id: Str<'a>,
        /// What is asked.
        questions: Vec<QuestionItem<'a>>,
        ;
        /// The form that the asking system gave it (`confirm`, `select`, …).
        kind: Option<Str<'a>>,
        /// Milliseconds until it times out, from when it was asked.
        timeout_ms: Option<u64>,
    }

    /// One question of a [`Question`].
    QuestionItem {
        /// Its id within the question.
        id: Str<'a>,
        /// What is asked.
        text: Str<'a>,
        ;
        /// A short heading.
        header: Option<Str<'a>>,
        /// What one can choose.
        options: Vec<Choice<'a>>,
        /// Whether several options may be chosen.
        multiple: bool,
        /// Whether an answer may be text of one's own.
        free_text: bool,
    }

    /// One option of a [`QuestionItem`].
    Choice {
        /// Its id.
        id: Str<'a>,
        /// What it says.
        label: Str<'a>,
        ;
        /// More about it.
        description: Option<Str<'a>>,
    }

    /// A question ended.
    QuestionResolved {
        /// Which.
        question_id: Str<'a>,
        /// How.
        outcome: QuestionOutcome,
        ;
        /// The answers, where somebody answered.
        answers: Vec<Answer<'a>>,
    }

    /// The answer to one [`QuestionItem`].
    Answer {
        /// The item's id.
        id: Str<'a>,
        ;
        /// The chosen options' ids.
        selected: Vec<Str<'a>>,
        /// Text of one's own.
        text: Option<Str<'a>>,
    }

    /// Something needs consent before it is done.
    ApprovalRequired {
        /// Its id.
        approval_id: Str<'a>,
        /// What would happen.
        effects: Vec<Effect<'a>>,
        ;
        /// The call that waits for it.
        call_id: Option<Str<'a>>,
        /// The tool.
        name: Option<Str<'a>>,
        /// Milliseconds until it times out.
        timeout_ms: Option<u64>,
    }

    /// One thing that would happen.
    Effect {
        /// Its kind, as one word (`write`, `exec`, …).
        kind: Str<'a>,
        /// What a person reads.
        text: Str<'a>,
        ;
        /// What it would happen to.
        target: Option<Str<'a>>,
    }

    /// An approval was decided.
    ApprovalResolved {
        /// Which.
        approval_id: Str<'a>,
        /// How.
        decision: Decision,
        /// By whom (`user`, `policy`, `timeout`, …).
        by: Str<'a>,
    }

    /// The agent proposes a plan and waits.
    PlanProposed {
        /// The plan, as the model wrote it.
        plan: Str<'a>,
    }

    /// A plan was decided.
    PlanResolved {
        /// Whether it may go on.
        approved: bool,
        ;
        /// The plan as the user changed it.
        edits: Option<Str<'a>>,
        /// Why not.
        reason: Option<Str<'a>>,
    }

    /// A subagent begins.
    SubagentStarted {
        /// The call that started it.
        call_id: Str<'a>,
        ;
        /// The subagent.
        agent_id: Option<Str<'a>>,
        /// Its name.
        name: Option<Str<'a>>,
        /// What it is to do.
        task: Option<Str<'a>>,
        /// The session it runs in.
        session_id: Option<Str<'a>>,
    }

    /// A piece of a subagent's text.
    SubagentText {
        /// The call that started it.
        call_id: Str<'a>,
        /// The piece.
        text: Str<'a>,
        ;
        /// The subagent.
        agent_id: Option<Str<'a>>,
    }

    /// A subagent calls a tool.
    SubagentTool {
        /// The call that started the subagent.
        call_id: Str<'a>,
        /// The tool.
        name: Str<'a>,
        ;
        /// The subagent.
        agent_id: Option<Str<'a>>,
        /// The subagent's own call.
        tool_call_id: Option<Str<'a>>,
    }

    /// A subagent ended.
    SubagentFinished {
        /// The call that started it.
        call_id: Str<'a>,
        /// Whether it did its work.
        ok: bool,
        ;
        /// The subagent.
        agent_id: Option<Str<'a>>,
        /// Its name.
        name: Option<Str<'a>>,
        /// What it found.
        summary: Option<Str<'a>>,
        /// What went wrong.
        error: Option<Str<'a>>,
        /// How many tools it called.
        tool_calls: Option<u64>,
    }

    /// An image is being made.
    ImageStarted {
        /// The image.
        image_id: Str<'a>,
        /// The call that makes it.
        call_id: Str<'a>,
        /// What it is to show.
        prompt: Str<'a>,
    }

    /// An image is there, or will not be.
    ImageFinished {
        /// The image.
        image_id: Str<'a>,
        /// The call that made it.
        call_id: Str<'a>,
        /// Whether it was made.
        ok: bool,
        ;
        /// Where it is.
        url: Option<Str<'a>>,
        /// What went wrong.
        error: Option<Str<'a>>,
        /// What it was to show.
        prompt: Option<Str<'a>>,
        /// The model that made it.
        model: Option<Str<'a>>,
        /// How long it took, in the sender's words.
        generation_time: Option<Str<'a>>,
    }

    /// A tool produced something to look at.
    Media {
        /// The call that produced it.
        call_id: Str<'a>,
        /// `image` or `resource`.
        kind: Str<'a>,
        /// Its media type.
        mime_type: Str<'a>,
        /// Where it is.
        url: Str<'a>,
        ;
        /// Its own address at the tool.
        uri: Option<Str<'a>>,
        /// The tool.
        name: Option<Str<'a>>,
        /// The server that the tool belongs to.
        server: Option<Str<'a>>,
    }

    /// The to-do list, whole.
    Todo {
        /// Its items; empty clears it.
        items: Vec<TodoItem<'a>>,
    }

    /// One item of a [`Todo`].
    TodoItem {
        /// What is to be done.
        text: Str<'a>,
        ;
        /// Its id.
        id: Option<Str<'a>>,
        /// How far it is (`pending`, `in_progress`, `completed`, …).
        status: Option<Str<'a>>,
    }

    /// How full the model's context is.
    Context {
        /// Estimated tokens of the input.
        input_tokens: u64,
        /// Tokens that fit.
        limit: u64,
        /// `input_tokens / limit`.
        ratio: f64,
        /// How the conversation is carried on (`stateful`, `replay`, …).
        mode: Str<'a>,
        /// `normal`, `info`, `warning`, `danger` or `critical`.
        severity: Str<'a>,
    }

    /// The conversation is carried on in a lesser way.
    Fallback {
        /// The way it was.
        from: Str<'a>,
        /// The way it is.
        to: Str<'a>,
        /// Why, for people.
        reason: Str<'a>,
    }

    /// How the conversation is carried on has changed.
    Continuation {
        /// The provider.
        provider: Str<'a>,
        /// The model.
        model: Str<'a>,
        /// The way it was.
        from_mode: Str<'a>,
        /// The way it is.
        to_mode: Str<'a>,
        /// Why, as a code.
        reason_code: Str<'a>,
        ;
        /// The provider before.
        from_provider: Option<Str<'a>>,
        /// More, for people.
        detail: Option<Str<'a>>,
        /// Whether the turn went well in the end.
        recovered: Option<bool>,
    }

    /// Something worth a line.
    Notice {
        /// What, as a code.
        code: Str<'a>,
        ;
        /// More, for people.
        detail: Option<Str<'a>>,
    }

    /// History is being folded.
    Compacted {
        ;
        /// Whether it begins or is over; absent where the dialect does not say.
        phase: Option<Phase>,
        /// Why.
        reason: Option<Str<'a>>,
        /// Whether it was given up.
        aborted: bool,
    }

    /// The session's title.
    Title {
        /// The title.
        title: Str<'a>,
    }

    /// What the user typed that still waits.
    Queue {
        /// Goes into the running turn.
        steering: Vec<Str<'a>>,
        /// Comes after it.
        follow_up: Vec<Str<'a>>,
    }

    /// A named state of the agent.
    State {
        /// The name.
        name: Str<'a>,
        ;
        /// More, for people.
        message: Option<Str<'a>>,
    }

    /// The reader has missed something that cannot be replayed.
    Resync {
        /// Why (`overflow`, `epoch`, `ahead`, `junk`, `slow`).
        reason: Str<'a>,
        ;
        /// The oldest number that can still be replayed.
        oldest_seq: Option<u64>,
        /// The newest number there is.
        head_seq: Option<u64>,
    }

    /// The turn is over; or, after an error or a cancel, the trailer that says so.
    Done {
        ;
        /// The whole answer.
        text: Option<Str<'a>>,
        /// Every tool of the turn, in order.
        tool_trace: Vec<TraceEntry<'a>>,
        /// The working directory, where file tools ran.
        cwd: Option<Str<'a>>,
        /// Why the model stopped, in the sender's word.
        finish_reason: Option<Str<'a>>,
        /// How the turn ended, if not by finishing: present on the trailer only.
        status: Option<DoneStatus>,
        /// Model calls made.
        steps: Option<u64>,
        /// What it cost, as the object that the sender gave.
        usage: Option<RawJson<'a>>,
        /// The assistant message that was stored.
        message_id: Option<Str<'a>>,
        /// How long it took, in the sender's words.
        generation_time: Option<Str<'a>>,
    }

    /// One tool of a [`Done`].
    TraceEntry {
        /// The tool.
        name: Str<'a>,
        /// Whether it did its work.
        ok: bool,
        /// Its summary line.
        summary: Str<'a>,
    }

    /// Something went wrong. Ends the turn unless `recoverable`.
    Error {
        /// What, for people.
        message: Str<'a>,
        ;
        /// An HTTP status that says it.
        status: Option<u16>,
        /// What, as a code.
        code: Option<Str<'a>>,
        /// Whether the turn goes on.
        recoverable: bool,
        /// What the user can do.
        remedy: Option<Str<'a>>,
        /// Why an external agent cannot be used (`respond`).
        unavailable_reason: Option<Str<'a>>,
        /// The version of an external agent that is needed (`respond`).
        required_version: Option<Str<'a>>,
    }

    /// Somebody stopped the turn.
    Cancelled {
        /// Who (`user`, `disconnect`, `shutdown`, …).
        by: Str<'a>,
    }

    /// An event that the vocabulary has no name for. It passes through and has no effect.
    Unknown {
        /// Its name on the wire.
        name: Str<'a>,
        /// The whole frame, as it came.
        raw: Str<'a>,
    }
}
