//! Every bound, with its unit in its name, its reason and its source.
//!
//! *Characters* are Unicode scalar values, *bytes* are UTF-8 bytes. No cut falls inside a scalar
//! value, and no cut is silent: each is marked in the words of the seed where it has some.

/// Line and event of a decoded stream together, by default. A `done` of the largest text that an
/// emitter sends (see [`DONE_TEXT_MAX_ESCAPED_BYTES`]) fits with room for its other fields.
pub const EVENT_MAX_BYTES: usize = 16 << 20;

/// Smallest accepted value for the bound of a decoder: a frame's own syntax must fit.
pub const EVENT_MAX_BYTES_FLOOR: usize = 64;

/// Nesting of one JSON value, in levels. Real payloads stay below a dozen; the bound keeps what a
/// peer of nothing but brackets can make the reader remember at 512 bytes (`wire::json`).
pub const JSON_DEPTH_MAX_LEVELS: usize = 4096;

/// Nesting of what an event sets in the panel, in levels. A snapshot holds it some levels down in
/// JSON that its reader takes 128 levels of.
pub const PANEL_DEPTH_MAX_LEVELS: usize = 64;

/// Buffer of a decoder that is kept between events whatever they need, in bytes. Above it, room
/// that a large event left behind is given back (design, rule 9).
pub const CARRY_KEEP_BYTES: usize = 64 << 10;

/// Escaped text a `done` may carry; past it the text is left out with a diagnostic, so that no
/// frame outgrows a decoder (design, Endings).
pub const DONE_TEXT_MAX_ESCAPED_BYTES: usize = 8 << 20;

/// Escaped text of one `message`: what was streamed past it is covered by another, so that the
/// frame of one fits a decoder with room to spare.
pub const MESSAGE_MAX_ESCAPED_BYTES: usize = 4 << 20;

/// Escaped text of one delta or piece of live output; a longer one is given in several.
pub const DELTA_MAX_ESCAPED_BYTES: usize = 1 << 20;

/// Escaped bytes of a tool's whole output in its result. What a model reads is a tenth of it, and
/// a card shows [`CARD_DETAIL_BUDGET_BYTES`]; past it head and tail stay (fault 15).
pub const TOOL_OUTPUT_MAX_ESCAPED_BYTES: usize = 1 << 20;

/// Bytes of an event's JSON that a caller gives whole: arguments, a plan, a list. A dialect's
/// frame of it takes at most twice as much, since U+2028 alone doubles.
pub const EVENT_GIVEN_MAX_BYTES: usize = 4 << 20;

/// Escaped bytes of the tool trace in `done`: some ten thousand tools.
pub const DONE_TRACE_MAX_ESCAPED_BYTES: usize = 2 << 20;

/// Bytes of one name, id or word. Some providers hide state in ids of kilobytes.
pub const NAME_MAX_BYTES: usize = 65_536;

/// Bytes of a usage object: some dozen numbers by name.
pub const USAGE_MAX_BYTES: usize = 65_536;

/// Numbers by name that the sum of a turn's usage keeps, for providers that name them anew in
/// every step.
pub const USAGE_FIELDS_MAX: usize = 256;

/// Characters of what an error or a cancel says; a host shows [`TURN_END_DETAIL_MAX_CHARS`].
pub const ENDING_TEXT_MAX_CHARS: usize = 100_000;

/// How long a question waits for its answer unless its asker says otherwise, in milliseconds
/// (`chat` 4).
pub const QUESTION_TIMEOUT_MS: u64 = 60_000;

/// Settled questions, approvals and plans that wait to be asked for. The end of a turn can settle
/// as many as may be open of the first two, and the plan; a reader who asks after every call never
/// meets the bound.
pub const SETTLED_UNREAD_MAX: usize = 2 * OPEN_CALLS_MAX + 1;

/// Undrained diagnostics that one machine keeps; what comes after is counted (design, rule 8).
pub const DIAGNOSTICS_MAX: usize = 64;

/// Bytes of somebody's text that a diagnostic's `detail` quotes.
pub const DIAGNOSTIC_DETAIL_MAX_BYTES: usize = 160;

/// An event id, in bytes (design, The log).
pub const EVENT_ID_MAX_BYTES: usize = 128;

