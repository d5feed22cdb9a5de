//! One session of the page: a task that owns the host, its turn and the pages that look on.

use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use axum::body::Bytes;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Response, StatusCode, header};
use http_body_util::{BodyExt, Limited};
use serde_json::json;
use tokio::sync::{mpsc, oneshot};
use tokio::time::{Instant, sleep_until, timeout};
use tokio_util::sync::DropGuard;
use tracing::warn;
use turnwire::dialect::Dialect;
use turnwire::error::CallerError;
use turnwire::host::{Op, Request};
use turnwire::time::Millis;
use turnwire::{Host, HostOptions};

use super::batch::{Batch, message};
use super::frames::{Frames, kind, split};
use crate::app::{App, seed};
use crate::http::agent;

/// Messages that wait for one page.
const WAITING_MAX: usize = 64;

/// How long a page may make the others wait. Then it is cut off, and starts anew from the view.
const SLOW_MAX: Duration = Duration::from_secs(1);

/// After this much silence something is sent, so that a page knows that it is still connected.
const SILENCE_MAX: Duration = Duration::from_secs(15);

/// Bytes of ops and frames that are gathered into one message while they come without a pause.
const BATCH_MAX_BYTES: usize = 64 << 10;

/// Bytes of a refusal.
const REFUSAL_MAX_BYTES: usize = 64 << 10;

/// What a page asks of a session.
pub(super) enum Command {
    Watch(oneshot::Sender<mpsc::Receiver<Bytes>>),
    Prompt { text: String, client_id: Option<String>, taken: oneshot::Sender<bool> },
    Stop(oneshot::Sender<()>),
    Earlier(oneshot::Sender<bool>),
}

/// The answer to the host's request: bytes as they come, and what ends the turn when it is dropped.
struct Answer {
    bytes: mpsc::Receiver<Bytes>,
    _hang_up: DropGuard,
}

pub(super) struct Session {
    app: Arc<App>,
    id: String,
    host: Host,
    frames: Frames,
    batch: Batch,
    pages: Vec<mpsc::Sender<Bytes>>,
    answer: Option<Answer>,
    began: Instant,
    wall_ms: u64,
    spoke: Instant,
}

impl Session {
    pub(super) fn new(app: Arc<App>, id: String) -> Result<Self, CallerError> {
        let wall = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let mut options = HostOptions::default();
        options.session_id = Some(id.clone());
        options.wall_ms = u64::try_from(wall.as_millis()).unwrap_or_default();
        options.seed = seed().unwrap_or_default();
        let (wall_ms, began) = (options.wall_ms, Instant::now());
        Ok(Self {
            app,
            id,
            host: Host::new(Dialect::AGENT, options)?,
            frames: Frames::default(),
            batch: Batch::default(),
            pages: Vec::new(),
            answer: None,
            began,
            wall_ms,
            spoke: began,
        })
    }

    /// Serves the session until the server closes or nobody can ask for it any more.
    pub(super) async fn run(mut self, mut commands: mpsc::Receiver<Command>) {
        let closing = self.app.closing.clone();
        loop {
            self.publish().await;
            if closing.is_cancelled() && self.answer.is_none() {
                return;
            }
            let due =
                self.host.poll_timeout().map(|(at, _)| self.began + Duration::from_millis(at.0));
            tokio::select! {
                biased;
                command = commands.recv() => match command {
                    Some(command) => self.command(command).await,
                    None => return,
                },
                bytes = next(&mut self.answer) => self.read(bytes),
                () = sleep_until(due.unwrap_or(self.began)), if due.is_some() => {
                    self.tell(|host, now, sink| host.handle_timeout(now, sink)).await;
                }
                () = sleep_until(self.spoke + SILENCE_MAX) => self.ping().await,
                () = closing.cancelled(), if self.answer.is_none() => return,
            }
        }
    }

    async fn command(&mut self, command: Command) {
        // An answer that nobody waits for any more is no loss.
        match command {
            Command::Watch(reply) => {
                let (sender, receiver) = mpsc::channel(WAITING_MAX);
                let start = json!({
                    "session": self.id,
                    "view": self.host.view(),
                    "frames": self.frames.kept(),
                });
                if sender.try_send(message("view", &start).into()).is_ok() {
                    self.pages.push(sender);
                    let _ = reply.send(receiver);
                }
            }
            Command::Prompt { text, client_id, taken } => {
                let free = !self.host.fold().is_busy();
                if free {
                    let client_id = client_id.as_deref();
                    self.tell(|host, now, sink| host.submit(now, &text, client_id, &[], sink))
                        .await;
                }
                let _ = taken.send(free);
            }
            Command::Stop(done) => {
                self.tell(|host, now, sink| host.stop(now, sink)).await;
                let _ = done.send(());
            }
            Command::Earlier(moved) => {
                let mut any = false;
                self.tell(|host, _, sink| {
                    any = host.load_earlier(sink);
                    Ok(())
                })
                .await;
                let _ = moved.send(any);
            }
        }
    }

