//! What the user does with a host, and what happens to its connections.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;

use serde_json::Value;

use super::conn::{Body, Conn};
use super::{Host, HostOptions, OpSink};
use crate::dialect::{Ask, Decoder, Dialect, Role};
use crate::error::{CallerError, Code, Diagnostics};
use crate::event::{Channel, EventKind};
use crate::host::{Failure, Fold, FoldOptions};
use crate::link::{Link, LinkOptions};
use crate::request::EVENT_STREAM;
use crate::time::{Clock, Millis};

/// The workspace of what was made without one (`server`, One id space).
const DEFAULT_WORKSPACE: &str = "default";

impl Host {
    /// A host with nothing to show.
    ///
    /// # Errors
    ///
    /// [`Code::BadOption`] for a ring of no rows, or a working directory that is no path below the
    /// workspace.
    pub fn new(dialect: Dialect, options: HostOptions) -> Result<Self, CallerError> {
        let mut fold = FoldOptions::new(*dialect.rules());
        fold.max_rows = options.max_rows;
        fold.cwd.clone_from(&options.cwd);
        fold.session_id.clone_from(&options.session_id);
        fold.seed = options.seed;
        fold.bridge = options.bridge;
        fold.prompt_max_chars = options.prompt_max_chars;
        Ok(Self::around(dialect, Fold::new(fold)?, options))
    }

    pub(super) fn around(dialect: Dialect, fold: Fold, options: HostOptions) -> Self {
        Self {
            dialect,
            clock: Clock::new(options.now, options.wall_ms),
            fold,
            turn: None,
            watch: None,
            link: Link::new(LinkOptions::watching(options.seed)),
            sides: Vec::new(),
            said_by_turn: None,
            watched: false,
            requests: 0,
            waiting: Vec::new(),
            diagnostics: Diagnostics::default(),
            options,
        }
    }

    /// The user sends a prompt: its row is there at once, and a request is asked for; where the
    /// session is watched and is not yet, another one before it.
    ///
    /// `fields` are more fields of the body: name and JSON text. A blank or too long prompt gives
    /// one turn-end row and a diagnostic.
    ///
    /// # Errors
    ///
    /// [`Code::Busy`] while a turn runs, [`Code::BadJson`] for a field that is no JSON.
    pub fn submit(
        &mut self,
        now: Millis,
        prompt: &str,
        client_id: Option<&str>,
        fields: &[(String, String)],
        sink: &mut OpSink<'_>,
    ) -> Result<(), CallerError> {
        if self.fold.is_busy() {
            return Err(Code::Busy.into());
        }
        let text = match self.dialect.folds_history() {
            true => self.fold.history_within(prompt.trim(), self.options.prompt_max_chars),
            false => String::from(prompt.trim()),
        };
        let ask = Ask { prompt: &text, client_id, fields, ..self.about() };
        let call = self.dialect.http_call(Role::Turn, &ask)?;
        let at = self.at(now);
        if let Err(refused) = self.fold.submit(prompt, client_id, at) {
            self.diagnostics.push(refused.code, 0);
            self.flush(sink);
            return Ok(());
        }
        if self.dialect.can_watch() && self.watch.as_ref().is_none_or(|conn| conn.aborted) {
            // What became of earlier connections, and when the next was due, counts no more.
            self.link.reset();
            self.open_watch(now)?;
        }
        self.connect(now, Role::Turn, call);
        self.flush(sink);
        Ok(())
    }

    /// Watches the session without a turn of one's own, from `last_event_id` on or from where the
    /// host was.
    ///
    /// # Errors
    ///
    /// [`Code::NoRoute`] if the dialect cannot be watched.
    pub fn open(
        &mut self,
        now: Millis,
        last_event_id: Option<&str>,
        sink: &mut OpSink<'_>,
    ) -> Result<(), CallerError> {
        if !self.dialect.can_watch() {
            return Err(CallerError::new(Code::NoRoute).with("watch"));
        }
        if last_event_id.is_some() {
            self.link.resume_from(last_event_id);
        }
        self.link.reset();
        self.open_watch(now)?;
        self.flush(sink);
        Ok(())
    }

