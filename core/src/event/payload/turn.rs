//! The turn itself: its start, what is said, its end.

use alloc::vec::Vec;

use crate::event::values::is_absent;
use crate::event::{DoneStatus, RawJson, Role, Str};

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
