//! One turn: the loop of model and tools, the machine that words it, and what can end it.

use std::future::Future;
use std::mem;
use std::pin::pin;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use axum::body::Bytes;
use futures_util::{FutureExt, StreamExt};
use tokio::sync::{OwnedSemaphorePermit, mpsc, oneshot};
use tokio::time::{Instant, sleep_until, timeout};
use tokio_util::sync::CancellationToken;
use tracing::{Instrument, info, info_span, warn};
use turnwire::dialect::Dialect;
use turnwire::error::CallerError;
use turnwire::event::{ToolStart, TurnStarted};
use turnwire::ids::Seed;
use turnwire::time::Millis;
use turnwire::turn::{Failure, Finish, Output, ToolOutcome};
use turnwire::{Turn, TurnOptions};

use crate::app::App;
use crate::model::{Message, ModelError, Part, Request, ToolCall};

/// Time that a turn may take.
const TURN_MAX: Duration = Duration::from_secs(600);

/// Steps that a turn may take: a model that calls tools without end is stopped.
const STEPS_MAX: usize = 100;

/// Bytes that are gathered before they are sent, while the model gives parts without a pause.
const GATHER_MAX_BYTES: usize = 8 << 10;

/// Time in which the reader of a turn that was stopped must take its ending.
const ENDING_MAX: Duration = Duration::from_secs(2);

/// What is to be done.
pub(crate) struct Job {
    pub(crate) dialect: Dialect,
    pub(crate) model: String,
    pub(crate) reasoning: bool,
    pub(crate) prompt: String,
    pub(crate) cwd: String,
    /// The turn's place among those that may run, held to its end; a whole answer holds it, too.
    pub(crate) permit: Arc<OwnedSemaphorePermit>,
}

/// Where the answer goes.
pub(crate) enum Sink {
    /// Bytes as they come.
    Stream(mpsc::Sender<Bytes>),
    /// Status and body at the end.
    Whole(oneshot::Sender<(u16, Vec<u8>)>),
}

/// Why a turn ends early.
enum Stop {
    HungUp,
    Shutdown,
    TimeUp,
    TooManySteps,
    Model(ModelError),
    /// A call that the machine refused: a mistake of this server.
    Refused(CallerError),
}

impl From<CallerError> for Stop {
    fn from(error: CallerError) -> Self {
        Self::Refused(error)
    }
}

/// Runs a turn to its end, whichever that is. `hang_up` is cancelled when nobody reads any more.
pub(crate) async fn run(app: Arc<App>, job: Job, sink: Sink, hang_up: CancellationToken) {
    let (id, seed) = app.ids.next();
    let span = info_span!("turn", id);
    let form = if matches!(sink, Sink::Stream(_)) { "stream" } else { "json" };
    async {
        info!(form, model = job.model, "turn started");
        match Drive::new(&app, &job, seed, sink, hang_up) {
            Ok(drive) => drive.run(&app, job, &id).await,
            Err(error) => warn!(%error, "turn not started"),
        }
    }
    .instrument(span)
    .await;
}

/// The machine, and what its output and its time depend on.
struct Drive {
    turn: Turn,
    out: Vec<u8>,
    sink: Sink,
    hang_up: CancellationToken,
    ending: CancellationToken,
    began: Instant,
    sent_bytes: u64,
}

impl Drive {
    fn new(
        app: &App,
        job: &Job,
        seed: Seed,
        sink: Sink,
        hang_up: CancellationToken,
    ) -> Result<Self, CallerError> {
        let wall = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let mut options = TurnOptions::default();
        options.cwd = Some(job.cwd.clone());
        options.wall_ms = u64::try_from(wall.as_millis()).unwrap_or_default();
        options.seed = seed;
        Ok(Self {
            turn: Turn::new(Some(job.dialect), options)?,
            out: Vec::new(),
            sink,
            hang_up,
            ending: app.ending.clone(),
            began: Instant::now(),
            sent_bytes: 0,
        })
    }

    async fn run(mut self, app: &App, job: Job, id: &str) {
        let _permit = job.permit;
        let history = vec![Message::User(job.prompt)];
        let request = Request { model: job.model, reasoning: job.reasoning, history };
        let stop = self.steps(app, request, job.cwd, id).await.err();
        let outcome = match &stop {
            None => "finished",
            Some(Stop::HungUp) => "hung up",
            Some(Stop::Shutdown) => "shut down",
            Some(Stop::TimeUp) => "timed out",
            Some(Stop::TooManySteps) => "too many steps",
            Some(Stop::Model(_)) => "model failed",
            Some(Stop::Refused(error)) => {
                warn!(%error, "the machine refused a call");
                "broken"
            }
        };
        if let Err(error) = self.end(stop.as_ref()) {
            warn!(%error, "the machine refused the ending");
        }
        self.last_flush().await;
        let ms = self.now().0;
        info!(outcome, ms, bytes = self.sent_bytes, "turn ended");
    }

    /// Step after step, until the model calls no tool.
    async fn steps(
        &mut self,
        app: &App,
        mut request: Request,
        mut cwd: String,
        id: &str,
    ) -> Result<(), Stop> {
        let now = self.now();
        let mut start = TurnStarted::default();
        start.turn_id = Some(id.into());
        self.turn.start(now, start, &mut self.out)?;
        for step in 0..STEPS_MAX {
            if step > 0 {
                let now = self.now();
                self.turn.step(now, &mut self.out)?;
            }
            let (text, calls) = self.step(app, request.clone()).await?;
            if calls.is_empty() {
                return Ok(());
            }
            request.history.push(Message::Assistant { text, calls: calls.clone() });
            for call in calls {
                let output = self.tool(app, &call, &mut cwd).await?;
                request.history.push(Message::Tool { call_id: call.id, output });
            }
        }
        Err(Stop::TooManySteps)
    }