    /// The server answered the request of a channel. An answer that is no stream is read whole at
    /// its end, as JSON or as a refusal.
    ///
    /// # Errors
    ///
    /// [`Code::UnknownChannel`].
    pub fn response(
        &mut self,
        now: Millis,
        status: u16,
        content_type: &str,
        channel: Option<Channel>,
        retry_after_s: Option<u64>,
        sink: &mut OpSink<'_>,
    ) -> Result<(), CallerError> {
        let channel = self.channel(channel);
        if self.side_response(channel, status) {
            return Ok(());
        }
        let essence = content_type.split(';').next().unwrap_or_default().trim();
        let streams = status == 200
            && (essence.eq_ignore_ascii_case(EVENT_STREAM)
                || essence.eq_ignore_ascii_case("application/x-ndjson"));
        let decoder = streams.then(|| Decoder::new(self.dialect, Some(channel)));
        let body = match decoder {
            Some(Ok(decoder)) => Body::Stream(Box::new(decoder)),
            Some(Err(refused)) if self.slot(channel).is_none() => return Err(refused),
            // A stream in answer to a request that has none is no answer, whatever it says.
            _ => Body::Text { status, bytes: Vec::new() },
        };
        let conn = self.slot(channel).get_or_insert_with(|| Conn::new(0, now));
        conn.body = body;
        conn.last_byte = now;
        if let Some(seconds) = retry_after_s {
            self.fold.panel("retry_after_s", Value::from(seconds));
        }
        if channel == Channel::Events {
            self.link.handle_response(status);
            if streams {
                self.show_connection("open");
                if core::mem::replace(&mut self.watched, true) {
                    self.fold.reconnected();
                }
            }
        } else if streams {
            self.turn_taken(true);
        }
        self.flush(sink);
        Ok(())
    }

    /// Bytes of a channel came. Gives the ops of the whole chunk: at most one `grow`, `update` or
    /// `patch` a row.
    ///
    /// Without a [`response`](Self::response) before them, they are taken for a stream.
    ///
    /// # Errors
    ///
    /// [`Code::UnknownChannel`].
    pub fn feed(
        &mut self,
        now: Millis,
        chunk: &[u8],
        channel: Option<Channel>,
        sink: &mut OpSink<'_>,
    ) -> Result<(), CallerError> {
        let channel = self.channel(channel);
        if self.side_feed(channel, chunk) {
            return Ok(());
        }
        let at = self.at(now);
        let (dialect, fold, link) = (self.dialect, &mut self.fold, &mut self.link);
        let slot = match channel {
            Channel::Events => &mut self.watch,
            _ => &mut self.turn,
        };
        if slot.as_ref().is_some_and(|conn| conn.aborted) {
            return Ok(());
        }
        let unasked = slot.as_ref().is_none_or(|conn| matches!(conn.body, Body::Waiting));
        let decoder = unasked.then(|| Decoder::new(dialect, Some(channel))).transpose()?;
        let conn = slot.get_or_insert_with(|| Conn::new(0, now));
        conn.last_byte = now;
        if let Some(decoder) = decoder {
            conn.body = Body::Stream(Box::new(decoder));
        }
        let was_busy = fold.is_busy();
        match &mut conn.body {
            Body::Waiting => {}
            Body::Text { bytes, .. } => Conn::keep(bytes, chunk),
            Body::Stream(decoder) => {
                let (mut events, mut resync) = (0_u64, false);
                decoder.feed(chunk, &mut |envelope| {
                    events += 1;
                    resync |= envelope.event.kind() == EventKind::Resync;
                    fold.apply(envelope, at);
                });
                if channel == Channel::Events {
                    if resync {
                        // The cursor was not this log's; the next id that comes is (`chat` A5).
                        link.resume_from(None);
                    }
                    if events > 0 {
                        link.handle_event(decoder.last_event_id());
                    } else {
                        link.handle_id(decoder.last_event_id());
                    }
                    if let Some(retry_ms) = decoder.retry_ms() {
                        link.handle_retry(retry_ms);
                    }
                }
            }
        }
        if unasked && channel == Channel::Turn {
            self.turn_taken(true);
        }
        if was_busy && !self.fold.is_busy() {
            self.turn_ended(channel);
        }
        self.flush(sink);
        Ok(())
    }

    /// The input of a channel ended.
    ///
    /// # Errors
    ///
    /// None today.
    pub fn finish(
        &mut self,
        now: Millis,
        channel: Option<Channel>,
        sink: &mut OpSink<'_>,
    ) -> Result<(), CallerError> {
        let channel = self.channel(channel);
        if self.side_end(now, channel, None) {
            self.flush(sink);
            return Ok(());
        }
        let at = self.at(now);
        let Some(conn) = self.slot(channel).as_mut() else { return Ok(()) };
        let aborted = conn.aborted;
        let body = core::mem::replace(&mut conn.body, Body::Waiting);
        match body {
            _ if aborted => {}
            Body::Stream(mut decoder) => {
                decoder.finish(&mut |envelope| self.fold.apply(envelope, at));
                self.diagnostics.absorb(decoder.diagnostics());
                self.fold.end_of_input(channel, at);
            }
            Body::Text { status, bytes } if channel == Channel::Turn => {
                self.settle_answer(now, status, &bytes);
            }
            Body::Text { .. } => {}
            Body::Waiting => self.fold.end_of_input(channel, at),
        }
        self.close(channel, if aborted { "aborted" } else { "end" });
        if channel == Channel::Events {
            self.watch_closed(now);
        }
        self.flush(sink);
        Ok(())
    }

