//! What a wire says around an event.

use alloc::borrow::Cow;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{Event, Str};

/// Which of a dialect's two connections something came over, or is meant for.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize,
)]
#[serde(rename_all = "snake_case")]
#[allow(clippy::exhaustive_enums, reason = "a dialect has one or both of these, no third")]
pub enum Channel {
    /// The answer to the request that started the turn.
    #[default]
    Turn,
    /// A stream that watches a session.
    Events,
}

impl Channel {
    /// Whether it is the one that envelopes leave unsaid.
    const fn is_default(&self) -> bool {
        matches!(self, Self::Turn)
    }

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
///
/// As JSON it is the event's object with the envelope's keys beside the event's own; an id that
/// both name stands there once.
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

/// The JSON form.
#[derive(Serialize, Deserialize)]
struct Flat<'e, E> {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    seq: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    epoch: Option<Cow<'e, str>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    ts_ms: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    turn_id: Option<Cow<'e, str>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    session_id: Option<Cow<'e, str>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    workspace_id: Option<Cow<'e, str>>,
    #[serde(default, skip_serializing_if = "Channel::is_default")]
    channel: Channel,
    #[serde(flatten)]
    event: E,
}

impl Serialize for Envelope<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (mut turn, mut session, mut workspace) = (false, false, false);
        match &self.event {
            Event::TurnStarted(start) => {
                turn = start.turn_id.is_some();
                session = start.session_id.is_some();
                workspace = start.workspace_id.is_some();
            }
            Event::SubagentStarted(start) => session = start.session_id.is_some(),
            _ => {}
        }
        let unless = |said: bool, id: &Option<Str<'_>>| {
            id.as_deref().filter(|_| !said).map(|id| Cow::Owned(id.into()))
        };
        let flat = Flat {
            seq: self.seq,
            epoch: unless(false, &self.epoch),
            ts_ms: self.ts_ms,
            turn_id: unless(turn, &self.turn_id),
            session_id: unless(session, &self.session_id),
            workspace_id: unless(workspace, &self.workspace_id),
            channel: self.channel,
            event: &self.event,
        };
        flat.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Envelope<'_> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let flat = Flat::<Event<'static>>::deserialize(deserializer)?;
        let mut event = flat.event;
        let copy = |id: &Option<Str<'_>>| id.as_deref().map(|id| Str::Owned(id.into()));
        match &mut event {
            Event::TurnStarted(start) => {
                start.turn_id = copy(&flat.turn_id);
                start.session_id = copy(&flat.session_id);
                start.workspace_id = copy(&flat.workspace_id);
            }
            // The session that a subagent's start names is that of the subagent.
            Event::SubagentStarted(start) => start.session_id = copy(&flat.session_id),
            _ => {}
        }
        let own = |id: Option<Str<'_>>| id.map(|id| Str::Owned(id.into_owned()));
        Ok(Self {
            seq: flat.seq,
            epoch: own(flat.epoch),
            ts_ms: flat.ts_ms,
            turn_id: own(flat.turn_id),
            session_id: own(flat.session_id),
            workspace_id: own(flat.workspace_id),
            channel: flat.channel,
            event,
        })
    }
}

impl<'a> Envelope<'a> {
    /// An envelope that says nothing but its event, on the channel of a turn.
    #[inline]
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