    /// What the model thinks and says goes out at once; its calls are gathered.
    async fn step(&mut self, app: &App, request: Request) -> Result<(String, Vec<ToolCall>), Stop> {
        let mut parts = app.provider.step(request);
        let (mut text, mut calls) = (String::new(), Vec::new());
        loop {
            let part = match parts.next().now_or_never() {
                Some(part) => part,
                None => self.until(parts.next()).await?,
            };
            let now = self.now();
            match part {
                None => return Ok((text, calls)),
                Some(Err(error)) => return Err(Stop::Model(error)),
                Some(Ok(Part::Reasoning(piece))) => {
                    self.turn.reasoning(now, &piece, &mut self.out)?;
                }
                Some(Ok(Part::Text(piece))) => {
                    self.turn.text(now, &piece, &mut self.out)?;
                    text.push_str(&piece);
                }
                Some(Ok(Part::Call(call))) => calls.push(call),
            }
            if self.out.len() >= GATHER_MAX_BYTES {
                self.until(std::future::ready(())).await?;
            }
        }
    }

    async fn tool(&mut self, app: &App, call: &ToolCall, cwd: &mut String) -> Result<String, Stop> {
        let began = self.now();
        info!(tool = call.name, call = call.id, "tool started");
        let mut start = ToolStart::new(call.name.as_str());
        start.call_id = Some(call.id.as_str().into());
        start.args = Some(call.args.as_str().into());
        self.turn.tool_start(began, start, &mut self.out)?;
        let output = self.until(app.tools.run(cwd, &call.name, &call.args)).await?;
        let now = self.now();
        let mut outcome = ToolOutcome::new(&call.name, Output::Text(&output));
        outcome.call_id = Some(&call.id);
        self.turn.tool_result(now, outcome, &mut self.out)?;
        let (ms, bytes) = (now.since(began), output.len());
        info!(tool = call.name, call = call.id, ms, bytes, "tool ended");
        Ok(output)
    }

    /// Ends the turn in the words of its dialect.
    fn end(&mut self, stop: Option<&Stop>) -> Result<(), CallerError> {
        let (now, out) = (self.now(), &mut self.out);
        let (message, status) = match stop {
            None => return self.turn.finish(now, Finish::default(), out),
            Some(Stop::HungUp) => return self.turn.cancel(now, "user", out),
            Some(Stop::Shutdown) => ("The server is shutting down.", 503),
            Some(Stop::TimeUp) => ("The turn timed out.", 504),
            Some(Stop::TooManySteps) => ("The model called tools without end.", 502),
            Some(Stop::Model(error)) => (error.message.as_str(), error.status),
            Some(Stop::Refused(_)) => ("Internal error.", 500),
        };
        let mut failure = Failure::new(message);
        failure.status = Some(status);
        self.turn.fail(now, failure, out)
    }

    /// Waits for `work`, sending what is due meanwhile, unless something stops the turn.
    async fn until<F: Future>(&mut self, work: F) -> Result<F::Output, Stop> {
        let mut work = pin!(work);
        loop {
            self.flush().await?;
            let due = self.turn.poll_timeout().map(|(at, _)| self.moment(at));
            tokio::select! {
                biased;
                stop = stopped(&self.hang_up, &self.ending, self.began) => return Err(stop),
                done = &mut work => return Ok(done),
                () = sleep_until(due.unwrap_or(self.began)), if due.is_some() => {
                    let now = self.now();
                    self.turn.handle_timeout(now, &mut self.out);
                }
            }
        }
    }

    /// Hands over what is there; waits while the reader is slow.
    async fn flush(&mut self) -> Result<(), Stop> {
        if let Sink::Stream(sender) = &self.sink
            && !self.out.is_empty()
        {
            tokio::select! {
                biased;
                stop = stopped(&self.hang_up, &self.ending, self.began) => return Err(stop),
                place = sender.reserve() => {
                    let place = place.map_err(|_| Stop::HungUp)?;
                    self.sent_bytes += self.out.len() as u64;
                    place.send(mem::take(&mut self.out).into());
                }
            }
        }
        self.out.clear();
        Ok(())
    }

    /// Hands over the ending. A stopped turn does not wait long for a reader that does not read.
    async fn last_flush(&mut self) {
        let out = mem::take(&mut self.out);
        match &mut self.sink {
            Sink::Stream(sender) => {
                let bytes = out.len() as u64;
                if let Ok(Ok(())) = timeout(ENDING_MAX, sender.send(out.into())).await {
                    self.sent_bytes += bytes;
                }
            }
            Sink::Whole(sender) => {
                // Replaced by a sender that nobody listens to; this one is used up by the send.
                let sender = mem::replace(sender, oneshot::channel().0);
                match self.turn.json_response() {
                    Ok((status, body)) => {
                        self.sent_bytes += body.len() as u64;
                        // Fails only if the client hung up.
                        let _ = sender.send((status, body));
                    }
                    Err(error) => warn!(%error, "the machine has no answer"),
                }
            }
        }
    }

    /// The machine's time: milliseconds since the turn began.
    fn now(&self) -> Millis {
        Millis(u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX))
    }

    fn moment(&self, at: Millis) -> Instant {
        self.began + Duration::from_millis(at.0)
    }
}

/// Waits for whatever stops a turn from outside.
async fn stopped(hang_up: &CancellationToken, ending: &CancellationToken, began: Instant) -> Stop {
    tokio::select! {
        biased;
        () = hang_up.cancelled() => Stop::HungUp,
        () = ending.cancelled() => Stop::Shutdown,
        () = sleep_until(began + TURN_MAX) => Stop::TimeUp,
    }
}
