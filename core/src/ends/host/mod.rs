//! The reader's end: the bytes of a stream in, the rows of a transcript and ops out.

mod conn;
mod options;
mod side;
mod snapshot;
mod verbs;

use alloc::borrow::Cow;
use alloc::string::String;
use alloc::vec::Vec;

use serde_json::{Value, json};

use self::conn::{Body, Conn};
pub use self::options::HostOptions;
use self::side::Side;
use crate::dialect::{Answer, Dialect, Role};
use crate::error::{CallerError, Diagnostics};
use crate::event::Channel;
use crate::host::{Failure, Fold, Lifecycle, Op, Outcome, Request, Rows};
use crate::link::{Advice, Link};
use crate::time::{Clock, Millis, TimeoutReason};

/// What takes the ops of a call, in order, each lent.
pub type OpSink<'s> = dyn FnMut(Op<'_>) + 's;

/// One reader of one session: folds what a server streams, and says which requests to make.
///
/// Every call gives its ops to a sink before it returns; there is nothing else to drain. Then wait
/// for [`poll_timeout`](Self::poll_timeout). Bytes, ends and failures of a connection come in by
/// the channel that its request named; without one, that is the channel that streams a turn. They
/// are those of the channel's last request: of one that was aborted, report nothing once the channel
/// has another.
///
/// | class | methods |
/// |---|---|
/// | what the user does | [`submit`](Self::submit), [`answer`](Self::answer), [`resolve_approval`](Self::resolve_approval), [`resolve_plan`](Self::resolve_plan), [`stop`](Self::stop), [`detach`](Self::detach), [`expand`](Self::expand), [`collapse`](Self::collapse), [`load_earlier`](Self::load_earlier) |
/// | what happens to its connections | [`response`](Self::response), [`feed`](Self::feed), [`finish`](Self::finish), [`fail`](Self::fail), [`handle_timeout`](Self::handle_timeout) |
/// | what there is | [`rows`](Self::rows), [`view`](Self::view), [`text`](Self::text), [`lifecycle`](Self::lifecycle), [`outcome`](Self::outcome), [`session`](Self::session) |
///
/// ```
/// use turnwire::dialect::Dialect;
/// use turnwire::time::Millis;
/// use turnwire::{Host, HostOptions};
///
/// let mut host = Host::new(Dialect::AGENT, HostOptions::default())?;
/// let (now, mut ops) = (Millis(0), Vec::new());
/// host.submit(now, "Hello?", None, &[], &mut |op| ops.push(op.name()))?;
/// assert_eq!(ops, ["lifecycle", "push", "store", "lifecycle", "request"]);
///
/// host.response(now, 200, "text/event-stream", None, None, &mut |_| {})?;
/// let bytes = b"data: {\"type\":\"text_delta\",\"text\":\"Hi\"}\n\ndata: {\"type\":\"done\"}\n\n";
/// host.feed(now, bytes, None, &mut |_| {})?;
/// host.finish(now, None, &mut |_| {})?;
/// let rows: Vec<_> = host.rows().iter().map(|row| row.text.as_str()).collect();
/// assert_eq!(rows, ["Hello?", "Hi", "Turn ended · model finished"]);
/// # Ok::<(), turnwire::error::CallerError>(())
/// ```
pub struct Host {
    dialect: Dialect,
    options: HostOptions,
    clock: Clock,
    fold: Fold,
    /// The answer to the request that starts turns.
    turn: Option<Conn>,
    /// The stream that watches the session.
    watch: Option<Conn>,
    /// Requests beside the streams, oldest first.
    sides: Vec<Side>,
    /// What the turn that was submitted last answers, in a dialect without a route for it.
    said_by_turn: Option<crate::event::Event<'static>>,
    /// The stream that watches was open before.
    watched: bool,
    link: Link,
    requests: u64,
    waiting: Vec<Pending>,
    diagnostics: Diagnostics,
}

/// An op that the connections need; they come after those of the rows.
enum Pending {
    Request(Request),
    Abort(u64),
    Closed(Channel, &'static str),
}

impl Host {
    /// The rows, oldest first.
    #[must_use]
    pub const fn rows(&self) -> Rows<'_> {
        self.fold.rows()
    }

