//! Whether a turn goes on from where the provider stands, or sends everything anew, and what the
//! reader is told (`respond` 3).

use alloc::borrow::Cow;
use alloc::format;
use alloc::string::String;

use super::context::{REPLAY, STATEFUL};
use super::emitter::Sink;
use super::ending::Failure;
use super::provider_state::{ProviderMode, ProviderState};
use crate::error::CallerError;
use crate::event::{Continuation, Event, Fallback, Str};
use crate::text::is_blank;

/// The hash of a system prompt that is not there.
const NO_PROMPT: &str = "none";

/// Why a conversation is carried on in a lesser way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ContinuationReason {
    /// The stored state cannot be read.
    EnvelopeMalformed,
    /// Another provider.
    ProviderChanged,
    /// Another model.
    ModelChanged,
    /// Another agent.
    AgentChanged,
    /// The agent runs in something else.
    AgentRuntimeChanged,
    /// Another system prompt.
    SystemPromptChanged,
    /// Other tools.
    ToolsetChanged,
    /// The provider has forgotten the conversation.
    CursorExpired,
    /// The provider does not know the conversation.
    CursorInvalid,
    /// It forgot it while results of tools were on their way, which cannot be sent anew.
    ToolResultCursorLoss,
}

impl ContinuationReason {
    /// Every reason.
    pub const ALL: &'static [Self] = &[
        Self::EnvelopeMalformed,
        Self::ProviderChanged,
        Self::ModelChanged,
        Self::AgentChanged,
        Self::AgentRuntimeChanged,
        Self::SystemPromptChanged,
        Self::ToolsetChanged,
        Self::CursorExpired,
        Self::CursorInvalid,
        Self::ToolResultCursorLoss,
    ];

    /// The code as it stands on the wire.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::EnvelopeMalformed => "envelope_malformed",
            Self::ProviderChanged => "provider_changed",
            Self::ModelChanged => "model_changed",
            Self::AgentChanged => "agent_changed",
            Self::AgentRuntimeChanged => "agent_runtime_changed",
            Self::SystemPromptChanged => "system_prompt_changed",
            Self::ToolsetChanged => "toolset_changed",
            Self::CursorExpired => "cursor_expired",
            Self::CursorInvalid => "cursor_invalid",
            Self::ToolResultCursorLoss => "tool_result_cursor_loss",
        }
    }

    /// One sentence for people.
    #[must_use]
    pub const fn sentence(self) -> &'static str {
        match self {
            Self::EnvelopeMalformed => "The stored state of the conversation cannot be read.",
            Self::ProviderChanged => "The provider was changed.",
            Self::ModelChanged => "The model was changed.",
            Self::AgentChanged => "The agent was changed.",
            Self::AgentRuntimeChanged => "The agent's runtime was changed.",
            Self::SystemPromptChanged => "The system prompt was changed.",
            Self::ToolsetChanged => "The tools were changed.",
            Self::CursorExpired => "The provider has forgotten the conversation.",
            Self::CursorInvalid => "The provider does not know the conversation.",
            Self::ToolResultCursorLoss => {
                "The provider lost the conversation while it waited for results of tools."
            }
        }
    }

    /// The failure of a turn that ends for this reason.
    #[must_use]
    pub fn failure(self) -> Failure<'static> {
        Failure { code: Some(self.as_str()), ..Failure::new(self.sentence()) }
    }
}

/// What the turn that begins runs on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ProviderSetup<'a> {
    /// The provider.
    pub provider: &'a str,
    /// The model.
    pub model_name: &'a str,
    /// How the provider keeps conversations; `None` if it does not.
    pub durable_mode: Option<ProviderMode>,
    /// The agent, where there is one.
    pub agent_id: Option<&'a str>,
    /// What the agent runs in.
    pub agent_runtime_hash: Option<&'a str>,
    /// The hash of the system prompt; a blank one stands for `none`.
    pub system_prompt_hash: &'a str,
    /// The hash of the tools.
    pub toolset_hash: &'a str,
}

impl<'a> ProviderSetup<'a> {
    /// A provider that keeps no conversation, without an agent and a system prompt.
    #[must_use]
    pub const fn new(provider: &'a str, model_name: &'a str, toolset_hash: &'a str) -> Self {
        Self {
            provider,
            model_name,
            durable_mode: None,
            agent_id: None,
            agent_runtime_hash: None,
            system_prompt_hash: NO_PROMPT,
            toolset_hash,
        }
    }

