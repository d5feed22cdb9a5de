//! What a model is to the server: a history in, parts of one step out.
//!
//! The server asks for one step after another. It runs the tools that a step calls, adds the
//! step and the results to the history, and asks again, until a step calls none. A provider for a
//! model behind an API is one more implementation of [`Provider`]; it keeps nothing between steps.

mod builtin;
mod sentence;
mod telling;
mod tokens;

use std::pin::Pin;

use futures_util::Stream;

pub use builtin::Builtin;
pub use sentence::{Sentence, parse};

/// A model, or several under one roof.
pub trait Provider: Send + Sync + 'static {
    /// The ids that a request may name; the first is used when it names none.
    fn models(&self) -> &[&'static str];

    /// One step: what the model thinks, says and calls, given all that was said before.
    ///
    /// Dropping the stream cancels the step. A stream that ends without a call ends the turn.
    fn step(&self, request: Request) -> Parts;
}

/// The parts of one step, as the model makes them.
pub type Parts = Pin<Box<dyn Stream<Item = Result<Part, ModelError>> + Send>>;

/// What a step is made from.
#[derive(Clone, Debug)]
pub struct Request {
    /// One of [`Provider::models`].
    pub model: String,
    /// Whether the model may reason in the open.
    pub reasoning: bool,
    /// From the user's prompt on, in order.
    pub history: Vec<Message>,
}

/// One entry of the history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Message {
    /// What the user asked.
    User(String),
    /// What the model said and called in one step.
    Assistant {
        /// Its text, possibly empty.
        text: String,
        /// Its calls, in order.
        calls: Vec<ToolCall>,
    },
    /// What a called tool gave.
    Tool {
        /// The call's id.
        call_id: String,
        /// The result's text.
        output: String,
    },
}

/// A call that the model wrote.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolCall {
    /// Unique within the turn.
    pub id: String,
    /// The tool.
    pub name: String,
    /// The arguments as JSON text.
    pub args: String,
}

/// A piece of a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part {
    /// A piece of reasoning.
    Reasoning(String),
    /// A piece of the answer.
    Text(String),
    /// A complete call.
    Call(ToolCall),
}

/// The model failed; the turn fails with it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ModelError {
    /// What the user is told.
    pub message: String,
    /// The HTTP status that says the same.
    pub status: u16,
}

/// Whether a model reasons in the open (seed of `agent`, `AGENT_REASONING`).
///
/// `effort` is the variable's value, if it is set: any but `none` turns reasoning on. If it is not
/// set, a model whose id speaks of reasoning or thinking reasons.
#[must_use]
pub fn reasons(effort: Option<&str>, model: &str) -> bool {
    if let Some(effort) = effort {
        return effort != "none";
    }
    let model = model.to_ascii_lowercase();
    (model.contains("reasoning") || model.contains("thinking")) && !model.contains("non-reasoning")
}