    /// A row's text; of a card, its encoded body, made on this call.
    #[must_use]
    pub fn row_text(&self, row_id: u64) -> Option<Cow<'_, str>> {
        self.fold.row_text(row_id)
    }

    /// The text of the turn that runs, else of the last one.
    #[must_use]
    pub fn text(&self) -> String {
        self.fold.text()
    }

    /// Where the host is.
    #[must_use]
    pub const fn lifecycle(&self) -> Lifecycle {
        self.fold.lifecycle()
    }

    /// How the last turn ended.
    #[must_use]
    pub const fn outcome(&self) -> Option<&Outcome> {
        self.fold.outcome()
    }

    /// The working directory, relative to the workspace.
    #[must_use]
    pub fn cwd(&self) -> Option<&str> {
        self.fold.cwd()
    }

    /// What is no row, by name: title, phase, context, queue, connection, …
    #[must_use]
    pub const fn state(&self) -> &alloc::collections::BTreeMap<String, Value> {
        self.fold.state()
    }

    /// All that is painted; a late painter starts here and goes on with the ops.
    #[must_use]
    pub fn view(&self) -> Value {
        self.fold.view()
    }

    /// The session, for a store: `{id, messages, updatedAt, cwd?}`.
    #[must_use]
    pub fn session(&self) -> Value {
        self.fold.session()
    }

    /// The session and a new prompt as one text (`agent` 9).
    #[must_use]
    pub fn history(&self, prompt: &str) -> String {
        self.fold.history(prompt)
    }

    /// The fold inside, for what has no short form here.
    #[must_use]
    pub const fn fold(&self) -> &Fold {
        &self.fold
    }

    /// The id to go on from in the stream that watches.
    #[must_use]
    pub fn last_event_id(&self) -> Option<&str> {
        self.link.last_event_id()
    }

    /// What was odd, in the bytes and in the order of events.
    pub fn diagnostics(&mut self) -> &mut Diagnostics {
        let connections = [self.turn.as_mut(), self.watch.as_mut()];
        for conn in connections.into_iter().flatten() {
            if let Body::Stream(decoder) = &mut conn.body {
                self.diagnostics.absorb(decoder.diagnostics());
            }
        }
        self.diagnostics.absorb(self.fold.diagnostics_mut());
        &mut self.diagnostics
    }

    fn at(&self, now: Millis) -> u64 {
        self.clock.wall(now)
    }

    fn channel(&self, channel: Option<Channel>) -> Channel {
        channel.unwrap_or(self.dialect.turn_channel())
    }

    fn slot(&mut self, channel: Channel) -> &mut Option<Conn> {
        match channel {
            Channel::Events => &mut self.watch,
            _ => &mut self.turn,
        }
    }

    /// Gives the ops of the rows, then those of the connections.
    fn flush(&mut self, sink: &mut OpSink<'_>) {
        self.load_if_due();
        self.fold.drain(sink);
        for pending in self.waiting.drain(..) {
            match &pending {
                Pending::Request(request) => sink(Op::Request(request)),
                Pending::Abort(request_id) => sink(Op::Abort { request_id: *request_id }),
                Pending::Closed(channel, reason) => sink(Op::Closed { channel: *channel, reason }),
            }
        }
    }

    /// Asks for a request whose answer becomes the connection of its channel.
    fn connect(&mut self, now: Millis, role: Role, call: crate::dialect::HttpCall) {
        let request_id = self.ask(role, call.clone());
        let conn = Conn::new(request_id, now);
        let old = self.slot(call.channel).replace(conn);
        if let Some(old) = old.filter(|old| !old.aborted) {
            self.waiting.insert(0, Pending::Abort(old.request_id));
        }
    }

    fn ask(&mut self, role: Role, call: crate::dialect::HttpCall) -> u64 {
        self.requests += 1;
        let mut request =
            Request::new(self.requests, call.channel, role.as_str(), call.method, call.path);
        request.headers = call.headers.into_iter().map(|(n, v)| (n.into(), v)).collect();
        request.body = call.body;
        self.waiting.push(Pending::Request(request));
        self.requests
    }

    /// The connection of a channel is over.
    fn close(&mut self, channel: Channel, reason: &'static str) {
        if let Some(mut conn) = self.slot(channel).take() {
            if let Body::Stream(decoder) = &mut conn.body {
                self.diagnostics.absorb(decoder.diagnostics());
            }
            self.waiting.push(Pending::Closed(channel, reason));
        }
    }

    /// The stream that watches has ended or failed.
    fn watch_closed(&mut self, now: Millis) {
        let status = match self.link.handle_close(now) {
            Advice::Resume { .. } => "waiting",
            Advice::Stop => "closed",
            Advice::ReportInterrupted | Advice::GiveUp => {
                // A turn that is read over its own channel goes on there.
                if self.dialect.turn_channel() == Channel::Events {
                    let at = self.at(now);
                    self.fold.lose(at);
                }
                "lost"
            }
        };
        self.show_connection(status);
    }

    fn show_connection(&mut self, status: &str) {
        let tries = self.link.tries();
        self.fold.panel("connection", json!({ "status": status, "tries": tries }));
    }

    /// What an answer that was no stream means for the turn.
    fn settle_answer(&mut self, now: Millis, status: u16, body: &[u8]) {
        let at = self.at(now);
        let answer = self.dialect.http_answer(status, &String::from_utf8_lossy(body));
        self.turn_taken(!matches!(answer, Answer::Refused { .. }));
        match answer {
            Answer::Whole { text, trace, cwd } => {
                self.fold.answer_json(&text, &trace, cwd.as_deref(), at);
            }
            Answer::Started { turn_id } => self.fold.acknowledge(turn_id.as_deref()),
            Answer::Refused { message, code } => {
                let mut failure = Failure::new(message).with_status(status);
                failure.code = code.map(Cow::Owned);
                self.fold.refuse(&failure, at);
            }
        }
    }

    fn stall_deadline(&self) -> Option<Millis> {
        let stall_ms = self.options.stall_ms.filter(|_| self.fold.is_busy())?;
        let connections = [self.turn.as_ref(), self.watch.as_ref()];
        let open = connections.into_iter().flatten().filter(|conn| !conn.aborted);
        open.map(|conn| conn.last_byte + stall_ms).min()
    }

    /// When to call [`handle_timeout`](Self::handle_timeout), and why.
    #[must_use]
    pub fn poll_timeout(&self) -> Option<(Millis, TimeoutReason)> {
        let stall = self.stall_deadline().map(|at| (at, TimeoutReason::Stall));
        [stall, self.link.poll_timeout()].into_iter().flatten().min_by_key(|(at, _)| *at)
    }

    /// Time has passed. A spurious wake-up gives nothing.
    ///
    /// # Errors
    ///
    /// None today; a request that cannot be made would be one.
    pub fn handle_timeout(
        &mut self,
        now: Millis,
        sink: &mut OpSink<'_>,
    ) -> Result<(), CallerError> {
        if self.link.handle_timeout(now) {
            self.open_watch(now)?;
        }
        if self.stall_deadline().is_some_and(|at| at <= now) {
            self.stalled(now);
        }
        self.flush(sink);
        Ok(())
    }

    /// Nothing came for too long: the turn's own answer is given up, a stream that watches is made
    /// again.
    fn stalled(&mut self, now: Millis) {
        let stall_ms = self.options.stall_ms.unwrap_or_default();
        let late = |conn: &Option<Conn>| {
            conn.as_ref().is_some_and(|conn| !conn.aborted && conn.last_byte + stall_ms <= now)
        };
        if late(&self.turn) {
            let at = self.at(now);
            self.abort(Channel::Turn);
            self.close(Channel::Turn, "stall");
            let failure = Failure::new("The server was silent for too long.").with_status(504);
            self.fold.refuse(&failure, at);
        }
        if late(&self.watch) {
            self.abort(Channel::Events);
            self.close(Channel::Events, "stall");
            self.watch_closed(now);
        }
    }

    fn abort(&mut self, channel: Channel) {
        let request = self.slot(channel).as_mut().filter(|conn| !conn.aborted).map(|conn| {
            conn.aborted = true;
            conn.request_id
        });
        if let Some(request_id) = request {
            self.waiting.push(Pending::Abort(request_id));
        }
    }
}