/// A turn's first number is below this: larger ones are not exact in JavaScript, and those that
/// follow must not run out.
pub const FIRST_SEQ_END: u64 = 1 << 53;

/// One message row of the ring, in bytes (`agent` 6, decision A1).
pub const ROW_MAX_BYTES: usize = 262_144;

/// Rows that the ring keeps (`agent` 6).
pub const RING_ROWS: usize = 2048;

/// Rows that one *load earlier* adds (`agent` 6).
pub const LOAD_EARLIER_ROWS: usize = 512;

/// Items of one tool card (`agent` 5).
pub const CARD_ITEMS_MAX: usize = 200;

/// Escaped bytes of all details of one card; 32,768 bytes stay for the rest (`agent` 5).
pub const CARD_DETAIL_BUDGET_BYTES: usize = 229_376;

/// Characters of an item's brief, before the `…` (`agent` 5).
pub const CARD_BRIEF_MAX_CHARS: usize = 64;

/// Escaped bytes of a tool's name in a card. 200 names of this length, with the longest briefs, fit
/// into one row with every detail empty (`agent` 5, decision A2).
pub const CARD_NAME_MAX_ESCAPED_BYTES: usize = 1000;

/// Live output that waits for the start of its tool, in bytes of all tools together (`workspace`,
/// decision A30): what one card could show of it.
pub const EARLY_OUTPUT_MAX_BYTES: usize = CARD_DETAIL_BUDGET_BYTES;

/// Calls whose early output is kept (`workspace`, decision A30).
pub const EARLY_OUTPUT_MAX_CALLS: usize = 64;

/// How far before a row's end a line end is looked for when text goes on in a new row, in bytes
/// (X11).
pub const ROW_CUT_LINE_BYTES: usize = 4096;

/// Characters of the detail in a turn-end line. A failure's text is one line in the transcript.
pub const TURN_END_DETAIL_MAX_CHARS: usize = 2000;

/// Ended turns whose late events a host knows again. One host shows one turn after another; what
/// comes later than this many turns is a peer's mistake.
pub const ENDED_TURNS_MAX: usize = 64;

/// Epochs of which a host remembers the last number, to drop repeats.
pub const EPOCHS_MAX: usize = 8;

/// Smallest and largest stamp that is believed to be Unix milliseconds: the years 1973 to 5138.
/// Seconds and nanoseconds of today lie outside.
pub const STAMP_MIN_MS: u64 = 100_000_000_000;
/// See [`STAMP_MIN_MS`].
pub const STAMP_MAX_MS: u64 = 100_000_000_000_000;

/// Characters of a tool's summary line, name and status included (`agent` 3).
pub const SUMMARY_MAX_CHARS: usize = 320;

/// Characters of a tool's preview (`agent` 4).
pub const PREVIEW_MAX_CHARS: usize = 100_000;

/// Lines that a preview keeps from the start of a long output (`agent` 4).
pub const PREVIEW_HEAD_LINES: usize = 40;

/// Lines that a preview keeps from the end of a long output (`agent` 4).
pub const PREVIEW_TAIL_LINES: usize = 10;

/// Silence after which a keepalive is due, in milliseconds (`server`, Silence; seeds of `respond`
/// and `workspace`).
pub const KEEPALIVE_MS: u64 = 15_000;

/// Characters of a prompt after trimming (`server`, Bodies).
pub const PROMPT_MAX_CHARS: usize = 100_000;

/// Bytes of a request body, by default (`server`, Bodies).
pub const BODY_MAX_BYTES: usize = 1 << 20;

/// Session rows that the history fold looks at (`agent` 9).
pub const HISTORY_MAX_ROWS: usize = 400;

/// Characters that the history fold keeps (`agent` 9).
pub const HISTORY_MAX_CHARS: usize = 3_500_000;

/// Characters at the front of a cut history within which a partial line is dropped (`agent` 9).
pub const HISTORY_PARTIAL_LINE_CHARS: usize = 240;

/// Attempts to reconnect in a row before a watching connection counts as lost (design, Channels).
pub const RECONNECT_TRIES_MAX: u32 = 8;

