//! HTTP: who may ask what, and what is answered.

mod access;
pub(crate) mod agent;
pub(crate) mod body;
mod cookie;
mod held;
pub(crate) mod reply;

use std::sync::Arc;

use axum::Router;
use axum::http::{Method, StatusCode};
use axum::middleware::from_fn_with_state;
use axum::routing::{get, post};

pub(crate) use access::Access;

use crate::app::App;
use crate::page;

/// The routes, behind the rules of [`Access`].
pub(crate) fn router(app: Arc<App>) -> Router {
    let not_allowed =
        |allow: &'static str| move |_: Method| async move { reply::not_allowed(allow) };
    Router::new()
        .route("/api/agent", post(agent::post).fallback(not_allowed("POST")))
        .route("/healthz", get(|| async { "ok" }).fallback(not_allowed("GET, HEAD")))
        .merge(page::routes())
        .fallback(|| async { reply::refusal(StatusCode::NOT_FOUND, "Not found.") })
        .layer(from_fn_with_state(Arc::clone(&app), access::guard))
        .with_state(app)
}
