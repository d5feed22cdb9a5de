//! What belongs to the session: lists, context, notices, states.

use alloc::vec::Vec;

use crate::event::values::is_absent;
use crate::event::{Phase, Str};

payloads! {
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
        /// Rounds that it took so far (`run`, goals).
        turns: Option<u64>,
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
        /// Who began it, where it says so (`workspace`, a new session).
        actor: Option<Str<'a>>,
        /// In which mode, where it says so (`workspace`, a new session).
        mode: Option<Str<'a>>,
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
}
