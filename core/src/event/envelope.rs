//! What a wire says around an event.

use super::{Event, Str};

/// Which of a dialect's two connections something came over, or is meant for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[allow(clippy::exhaustive_enums, reason = "a dialect has one or both of these, no third")]
pub enum Channel {
    /// The answer to the request that started the turn.
    #[default]
    Turn,
    /// A stream that watches a session.
    Events,
}

impl Channel {
    /// `"turn"` or `"events"`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Turn => "turn",
            Self::Events => "events",
        }
    }

    /// The channel of this name.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        match name {
            "turn" => Some(Self::Turn),
            "events" => Some(Self::Events),
            _ => None,
        }
    }
}

/// An event and what the wire said around it. Decoders yield it, the fold takes it.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Envelope<'a> {
    /// The number of the stored event, where the dialect gives one. Repeats are dropped by
    /// `(epoch, seq)`.
    pub seq: Option<u64>,
    /// The epoch that `seq` counts in.
    pub epoch: Option<Str<'a>>,
    /// When it happened, in Unix milliseconds. Shown, never used for order.
    pub ts_ms: Option<u64>,
    /// The turn it belongs to.
    pub turn_id: Option<Str<'a>>,
    /// The session it belongs to.
    pub session_id: Option<Str<'a>>,
    /// The workspace it belongs to.
    pub workspace_id: Option<Str<'a>>,
    /// The connection it came over.
    pub channel: Channel,
    /// The event.
    pub event: Event<'a>,
}

impl<'a> Envelope<'a> {
    /// An envelope that says nothing but its event, on the channel of a turn.
    #[must_use]
    pub fn new(event: impl Into<Event<'a>>) -> Self {
        Self {
            seq: None,
            epoch: None,
            ts_ms: None,
            turn_id: None,
            session_id: None,
            workspace_id: None,
            channel: Channel::Turn,
            event: event.into(),
        }
    }

    /// The same envelope, owning its text.
    #[must_use]
    pub fn into_owned(self) -> Envelope<'static> {
        let own = |s: Option<Str<'_>>| s.map(|s| Str::Owned(s.into_owned()));
        Envelope {
            seq: self.seq,
            epoch: own(self.epoch),
            ts_ms: self.ts_ms,
            turn_id: own(self.turn_id),
            session_id: own(self.session_id),
            workspace_id: own(self.workspace_id),
            channel: self.channel,
            event: self.event.into_owned(),
        }
    }
}
