//! `POST /api/agent`: early failures as JSON, then a turn, streamed or as one JSON object.

use std::convert::Infallible;
use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, StatusCode, header};
use axum::response::Response;
use futures_util::stream;
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;
use turnwire::dialect::Dialect;
use turnwire::request::{self, JSON_HEADERS, Negotiated, ParseOptions};

use super::held::Held;
use super::{body, reply};
use crate::app::App;
use crate::model::reasons;
use crate::turn::{Job, Sink, run};

/// Writes of a turn that wait for a slow reader, before the turn waits itself.
const WAITING_MAX: usize = 8;

const DIALECT: Dialect = Dialect::AGENT;

/// The order of the checks is that of `agent` 1; who may call was checked before.
pub(super) async fn post(State(app): State<Arc<App>>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let body = match body::read(&parts.headers, body, app.max_body_bytes).await {
        Ok(body) => body,
        Err(refused) => return refused,
    };
    match start(&app, &parts.headers, &body).await {
        Ok((job, Negotiated::Stream)) => streamed(app, job),
        Ok((job, Negotiated::Json)) => whole(app, job).await,
        Err(refused) => refused,
    }
}

/// Checks the body and takes a place among the running turns.
async fn start(
    app: &Arc<App>,
    headers: &HeaderMap,
    body: &[u8],
) -> Result<(Job, Negotiated), Response> {
    let text = |name: HeaderName| headers.get(name).and_then(|value| value.to_str().ok());
    let mut options = ParseOptions::default();
    options.content_type = Some(text(header::CONTENT_TYPE).unwrap_or_default());
    options.default_cwd = Some(&app.environment.default_cwd);
    options.max_body_bytes = app.max_body_bytes;
    let spec = DIALECT.requests();
    let wanted = request::parse(spec, body, &options).map_err(reply::refused)?;

    let models = app.provider.models();
    let model = wanted.model_id.as_deref().or(models.first().copied()).unwrap_or_default();
    if !models.contains(&model) {
        let message = format!("This model is not known. Known are: {}.", models.join(", "));
        return Err(reply::refusal(StatusCode::BAD_REQUEST, &message));
    }
    let cwd = wanted.cwd.unwrap_or_else(|| ".".to_owned());
    let (workspace, folder) = (Arc::clone(&app.workspace), cwd.clone());
    let there = tokio::task::spawn_blocking(move || workspace.check_dir(&folder).is_ok()).await;
    if !there.unwrap_or(false) {
        let message = "cwd is no folder of the workspace.";
        return Err(reply::refusal(StatusCode::BAD_REQUEST, message));
    }
    if app.closing.is_cancelled() {
        let message = "The server is shutting down.";
        return Err(reply::busy(StatusCode::SERVICE_UNAVAILABLE, message));
    }
    let permit = Arc::clone(&app.turns)
        .try_acquire_owned()
        .map(Arc::new)
        .map_err(|_| reply::busy(StatusCode::TOO_MANY_REQUESTS, "Too many turns are running."))?;
    let reasoning = reasons(app.environment.reasoning.as_deref(), model);
    let (dialect, model) = (DIALECT, model.to_owned());
    let job = Job { dialect, model, reasoning, prompt: wanted.prompt, cwd, permit };
    Ok((job, request::negotiate(spec, text(header::ACCEPT))))
}

/// A turn for a reader in this process: the bytes that would be streamed to a client, and what ends
/// the turn early; or what the client would be refused with.
pub(crate) async fn open(
    app: &Arc<App>,
    headers: &HeaderMap,
    body: &[u8],
) -> Result<(mpsc::Receiver<Bytes>, CancellationToken), Response> {
    let (job, _) = start(app, headers, body).await?;
    Ok(begin(Arc::clone(app), job))
}

/// Starts a turn that streams.
fn begin(app: Arc<App>, job: Job) -> (mpsc::Receiver<Bytes>, CancellationToken) {
    let (sender, receiver) = mpsc::channel(WAITING_MAX);
    let hang_up = CancellationToken::new();
    let running = app.running.clone();
    running.spawn(run(app, job, Sink::Stream(sender), hang_up.clone()));
    (receiver, hang_up)
}

/// The answer as a stream. It is dropped when the client hangs up, and the turn with it.
fn streamed(app: Arc<App>, job: Job) -> Response {
    let (receiver, hang_up) = begin(app, job);
    let guard = hang_up.drop_guard();
    let bytes = stream::unfold((receiver, guard), |(mut receiver, guard)| async {
        let bytes = receiver.recv().await?;
        Some((Ok::<_, Infallible>(bytes), (receiver, guard)))
    });
    // The dialect has the channel that streams its turns.
    let headers = DIALECT.headers(None).unwrap_or_default();
    reply::answer(200, headers, Body::from_stream(bytes))
}

/// The answer as one JSON object. This call is dropped when the client hangs up.
async fn whole(app: Arc<App>, job: Job) -> Response {
    let (sender, receiver) = oneshot::channel();
    let hang_up = CancellationToken::new();
    let _guard = hang_up.clone().drop_guard();
    let (running, place) = (app.running.clone(), Arc::clone(&job.permit));
    running.spawn(run(app, job, Sink::Whole(sender), hang_up));
    match receiver.await {
        Ok((status, body)) => {
            reply::answer(status, JSON_HEADERS, Body::new(Held::new(body, place)))
        }
        Err(_) => reply::refusal(StatusCode::INTERNAL_SERVER_ERROR, "The turn broke off."),
    }
}
