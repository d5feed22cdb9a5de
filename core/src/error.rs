//! What can go wrong: one catalogue of stable codes, errors for calls, diagnostics for streams.
//!
//! A wrong *call* returns a [`CallerError`] and changes nothing. Odd *input* from a peer, and what a
//! race makes normal, becomes a [`Diagnostic`] beside the output and costs only the part it
//! concerns. A panic is always our bug.

use alloc::boxed::Box;
use alloc::collections::VecDeque;
use core::fmt;

use crate::limits::{DIAGNOSTIC_DETAIL_MAX_BYTES, DIAGNOSTICS_MAX};
use crate::text::head_bytes;

/// Who is at fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Fault {
    /// The program that called: a mistake in its code, or a call that came too late.
    Caller,
    /// The peer whose bytes were read.
    Stream,
    /// Nobody: a configured bound was reached.
    Limit,
}

impl Fault {
    /// `"caller"`, `"stream"` or `"limit"`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Caller => "caller",
            Self::Stream => "stream",
            Self::Limit => "limit",
        }
    }
}

macro_rules! codes {
    ($($variant:ident $code:literal $fault:ident $message:literal,)*) => {
        /// A stable code. Codes are never reused with another meaning; see [`Code::ALL`].
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum Code {
            $(#[doc = concat!("`", $code, "`: ", $message, ".")] $variant,)*
        }

        impl Code {
            /// The catalogue.
            pub const ALL: &'static [Code] = &[$(Code::$variant,)*];

            /// The code as the bindings give it.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $code,)* }
            }

            /// Who is at fault.
            #[must_use]
            pub const fn fault(self) -> Fault {
                match self { $(Self::$variant => Fault::$fault,)* }
            }

            /// One sentence without its full stop.
            #[must_use]
            pub const fn message(self) -> &'static str {
                match self { $(Self::$variant => $message,)* }
            }
        }
    };
}

codes! {
    // Calls.
    UnknownDialect "unknown_dialect" Caller "no dialect has this name",
    UnknownChannel "unknown_channel" Caller "the dialect has no such channel",
    BadOption "bad_option" Caller "an option is outside its range",
    BadField "bad_field" Caller "a name or id holds a line end or NUL, or is too long",
    BadJson "bad_json_argument" Caller "a value that must be JSON text is not",
    NotStarted "not_started" Caller "the turn has not been started",
    AlreadyStarted "already_started" Caller "the turn was started before",
    OutOfOrder "out_of_order" Caller "this event is not legal at this point of the turn",
    DuplicateId "duplicate_id" Caller "something with this id is already open",
    UnknownId "unknown_id" Caller "nothing with this id is known",
    AlreadySettled "already_settled" Caller "this id was settled before",
    AfterTerminal "after_terminal" Caller "the turn has ended",
    LateArgs "late_args" Caller "argument text came after the arguments were complete",
    Busy "busy" Caller "a turn is running",
    BlankPrompt "blank_prompt" Caller "the prompt is blank",
    PromptTooLong "prompt_too_long" Caller "the prompt has too many characters",
    NoRoute "no_route" Caller "the dialect has no request for this",
    NotFinished "not_finished" Caller "the turn has not ended",
    NoJsonForm "no_json_form" Caller "the dialect has no JSON answer",
    BadSnapshot "bad_snapshot" Caller "these bytes are no snapshot of this version",
    StoreFailed "store_failed" Caller "the store of the log has failed",
    BadEntry "bad_log_entry" Caller "an entry of the log is no event, and was skipped",
    BadSession "bad_session_entry" Caller "an entry of the session was skipped",
    BadResult "bad_tool_output" Caller "a tool output that cannot be read as JSON was taken as text",

    // Streams.
    InvalidUtf8 "invalid_utf8" Stream "bytes that are not UTF-8 became U+FFFD",
    TruncatedTail "truncated_tail" Stream "the input ended inside a frame, which was dropped",
    BadStreamJson "bad_json" Stream "a frame is not valid JSON",
    NotAnObject "not_an_object" Stream "a frame is JSON, but not an object",
    UnknownEvent "unknown_event" Stream "a frame of an unknown type was skipped",
    WrongType "wrong_type" Stream "a field has the wrong JSON type and was ignored",
    MissingField "missing_field" Stream "a frame lacks a field that it needs",
    DoneSentinel "done_sentinel" Stream "a frame that only marks the end was skipped",
    LoneSurrogate "lone_surrogate" Stream "half of a surrogate pair became U+FFFD",
    OddTimestamp "ts_unit" Stream "a time stamp is not in Unix milliseconds",
    BadRetry "bad_retry" Stream "a retry field is not a number of milliseconds",
    EndedWithoutTerminal "ended_without_terminal" Stream "the stream ended before the turn did",
    LateEvent "late_event" Stream "an event of a turn that has ended was ignored",
    ForeignSession "foreign_session" Stream "an event of another session was ignored",
    DuplicateSeq "duplicate_seq" Stream "a repeated event was ignored",
    OrphanResult "orphan_result" Stream "a result has no call that it could belong to",
    DuplicateResult "duplicate_result" Stream "a second result of one call was ignored",
    IllegalOrder "illegal_order" Stream "an event came where the order of a turn does not allow it",
    ParentUnknown "unknown_parent" Stream "an event names a call that is not known",

    // Bounds.
    EventTooLarge "event_too_large" Limit "an event over the bound was skipped",
    TooManyWaiting "too_many_waiting" Limit "too many entries wait for the store",
    IdTooLong "id_too_long" Limit "an id over the bound was ignored",
    TooManyOpen "too_many_open" Limit "too many calls are open at once",
    DoneTextLeftOut "done_text_left_out" Limit "the final text is over the bound and was left out",
    DoneTraceCut "done_trace_cut" Limit "the tool trace of the end is over the bound and was cut",
    SettledUnread "settled_unread" Limit "nobody asked for what was settled, and the oldest was forgotten",
    NestedTooDeep "nested_too_deep" Limit "a JSON value is nested too deep",
}

