//! What dialects differ in, as data. Each dialect's file holds one `const RULES`; the emitter, the
//! checker and the fold receive it and never name a dialect.

/// How a result finds the call that it belongs to (X7).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(clippy::exhaustive_enums, reason = "the fold matches every rule")]
pub enum Pairing {
    /// By id where both sides carry one, else the most recent running call of that name
    /// (`agent` 11, A4).
    IdThenLastOfName,
    /// By id alone.
    Id,
    /// The oldest open call of that name (`run` 4, A6).
    FifoOfName,
}

/// Where a result goes whose call is not in the open card.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(clippy::exhaustive_enums, reason = "the fold matches every rule")]
pub enum Orphan {
    /// Into a new card, as a finished item (`agent` 7).
    NewCard,
    /// To its call in an earlier card, looked up by id; failing that, into a new card.
    FindThenNewCard,
}

/// How authoritative text meets the rows that deltas made (X2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(clippy::exhaustive_enums, reason = "the fold matches every rule")]
pub enum Authoritative {
    /// Only the open tail is rewritten, and only if the text begins with what is closed
    /// (`agent` 7, `done`).
    OpenTail,
    /// The rows of the segment that the text speaks of are rewritten in place.
    PatchSegment,
}

/// What the end of the input means before a terminal event (X3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(clippy::exhaustive_enums, reason = "the fold matches every rule")]
pub enum Eof {
    /// Text was gathered: finished; none: empty (`agent` 1).
    Agent,
    /// The turn is lost.
    Lost,
    /// The channel watches: nothing is said of the turn, and the connection is made again.
    NotATurn,
}

/// Whether the dialect has a second channel that repeats what the first says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(clippy::exhaustive_enums, reason = "the fold matches every rule")]
pub enum SideChannel {
    /// It has none.
    None,
    /// It has one, to be ignored while a turn of this host runs (seed of `chat`).
    MutedWhileBusy,
}

/// What a reader does that is told it has missed something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(clippy::exhaustive_enums, reason = "the fold matches every rule")]
pub enum OnResync {
    /// The log comes again from its start, or from its oldest entry: after an epoch or a cursor
    /// that is not the log's, rows are made anew; else what is missing is said (`workspace`).
    Rebuild,
    /// The turn that runs comes again from its start, in the place of what is shown of it
    /// (`run` 4, A1, A3).
    Turn,
    /// The session is loaded, once no turn runs (`chat` 3; `chat` 6, A2, A3).
    Load,
}

/// How bad the checker finds something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[allow(clippy::exhaustive_enums, reason = "three degrees, named by the design")]
pub enum Severity {
    /// The dialect allows it.
    Allowed,
    /// Readers cope, but a writer should not do it.
    Warning,
    /// It breaks the protocol.
    Error,
}

/// What the checker thinks of the ways in which a stream can be out of order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Severities {
    /// An event before `turn_started`.
    pub before_start: Severity,
    /// A result, output or argument without a call that is open.
    pub orphan: Severity,
    /// A terminal while calls, questions, approvals or plans are open.
    pub open_at_end: Severity,
    /// The end of the stream before a terminal.
    pub no_terminal: Severity,
}

/// Everything that the machines need to know of a dialect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Rules {
    /// How a result finds its call.
    pub pairing: Pairing,
    /// Where an orphan result goes.
    pub orphan: Orphan,
    /// How authoritative text meets rows.
    pub authoritative: Authoritative,
    /// What EOF means on the channel of a turn.
    pub eof_turn: Eof,
    /// What EOF means on the channel that watches.
    pub eof_events: Eof,
    /// Whether a second channel repeats the first.
    pub side_channel: SideChannel,
    /// What a resync leads to.
    pub resync: OnResync,
    /// Whether a question stays answerable after the turn's end (X4, `respond`).
    pub question_outlives_turn: bool,
    /// Whether a card keeps its count of unfinished items after the turn's end (X4, `agent`).
    pub keep_pending_on_end: bool,
    /// Whether every call needs an id, so that the emitter makes one where the caller gave none.
    pub makes_call_ids: bool,
    /// Whether `error` and `cancelled` are followed by a trailer that readers wait for.
    pub trailer: bool,
    /// What the checker thinks of a stream out of order.
    pub severities: Severities,
}

impl Rules {
    /// Those of a stream of the vocabulary itself, as an emitter makes it for a log: everything
    /// is paired by id and nothing may be missing.
    pub const CANONICAL: Self = Self {
        pairing: Pairing::IdThenLastOfName,
        orphan: Orphan::FindThenNewCard,
        authoritative: Authoritative::PatchSegment,
        eof_turn: Eof::Lost,
        eof_events: Eof::NotATurn,
        side_channel: SideChannel::None,
        resync: OnResync::Rebuild,
        question_outlives_turn: false,
        keep_pending_on_end: false,
        makes_call_ids: true,
        trailer: true,
        severities: Severities {
            before_start: Severity::Error,
            orphan: Severity::Error,
            open_at_end: Severity::Error,
            no_terminal: Severity::Error,
        },
    };
}