/// First delay before a reconnect, in milliseconds, where the stream named none.
pub const RECONNECT_BASE_MS: u64 = 500;

/// Longest delay before a reconnect that growth leads to, in milliseconds.
pub const RECONNECT_CAP_MS: u64 = 10_000;

/// Part of a reconnect's delay that may be added to it, in percent, so that the clients of a server
/// that restarts do not all return in the same moment.
pub const RECONNECT_JITTER_PERCENT: u64 = 20;

/// Longest `retry:` that is believed, in milliseconds: a day.
pub const RETRY_MAX_MS: u64 = 86_400_000;

/// Tool calls that one turn may have open at once. A turn is one answer of one model; a peer that
/// opens more is broken or hostile.
pub const OPEN_CALLS_MAX: usize = 1024;

/// Steps of one turn whose preview waits for its message (`run` 4, A4): all of them, since messages
/// may come at the end. A turn has a few dozen.
pub const STEPS_PREVIEWED_MAX: usize = 1024;

/// Names in a usage that is summed over the steps of a turn. Providers have about a dozen.
pub const USAGE_NAMES_MAX: usize = 64;

/// Settled ids of one kind (calls, questions, …) that a turn remembers, so that a second result is
/// told from one without a call. Older ones are forgotten.
pub const SETTLED_IDS_MAX: usize = 1024;

/// Bytes of the ids that [`SETTLED_IDS_MAX`] counts: some providers hide state in ids of kilobytes.
pub const SETTLED_IDS_MAX_BYTES: usize = 65_536;

/// Characters of a directory's names in a summary; with more they are left out (`agent` 3).
pub const SUMMARY_NAMES_MAX_CHARS: usize = 72;

/// Characters of a URL in a summary, and what is kept of a longer one before its `…` (`agent` 3).
pub const SUMMARY_URL_MAX_CHARS: usize = 56;

/// See [`SUMMARY_URL_MAX_CHARS`].
pub const SUMMARY_URL_KEPT_CHARS: usize = 53;

/// Characters of one line of output that a summary shows whole (`agent` 3).
pub const SUMMARY_WHOLE_MAX_CHARS: usize = 100;

/// Characters of an output's first line in a summary, before its `…` (`agent` 3).
pub const SUMMARY_FIRST_LINE_MAX_CHARS: usize = 72;

/// Characters of a failed command's first error line in a summary (`agent` 3).
pub const SUMMARY_STDERR_MAX_CHARS: usize = 48;

/// Lists within lists that a tool's JSON output is flattened through; what is deeper is no output
/// that anybody reads, and is taken as text.
pub const FLATTEN_DEPTH_MAX: usize = 128;

/// Stored entries that a log keeps, by default (`chat` 3).
pub const LOG_CAPACITY_ENTRIES: usize = 500;

/// Bytes of stored entries that a log keeps, by default: a long turn with its tool results.
pub const LOG_MAX_BYTES: usize = 64 << 20;

/// Entries that may wait for the store. A store this far behind has stopped.
pub const LOG_WAITING_MAX_ENTRIES: u64 = 4096;

/// Entries of one fetch from the store: what one reader may make a server hold.
pub const LOG_FETCH_MAX_ENTRIES: usize = 256;

/// Anchors that a log remembers, so that a reader far behind is primed from the start of its turn
/// and not from the first.
pub const LOG_ANCHORS_MAX: usize = 4096;
/// Silence after which a dialog of `chat` times out, in milliseconds (seed of `chat`).
pub const DIALOG_TIMEOUT_MS: u64 = 60_000;

/// Tool parts that the final message of `chat` repeats, in bytes; past it the message is left empty
/// and readers keep what they gathered. With the longest text they fit into one frame.
pub const DONE_PARTS_MAX_BYTES: usize = 4 << 20;

/// Bytes of one call's id and name that a decoder remembers while the call is open; a longer one is
/// read all the same, but what only the memory of it could tell is not. Some providers hide state
/// in ids of kilobytes.
pub const KEPT_CALL_MAX_BYTES: usize = 4096;
/// Encoded frames that are shared by the readers of a dialect: those near the head, where readers
/// are. One further behind encodes for itself until it has caught up.
pub const FANOUT_KEPT_FRAMES: usize = 1024;
