//! What a provider leaves behind at a turn's end, so that the next one can go on from there.

use alloc::string::String;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::error::{CallerError, Code};
use crate::event::{RawJson, Str};
use crate::text::is_blank;

/// The version of the stored envelope (`respond` 3).
const SCHEMA_VERSION: u64 = 1;

/// How a provider carries a conversation on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum ProviderMode {
    /// By a stored response that the next one names.
    Responses,
    /// By a stored interaction that the next one names.
    Interactions,
    /// By sending everything anew in each call.
    StatelessLoop,
}

impl ProviderMode {
    /// Every mode.
    pub const ALL: &'static [Self] = &[Self::Responses, Self::Interactions, Self::StatelessLoop];

    /// `responses`, `interactions` or `stateless-loop`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Responses => "responses",
            Self::Interactions => "interactions",
            Self::StatelessLoop => "stateless-loop",
        }
    }

    /// Whether the provider keeps the conversation, so that a cursor can name it.
    #[must_use]
    pub const fn is_durable(self) -> bool {
        match self {
            Self::Responses | Self::Interactions => true,
            Self::StatelessLoop => false,
        }
    }
}

/// The envelope that a chat stores between turns (`respond` 3).
///
/// ```
/// use turnwire::turn::{ProviderMode, ProviderState};
/// let json = r#"{"schemaVersion":1,"provider":"p","mode":"responses","modelName":"m",
///     "systemPromptHash":"none","toolsetHash":"t","cursor":"resp_1"}"#;
/// let state = ProviderState::parse(json)?;
/// assert_eq!((state.mode, state.cursor.as_deref()), (ProviderMode::Responses, Some("resp_1")));
/// assert!(ProviderState::parse("{}").is_err());
/// # Ok::<(), turnwire::error::CallerError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ProviderState<'a> {
    /// The provider.
    pub provider: Str<'a>,
    /// How it carries the conversation on.
    pub mode: ProviderMode,
    /// The model.
    pub model_name: Str<'a>,
    /// The agent, where there is one.
    pub agent_id: Option<Str<'a>>,
    /// What the agent runs in.
    pub agent_runtime_hash: Option<Str<'a>>,
    /// The hash of the system prompt; `none` without one.
    pub system_prompt_hash: Str<'a>,
    /// The hash of the tools.
    pub toolset_hash: Str<'a>,
    /// Where the conversation stands at the provider.
    pub cursor: Option<Str<'a>>,
    /// What the provider keeps besides, byte for byte.
    pub context: Option<RawJson<'a>>,
}

/// The JSON form.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Form<'a> {
    schema_version: u64,
    provider: Str<'a>,
    mode: ProviderMode,
    model_name: Str<'a>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    agent_id: Option<Str<'a>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    agent_runtime_hash: Option<Str<'a>>,
    system_prompt_hash: Str<'a>,
    toolset_hash: Str<'a>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    cursor: Option<Str<'a>>,
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    context: Option<&'a RawValue>,
}

impl<'a> ProviderState<'a> {
    /// A state without an agent, a cursor and a context.
    #[must_use]
    pub fn new(
        provider: impl Into<Str<'a>>,
        mode: ProviderMode,
        model_name: impl Into<Str<'a>>,
        system_prompt_hash: impl Into<Str<'a>>,
        toolset_hash: impl Into<Str<'a>>,
    ) -> Self {
        Self {
            provider: provider.into(),
            mode,
            model_name: model_name.into(),
            agent_id: None,
            agent_runtime_hash: None,
            system_prompt_hash: system_prompt_hash.into(),
            toolset_hash: toolset_hash.into(),
            cursor: None,
            context: None,
        }
    }

    /// Reads a stored envelope. A blank cursor is none.
    ///
    /// # Errors
    ///
    /// [`Code::BadSnapshot`] for what is no JSON object of version 1, lacks a string that it needs
    /// or has another type in its place, for an unknown mode, and for a durable mode without a
    /// cursor.
    pub fn parse(json: &'a str) -> Result<Self, CallerError> {
        let form: Form<'a> = serde_json::from_str(json).map_err(|_| Code::BadSnapshot)?;
        let cursor = form.cursor.filter(|cursor| !is_blank(cursor));
        let needed =
            [&form.provider, &form.model_name, &form.system_prompt_hash, &form.toolset_hash];
        let complete = needed.into_iter().all(|text| !is_blank(text))
            && (cursor.is_some() || !form.mode.is_durable());
        if form.schema_version != SCHEMA_VERSION || !complete {
            return Err(Code::BadSnapshot.into());
        }
        Ok(Self {
            provider: form.provider,
            mode: form.mode,
            model_name: form.model_name,
            agent_id: form.agent_id,
            agent_runtime_hash: form.agent_runtime_hash,
            system_prompt_hash: form.system_prompt_hash,
            toolset_hash: form.toolset_hash,
            cursor,
            context: form.context.map(|context| RawJson::from(context.get())),
        })
    }

    /// The envelope to store.
    ///
    /// # Errors
    ///
    /// [`Code::BadJson`] if the context is not JSON.
    pub fn to_json(&self) -> Result<String, CallerError> {
        let bad = |_| CallerError::new(Code::BadJson).with("context");
        let context = self.context.as_ref().map(|context| serde_json::from_str(context.text()));
        let form = Form {
            schema_version: SCHEMA_VERSION,
            provider: Str::Borrowed(&self.provider),
            mode: self.mode,
            model_name: Str::Borrowed(&self.model_name),
            agent_id: self.agent_id.as_deref().map(Str::Borrowed),
            agent_runtime_hash: self.agent_runtime_hash.as_deref().map(Str::Borrowed),
            system_prompt_hash: Str::Borrowed(&self.system_prompt_hash),
            toolset_hash: Str::Borrowed(&self.toolset_hash),
            cursor: self.cursor.as_deref().map(Str::Borrowed),
            context: context.transpose().map_err(bad)?,
        };
        serde_json::to_string(&form).map_err(bad)
    }
}