    /// Calls the host, keeps its ops, and does what it asks for.
    async fn tell(
        &mut self,
        call: impl FnOnce(&mut Host, Millis, &mut dyn FnMut(Op<'_>)) -> Result<(), CallerError>,
    ) {
        let (mut wanted, mut abort, mut rows) = (None, false, Vec::new());
        let now = self.now();
        let batch = &mut self.batch;
        let called = call(&mut self.host, now, &mut |op| match op {
            Op::Request(request) => wanted = Some(request.clone()),
            Op::Abort { .. } => abort = true,
            op => rows.extend(batch.op(op)),
        });
        if let Err(error) = called {
            warn!(session = self.id, %error, "the host refused a call");
        }
        if abort {
            self.answer = None;
        }
        if let Some(request) = wanted {
            self.request(&request, rows).await;
        }
    }

    /// Makes the host's request where `POST /api/agent` would be answered.
    async fn request(&mut self, request: &Request, rows: Vec<u64>) {
        let body = request.body.as_deref().unwrap_or_default();
        let raw = format!("{} {}\n{body}", request.method, request.path);
        self.frame("out", "request".to_owned(), &raw, rows);
        let mut headers = HeaderMap::new();
        for (name, value) in &request.headers {
            if let (Ok(name), Ok(value)) =
                (HeaderName::from_bytes(name.as_bytes()), HeaderValue::from_str(value))
            {
                headers.insert(name, value);
            }
        }
        let now = self.now();
        match agent::open(&self.app, &headers, body.as_bytes()).await {
            Ok((bytes, hang_up)) => {
                self.answer = Some(Answer { bytes, _hang_up: hang_up.drop_guard() });
                self.host_call(|host, sink| {
                    host.response(now, 200, "text/event-stream", None, None, sink)
                });
            }
            Err(refused) => self.refused(refused).await,
        }
    }

    /// The turn was refused: what the client of an HTTP server would read.
    async fn refused(&mut self, refused: Response<axum::body::Body>) {
        let (head, body) = refused.into_parts();
        let body = Limited::new(body, REFUSAL_MAX_BYTES).collect().await;
        let body = body.map(http_body_util::Collected::to_bytes).unwrap_or_default();
        let content_type = head.headers.get(header::CONTENT_TYPE).and_then(|v| v.to_str().ok());
        let (now, status) = (self.now(), head.status.as_u16());
        let content_type = content_type.unwrap_or_default().to_owned();
        let rows = self.host_call(|host, sink| {
            host.response(now, status, &content_type, None, None, sink)?;
            host.feed(now, &body, None, sink)?;
            host.finish(now, None, sink)
        });
        let reason = StatusCode::canonical_reason(&head.status).unwrap_or_default();
        let raw = format!("{status} {reason}\n{}", String::from_utf8_lossy(&body));
        self.frame("in", "refusal".to_owned(), &raw, rows);
    }

    /// Bytes of the turn, or their end; and what else is there without waiting for it.
    fn read(&mut self, first: Option<Bytes>) {
        let mut bytes = first;
        loop {
            let Some(chunk) = bytes else {
                self.answer = None;
                let now = self.now();
                self.host_call(|host, sink| host.finish(now, None, sink));
                return;
            };
            let now = self.now();
            for frame in split(&chunk) {
                // One by one, so that it is known which rows a frame made.
                let rows = self.host_call(|host, sink| host.feed(now, frame, None, sink));
                let raw = String::from_utf8_lossy(frame);
                self.frame("in", kind(&raw), &raw, rows);
            }
            let more = self.answer.as_mut().filter(|_| self.batch.bytes() < BATCH_MAX_BYTES);
            bytes = match more.map(|answer| answer.bytes.try_recv()) {
                Some(Ok(chunk)) => Some(chunk),
                Some(Err(mpsc::error::TryRecvError::Disconnected)) => None,
                Some(Err(mpsc::error::TryRecvError::Empty)) | None => return,
            };
        }
    }

    /// Calls the host about its connection, keeps its ops, and gives the rows that they changed.
    fn host_call(
        &mut self,
        call: impl FnOnce(&mut Host, &mut dyn FnMut(Op<'_>)) -> Result<(), CallerError>,
    ) -> Vec<u64> {
        let mut rows = Vec::new();
        let batch = &mut self.batch;
        if let Err(error) = call(&mut self.host, &mut |op| rows.extend(batch.op(op))) {
            warn!(session = self.id, %error, "the host refused what came");
        }
        rows.dedup();
        rows
    }

    fn frame(&mut self, dir: &'static str, kind: String, raw: &str, rows: Vec<u64>) {
        let at = self.wall_ms.saturating_add(self.now().0);
        if let Some(frame) = self.frames.pass(dir, at, kind, raw, rows) {
            self.batch.frame(frame);
        }
    }

    /// Sends what has gathered to every page.
    async fn publish(&mut self) {
        if self.batch.is_empty() {
            return;
        }
        let batch = std::mem::take(&mut self.batch);
        if !self.pages.is_empty() {
            self.send(batch.message(self.host.fold().revision()).into()).await;
        }
    }

    async fn ping(&mut self) {
        self.send(message("ping", &json!({})).into()).await;
    }

    async fn send(&mut self, bytes: Bytes) {
        let mut kept = Vec::with_capacity(self.pages.len());
        for page in std::mem::take(&mut self.pages) {
            if let Ok(Ok(())) = timeout(SLOW_MAX, page.send(bytes.clone())).await {
                kept.push(page);
            }
        }
        self.pages = kept;
        self.spoke = Instant::now();
    }

    fn now(&self) -> Millis {
        Millis(u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX))
    }
}

/// The next bytes of the turn; never, if none runs.
async fn next(answer: &mut Option<Answer>) -> Option<Bytes> {
    match answer {
        Some(answer) => answer.bytes.recv().await,
        None => std::future::pending().await,
    }
}
