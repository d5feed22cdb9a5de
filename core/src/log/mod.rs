//! The log of a session: persist, then emit; replay, then live; each stored entry exactly once.
//!
//! Entries are of any type. An entry gets the next number when it is appended, and may be given to
//! readers only when the store has it. Readers are cursors into one ring, not queues: what a reader
//! has not polled costs nothing, so a server whose socket is full simply does not poll it.
//!
//! ```
//! use turnwire::log::{Log, LogOptions, Record, Start};
//!
//! let mut log: Log<Vec<u8>> = Log::new(LogOptions::new("e1"))?;
//! let reader = log.subscribe(Start::Beginning);
//! let seq = log.append(b"hello".to_vec(), false)?;
//! assert!(log.poll_reader(reader).is_none(), "it is not stored yet");
//! assert!(matches!(log.poll_store(), Some((1, _))));
//! log.handle_persisted(seq);
//! let Some(Record::Deliver { seq: Some(1), entry, prime: false }) = log.poll_reader(reader) else {
//!     panic!("now it may be given");
//! };
//! assert_eq!(entry, b"hello");
//! # Ok::<(), turnwire::error::CallerError>(())
//! ```

mod machine;
mod ring;
mod subscriber;

pub use machine::{Log, LogOptions, ReaderId, Record};
pub use ring::Weigh;
pub use subscriber::{CloseReason, ResyncReason, Start};
