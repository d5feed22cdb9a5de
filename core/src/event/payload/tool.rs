//! Work that the model has done for it: tools, subagents, images.

use alloc::vec::Vec;

use crate::event::values::is_absent;
use crate::event::{OutputStream, Str};

payloads! {
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
        ;
        /// The tool.
        name: Option<Str<'a>>,
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
}