    /// The connection of a channel could not be made, or broke. On the channel of a turn the turn
    /// ends with `message`; a stream that watches is made again.
    ///
    /// # Errors
    ///
    /// None today.
    pub fn fail(
        &mut self,
        now: Millis,
        message: &str,
        channel: Option<Channel>,
        sink: &mut OpSink<'_>,
    ) -> Result<(), CallerError> {
        let channel = self.channel(channel);
        if self.side_end(now, channel, Some(message)) {
            self.flush(sink);
            return Ok(());
        }
        let slot = self.slot(channel).as_ref();
        let aborted = slot.is_some_and(|conn| conn.aborted);
        let streamed = slot.is_some_and(|conn| matches!(conn.body, Body::Stream(_)));
        self.close(channel, if aborted { "aborted" } else { "failed" });
        match channel {
            Channel::Events => self.watch_closed(now),
            _ if aborted => {}
            _ => {
                let at = self.at(now);
                let cut = streamed && self.fold.is_busy();
                self.turn_taken(false);
                self.fold.refuse(&Failure::new(message), at);
                if cut {
                    self.fold.broke_off();
                }
            }
        }
        self.flush(sink);
        Ok(())
    }

    /// The user stops the turn: rows settle at once, the request is aborted, and where the dialect
    /// has a route for it the server is told. Nothing if no turn runs.
    ///
    /// # Errors
    ///
    /// None today.
    pub fn stop(&mut self, now: Millis, sink: &mut OpSink<'_>) -> Result<(), CallerError> {
        if !self.fold.is_busy() {
            return Ok(());
        }
        let at = self.at(now);
        self.turn_taken(false);
        self.fold.stop(at);
        self.abort(Channel::Turn);
        if let Ok(call) = self.dialect.http_call(Role::Cancel, &self.about()) {
            self.ask(Role::Cancel, call);
        }
        self.flush(sink);
        Ok(())
    }

    /// The host turns away: its connections are closed, and the turn goes on without it.
    pub fn detach(&mut self, sink: &mut OpSink<'_>) {
        self.fold.detach();
        for channel in [Channel::Turn, Channel::Events] {
            self.abort(channel);
        }
        self.link.handle_terminal();
        self.flush(sink);
    }

    /// Paints a row of thinking in full. Returns whether there is such a row.
    pub fn expand(&mut self, row_id: u64, sink: &mut OpSink<'_>) -> bool {
        let found = self.fold.expand(row_id);
        self.flush(sink);
        found
    }

    /// Paints a row of thinking as one line. Returns whether there is such a row.
    pub fn collapse(&mut self, row_id: u64, sink: &mut OpSink<'_>) -> bool {
        let found = self.fold.collapse(row_id);
        self.flush(sink);
        found
    }

    /// Shows earlier rows of the session, 512 more. Returns whether there are any, and no turn
    /// runs.
    pub fn load_earlier(&mut self, sink: &mut OpSink<'_>) -> bool {
        let moved = self.fold.load_earlier();
        self.flush(sink);
        moved
    }

    /// Shows a stored session instead of what is there. If it is another one, the stream that
    /// watches the one before is given up.
    ///
    /// # Errors
    ///
    /// [`Code::Busy`] while a turn runs; see [`Fold::hydrate`].
    pub fn hydrate(&mut self, session: &Value, sink: &mut OpSink<'_>) -> Result<(), CallerError> {
        let before = String::from(self.fold.session_id());
        self.fold.hydrate(session)?;
        if self.fold.session_id() != before {
            self.abort(Channel::Events);
            self.link.resume_from(None);
            self.link.handle_terminal();
        }
        self.flush(sink);
        Ok(())
    }

    pub(super) fn open_watch(&mut self, now: Millis) -> Result<(), CallerError> {
        let last = self.link.last_event_id().map(String::from);
        let ask = Ask { last_event_id: last.as_deref(), ..self.about() };
        let call = self.dialect.http_call(Role::Watch, &ask)?;
        self.connect(now, Role::Watch, call);
        Ok(())
    }

    pub(super) fn about(&self) -> Ask<'_> {
        Ask {
            base_path: &self.options.base_path,
            workspace_id: self.options.workspace_id.as_deref().unwrap_or(DEFAULT_WORKSPACE),
            session_id: self.fold.session_id(),
            model_id: self.options.model_id.as_deref().unwrap_or_default(),
            cwd: self.fold.cwd().unwrap_or_default(),
            ..Ask::default()
        }
    }

    /// The turn ended while its answer was read. After an error or a cancel nothing more is read
    /// of it; after `done` the rest is, up to its end (`agent` 1).
    fn turn_ended(&mut self, channel: Channel) {
        use crate::host::OutcomeKind;
        let finished = self.fold.outcome().is_none_or(|outcome| {
            matches!(outcome.kind, OutcomeKind::Finished | OutcomeKind::Empty)
        });
        if channel == Channel::Turn && !finished {
            self.abort(Channel::Turn);
        }
    }
}
