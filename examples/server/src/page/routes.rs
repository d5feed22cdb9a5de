//! The routes of the page.

use std::convert::Infallible;
use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::{Path, Request, State};
use axum::http::{HeaderValue, StatusCode, Uri, header};
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::{get, post};
use futures_util::stream;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::sync::oneshot;
use tracing::warn;
use turnwire::error::CallerError;

use super::assets;
use super::session::Command;
use crate::app::App;
use crate::http::{body, reply};

/// Everything below `/page`, and `/`.
pub(crate) fn routes() -> Router<Arc<App>> {
    Router::new()
        .route("/", get(index))
        .route("/page/{name}", get(assets::file))
        .route("/page/sessions", post(make))
        .route("/page/sessions/{id}/ops", get(ops))
        .route("/page/sessions/{id}/prompt", post(prompt))
        .route("/page/sessions/{id}/stop", post(stop))
        .route("/page/sessions/{id}/earlier", post(earlier))
}

async fn index(State(app): State<Arc<App>>, uri: Uri) -> Response {
    let mut fields = uri.query().unwrap_or_default().split('&');
    let session = fields.find_map(|field| field.strip_prefix("session="));
    if session.is_some_and(|id| app.sessions.knows(id)) {
        return assets::index();
    }
    let id = app.sessions.newest().map_or_else(|| app.sessions.make(&app), Ok);
    match id {
        Ok(id) => Redirect::to(&format!("/?session={id}")).into_response(),
        Err(error) => broken(&error),
    }
}

async fn make(State(app): State<Arc<App>>) -> Response {
    match app.sessions.make(&app) {
        Ok(id) => json(StatusCode::CREATED, &json!({ "id": id })),
        Err(error) => broken(&error),
    }
}

async fn ops(State(app): State<Arc<App>>, Path(id): Path<String>) -> Response {
    let receiver = match ask(&app, &id, Command::Watch).await {
        Ok(receiver) => receiver,
        Err(refused) => return refused,
    };
    let bytes = stream::unfold(receiver, |mut receiver| async {
        let bytes = receiver.recv().await?;
        Some((Ok::<_, Infallible>(bytes), receiver))
    });
    let mut response = Response::new(Body::from_stream(bytes));
    let headers = response.headers_mut();
    let kind = HeaderValue::from_static("text/event-stream; charset=utf-8");
    headers.insert(header::CONTENT_TYPE, kind);
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

#[derive(Deserialize)]
struct Prompt {
    text: String,
    client_id: Option<String>,
}

async fn prompt(State(app): State<Arc<App>>, Path(id): Path<String>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    // A form of another page can send JSON under another name, but not under its own.
    let json = parts.headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    if !json.is_some_and(|value| value.starts_with("application/json")) {
        let message = "Content-Type must be application/json.";
        return reply::refusal(StatusCode::UNSUPPORTED_MEDIA_TYPE, message);
    }
    let body = match body::read(&parts.headers, body, app.max_body_bytes).await {
        Ok(body) => body,
        Err(refused) => return refused,
    };
    if body.len() > app.max_body_bytes {
        return reply::refusal(StatusCode::PAYLOAD_TOO_LARGE, "The body is too large.");
    }
    let Ok(Prompt { text, client_id }) = serde_json::from_slice(&body) else {
        return reply::refusal(StatusCode::BAD_REQUEST, "The body must be {text, client_id?}.");
    };
    match ask(&app, &id, |taken| Command::Prompt { text, client_id, taken }).await {
        Ok(true) => StatusCode::ACCEPTED.into_response(),
        Ok(false) => reply::refusal(StatusCode::CONFLICT, "A turn is running."),
        Err(refused) => refused,
    }
}

async fn stop(State(app): State<Arc<App>>, Path(id): Path<String>) -> Response {
    match ask(&app, &id, Command::Stop).await {
        Ok(()) => StatusCode::ACCEPTED.into_response(),
        Err(refused) => refused,
    }
}

async fn earlier(State(app): State<Arc<App>>, Path(id): Path<String>) -> Response {
    match ask(&app, &id, Command::Earlier).await {
        Ok(moved) => json(StatusCode::OK, &json!({ "moved": moved })),
        Err(refused) => refused,
    }
}

/// Puts a command to a session and waits for what it says.
async fn ask<T>(
    app: &App,
    id: &str,
    command: impl FnOnce(oneshot::Sender<T>) -> Command,
) -> Result<T, Response> {
    let gone = || reply::refusal(StatusCode::NOT_FOUND, "This session is not known.");
    let session = app.sessions.get(id).ok_or_else(gone)?;
    let (sender, receiver) = oneshot::channel();
    session.send(command(sender)).await.map_err(|_| gone())?;
    receiver.await.map_err(|_| gone())
}

fn json(status: StatusCode, value: &Value) -> Response {
    let kind = [(header::CONTENT_TYPE, "application/json; charset=utf-8")];
    (status, kind, value.to_string()).into_response()
}

fn broken(error: &CallerError) -> Response {
    warn!(%error, "no session was made");
    reply::refusal(StatusCode::INTERNAL_SERVER_ERROR, "Internal error.")
}
