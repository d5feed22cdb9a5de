//! The server's machine over one session: its turn, its log, its readers.
//!
//! A server moves bytes and calls its store; everything else is here. Events of the turn go into the
//! log; what the store has is encoded once for each dialect in use and given to every reader of it,
//! from wherever that reader comes.
//!
//! ```
//! use turnwire::dialect::Dialect;
//! use turnwire::event::TurnStarted;
//! use turnwire::session::{Attach, Session, SessionOptions};
//! use turnwire::time::Millis;
//! use turnwire::turn::Finish;
//!
//! let now = Millis(0);
//! let mut session = Session::new(SessionOptions::new("s1", "e1"))?;
//! let reader = session.attach(now, Dialect::WORKSPACE, Attach::default())?;
//! let turn_id = session.start_turn(now, TurnStarted::new())?;
//! session.say(now, |turn, sink| turn.text("Hi", sink))?;
//! session.say(now, |turn, sink| turn.finish(Finish::default(), sink))?;
//!
//! // The server: store what is new, then let readers have it.
//! let mut newest = 0;
//! while let Some((seq, entry)) = session.poll_store() {
//!     assert!(entry.starts_with(b"{\"seq\":"));
//!     newest = seq;
//! }
//! session.handle_persisted(newest);
//! let mut bytes = Vec::new();
//! session.poll_reader(now, reader, usize::MAX, &mut bytes);
//! let text = String::from_utf8(bytes).expect("JSON is text");
//! assert!(text.contains("\"type\":\"hop\"") && text.contains(&turn_id));
//! assert!(text.ends_with("id: e1-4\n\n"));
//! # Ok::<(), turnwire::error::CallerError>(())
//! ```

mod fanout;
mod machine;
mod reader;
mod restart;

pub use machine::{Session, SessionOptions};
pub use reader::{Attach, Polled};
