//! How hard a model is asked to reason (seed of `agent`).

use crate::error::{CallerError, Code};

/// A reasoning effort, by the words of `AGENT_REASONING`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Effort {
    /// What the provider does by default.
    ProviderDefault,
    /// None.
    None,
    /// Little.
    Low,
    /// Some.
    Medium,
    /// Much.
    High,
}

impl Effort {
    /// Every effort.
    pub const ALL: &'static [Self] =
        &[Self::ProviderDefault, Self::None, Self::Low, Self::Medium, Self::High];

    /// Its word.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::ProviderDefault => "provider-default",
            Self::None => "none",
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
        }
    }
}

/// The effort to ask for, or `None` to leave the option out.
///
/// A `setting` wins. Without one (absent or blank) a model whose id holds `reasoning` or
/// `thinking`, but not `non-reasoning`, gets the provider's default. Letter case does not matter.
///
/// ```
/// use turnwire::turn::{Effort, reasoning_effort};
/// assert_eq!(reasoning_effort(None, "x-reasoning-2"), Ok(Some(Effort::ProviderDefault)));
/// assert_eq!(reasoning_effort(None, "x-non-reasoning"), Ok(None));
/// assert_eq!(reasoning_effort(Some("high"), "x"), Ok(Some(Effort::High)));
/// ```
///
/// # Errors
///
/// [`Code::BadOption`] for a setting that is none of the five words.
pub fn reasoning_effort(
    setting: Option<&str>,
    model_id: &str,
) -> Result<Option<Effort>, CallerError> {
    let word = setting.map(str::trim).filter(|word| !word.is_empty());
    if let Some(word) = word {
        let effort = Effort::ALL.iter().find(|e| e.as_str().eq_ignore_ascii_case(word));
        return match effort {
            Some(effort) => Ok(Some(*effort)),
            None => Err(CallerError::new(Code::BadOption).with(word)),
        };
    }
    let id = model_id.to_ascii_lowercase();
    let capable =
        (id.contains("reasoning") || id.contains("thinking")) && !id.contains("non-reasoning");
    Ok(capable.then_some(Effort::ProviderDefault))
}