    /// The system prompt's hash as a state stores it.
    #[must_use]
    pub fn stored_prompt_hash(&self) -> &'a str {
        if is_blank(self.system_prompt_hash) { NO_PROMPT } else { self.system_prompt_hash }
    }

    /// Why `state` is of no use here: the first that is different. An agent and its runtime count
    /// only where both sides name one.
    fn mismatch(&self, state: &ProviderState<'_>) -> Option<ContinuationReason> {
        use ContinuationReason as R;
        let differ = |stored: &Option<Str<'_>>, now: Option<&str>| {
            stored.as_deref().zip(now).is_some_and(|(stored, now)| stored != now)
        };
        let checks = [
            (state.provider != self.provider, R::ProviderChanged),
            (state.model_name != self.model_name, R::ModelChanged),
            (differ(&state.agent_id, self.agent_id), R::AgentChanged),
            (differ(&state.agent_runtime_hash, self.agent_runtime_hash), R::AgentRuntimeChanged),
            (state.system_prompt_hash != self.stored_prompt_hash(), R::SystemPromptChanged),
            (state.toolset_hash != self.toolset_hash, R::ToolsetChanged),
        ];
        checks.into_iter().find(|(hit, _)| *hit).map(|(_, reason)| reason)
    }
}

/// How a provider refuses a cursor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CursorLoss {
    /// It is too old.
    Expired,
    /// There is no such conversation.
    Invalid,
}

/// What to do when the provider no longer knows the conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum OnLoss {
    /// Make the model call again, with everything in it.
    Replay,
    /// End the turn, with [`ContinuationReason::failure`].
    Abort(ContinuationReason),
    /// No cursor was in use, so that the provider's error is about something else.
    NotOurs,
}

/// What to do with the chat's stored state at a turn's end.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Save {
    /// Leave it as it is.
    Keep,
    /// Remove it.
    Clear,
    /// Store this envelope.
    Store(String),
}

/// How one turn carries its conversation on.
///
/// Made before the first model call from what the chat stored. Events go to the sink, to be given
/// to the emitter before any output of the model, and persisted at once.
///
/// ```
/// use turnwire::turn::{Continuity, OnLoss, ProviderSetup};
/// let stored = r#"{"schemaVersion":1,"provider":"p","mode":"responses","modelName":"old",
///     "systemPromptHash":"none","toolsetHash":"t","cursor":"resp_1"}"#;
/// let mut names = Vec::new();
/// let sink = &mut |event: &turnwire::event::Event<'_>| names.push(event.kind().name());
/// let mut way = Continuity::decide(Some(stored), ProviderSetup::new("p", "new", "t"));
/// assert_eq!(way.cursor(), None);
/// way.begin(sink);
/// way.recovered(sink);
/// assert_eq!(names, ["fallback", "continuation", "continuation"]);
/// ```
#[derive(Clone, Debug)]
pub struct Continuity<'a> {
    setup: ProviderSetup<'a>,
    cursor: Option<String>,
    change: Option<Change>,
    /// Whether the change was not told yet.
    pending: bool,
}

#[derive(Clone, Debug)]
struct Change {
    from_mode: ProviderMode,
    from_provider: Option<String>,
    reason: ContinuationReason,
}

impl<'a> Continuity<'a> {
    /// Decides by the envelope that the chat stored, if any.
    ///
    /// Without one everything is sent, and nobody told. One that cannot be read, or is of another
    /// setup, is a change for the worse. One of this setup with a durable mode is gone on from.
    #[must_use]
    pub fn decide(stored: Option<&str>, setup: ProviderSetup<'a>) -> Self {
        let mut way = Self { setup, cursor: None, change: None, pending: false };
        let Some(stored) = stored else { return way };
        let Ok(state) = ProviderState::parse(stored) else {
            way.degrade(way.own_mode(), None, ContinuationReason::EnvelopeMalformed);
            return way;
        };
        if let Some(reason) = setup.mismatch(&state) {
            let other = (state.provider != setup.provider).then(|| state.provider.into_owned());
            way.degrade(state.mode, other, reason);
        } else if state.mode.is_durable() {
            way.cursor = state.cursor.map(Cow::into_owned);
        }
        way
    }