/// A call that was refused. The object is unchanged and stays usable.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}{}", .code.message(), Suffix(.detail.as_deref()))]
#[non_exhaustive]
pub struct CallerError {
    /// What was wrong.
    pub code: Code,
    /// Where, as a byte offset or event number, if that means anything here.
    pub at: Option<u64>,
    /// What helps to find the mistake: the name of an option, an id, a dialect.
    pub detail: Option<Box<str>>,
    /// How the thing was settled, for [`Code::AlreadySettled`].
    pub outcome: Option<&'static str>,
}

impl CallerError {
    /// An error with this code and nothing else.
    #[must_use]
    pub const fn new(code: Code) -> Self {
        Self { code, at: None, detail: None, outcome: None }
    }

    /// Adds what helps to find the mistake, shortened to 160 bytes.
    #[must_use]
    pub fn with(mut self, detail: &str) -> Self {
        self.detail = Some(head_bytes(detail, DIAGNOSTIC_DETAIL_MAX_BYTES).into());
        self
    }

    /// Adds how the thing was settled before.
    #[must_use]
    pub const fn settled_as(mut self, outcome: &'static str) -> Self {
        self.outcome = Some(outcome);
        self
    }

    /// Who is at fault.
    #[must_use]
    pub const fn fault(&self) -> Fault {
        self.code.fault()
    }
}

impl From<Code> for CallerError {
    fn from(code: Code) -> Self {
        Self::new(code)
    }
}

struct Suffix<'a>(Option<&'a str>);

impl fmt::Display for Suffix<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(detail) => write!(f, ": {detail}"),
            None => Ok(()),
        }
    }
}

/// Something odd that cost only the part it concerns.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Diagnostic {
    /// What was odd.
    pub code: Code,
    /// Where: the byte offset of a frame in its stream, or the number of an event.
    pub at: u64,
    /// What helps: the name of a field, an id, the start of a text.
    pub detail: Option<Box<str>>,
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let detail = Suffix(self.detail.as_deref());
        write!(f, "{} at {}{detail}", self.code.message(), self.at)
    }
}

/// The undrained diagnostics of one machine: the first 64, then a count.
///
/// ```
/// use turnwire::error::{Code, Diagnostics};
/// let mut list = Diagnostics::default();
/// for at in 0..100 {
///     list.push(Code::BadStreamJson, at);
/// }
/// assert_eq!((list.drain().count(), list.take_dropped()), (64, 36));
/// ```
#[derive(Clone, Debug, Default)]
pub struct Diagnostics {
    list: VecDeque<Diagnostic>,
    dropped: u64,
}

impl Diagnostics {
    /// Notes `code` at `at`.
    pub fn push(&mut self, code: Code, at: u64) {
        self.note(code, at, None);
    }

    /// Notes `code` at `at`, with the start of `detail` (at most 160 bytes).
    pub fn push_with(&mut self, code: Code, at: u64, detail: &str) {
        self.note(code, at, Some(detail));
    }

    /// Adds what another machine noted, in its order.
    pub fn absorb(&mut self, other: &mut Self) {
        self.dropped = self.dropped.saturating_add(core::mem::take(&mut other.dropped));
        while let Some(diagnostic) = other.list.pop_front() {
            self.keep(diagnostic);
        }
    }

    /// Whether there is nothing to read.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.list.is_empty() && self.dropped == 0
    }

    /// Takes what is kept, oldest first.
    pub fn drain(&mut self) -> impl Iterator<Item = Diagnostic> + '_ {
        self.list.drain(..)
    }

    /// How many were not kept since last asked.
    pub fn take_dropped(&mut self) -> u64 {
        core::mem::take(&mut self.dropped)
    }

    fn note(&mut self, code: Code, at: u64, detail: Option<&str>) {
        if self.list.len() < DIAGNOSTICS_MAX {
            let detail = detail.map(|d| head_bytes(d, DIAGNOSTIC_DETAIL_MAX_BYTES).into());
            self.list.push_back(Diagnostic { code, at, detail });
        } else {
            self.dropped = self.dropped.saturating_add(1);
        }
    }

    fn keep(&mut self, diagnostic: Diagnostic) {
        if self.list.len() < DIAGNOSTICS_MAX {
            self.list.push_back(diagnostic);
        } else {
            self.dropped = self.dropped.saturating_add(1);
        }
    }
}