    /// Where the provider stands, to be named in the next model call; `None` if everything is to
    /// be sent.
    #[must_use]
    pub fn cursor(&self) -> Option<&str> {
        self.cursor.as_deref()
    }

    /// Why the conversation is carried on in a lesser way, if it is.
    #[must_use]
    pub fn reason(&self) -> Option<ContinuationReason> {
        self.change.as_ref().map(|change| change.reason)
    }

    /// `stateful` or `replay`: how the display calls it.
    #[must_use]
    pub const fn display_mode(&self) -> &'static str {
        if self.cursor.is_some() { STATEFUL } else { REPLAY }
    }

    /// Before the first model call: gives what the decision is to be told of it, once.
    pub fn begin(&mut self, sink: &mut Sink<'_>) {
        let Some(change) = self.change.as_ref().filter(|_| self.pending) else { return };
        let from = change.from_mode.as_str();
        sink(&Fallback::new(from, REPLAY, change.reason.sentence()).into());
        sink(&self.transition(change, false));
        self.pending = false;
    }

    /// A model call has left the conversation at `cursor`. Nothing of it if the provider keeps no
    /// conversations, or it is blank.
    pub fn advance(&mut self, cursor: &str) {
        if self.setup.durable_mode.is_some() && !is_blank(cursor) {
            self.cursor = Some(cursor.into());
        }
    }

    /// The provider no longer knows the conversation. Without results of tools on their way the
    /// same is told as at the beginning, and the call is to be made again.
    pub fn lose_cursor(
        &mut self,
        loss: CursorLoss,
        tool_results_in_flight: bool,
        sink: &mut Sink<'_>,
    ) -> OnLoss {
        if self.cursor.take().is_none() {
            return OnLoss::NotOurs;
        }
        if tool_results_in_flight {
            return OnLoss::Abort(ContinuationReason::ToolResultCursorLoss);
        }
        let reason = match loss {
            CursorLoss::Expired => ContinuationReason::CursorExpired,
            CursorLoss::Invalid => ContinuationReason::CursorInvalid,
        };
        self.degrade(self.own_mode(), None, reason);
        self.begin(sink);
        OnLoss::Replay
    }

    /// The turn is about to finish well: says so of the change that was told last. Not to be
    /// called for a turn that fails or is cancelled (`respond` 5, A1 and A2).
    pub fn recovered(&self, sink: &mut Sink<'_>) {
        if let Some(change) = self.change.as_ref().filter(|_| !self.pending) {
            sink(&self.transition(change, true));
        }
    }

    /// What becomes of the chat's stored state. An `offered` state is stored if it is durable, has
    /// a cursor, and is of this provider and its mode; else what is stored is removed. After an
    /// abort it stays.
    ///
    /// # Errors
    ///
    /// [`BadJson`](crate::error::Code::BadJson) if the context of the state is not JSON.
    pub fn save(
        &self,
        offered: Option<&ProviderState<'_>>,
        aborted: bool,
    ) -> Result<Save, CallerError> {
        if aborted {
            return Ok(Save::Keep);
        }
        let fits = |state: &&ProviderState<'_>| {
            state.provider == self.setup.provider
                && Some(state.mode) == self.setup.durable_mode
                && state.mode.is_durable()
                && state.cursor.as_deref().is_some_and(|cursor| !is_blank(cursor))
        };
        offered.filter(fits).map_or(Ok(Save::Clear), |state| state.to_json().map(Save::Store))
    }

    fn own_mode(&self) -> ProviderMode {
        self.setup.durable_mode.unwrap_or(ProviderMode::StatelessLoop)
    }

    fn degrade(
        &mut self,
        from_mode: ProviderMode,
        from_provider: Option<String>,
        reason: ContinuationReason,
    ) {
        self.change = Some(Change { from_mode, from_provider, reason });
        self.pending = true;
    }

    fn transition<'e>(&'e self, change: &'e Change, recovered: bool) -> Event<'e> {
        let from = change.from_mode.as_str();
        let (provider, model) = (self.setup.provider, self.setup.model_name);
        let mut event = Continuation::new(provider, model, from, REPLAY, change.reason.as_str());
        event.from_provider = change.from_provider.as_deref().map(Cow::Borrowed);
        event.detail = Some(format!("{from} → {REPLAY}").into());
        event.recovered = Some(recovered);
        event.into()
    }
}
