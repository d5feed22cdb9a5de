//! Answers in JSON.

use axum::body::Body;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::Response;
use turnwire::dialect::Dialect;
use turnwire::request::{Headers, RequestError};

/// Seconds after which a client that was refused for lack of room may come again.
const RETRY_AFTER_S: HeaderValue = HeaderValue::from_static("2");

/// An answer with the headers that the core gives.
pub(crate) fn answer(status: u16, headers: Headers, body: Body) -> Response {
    let mut response = Response::new(body);
    // The core gives statuses of three digits and headers of plain ASCII only.
    *response.status_mut() = StatusCode::from_u16(status).unwrap_or_default();
    for &(name, value) in headers {
        let name = header::HeaderName::from_static(name);
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    response
}

/// A refusal that the core worded.
pub(crate) fn refused(error: RequestError) -> Response {
    answer(error.status, error.headers, error.body.into())
}

/// A refusal of the server's own, `{"error": …}` as all of them.
pub(crate) fn refusal(status: StatusCode, message: &str) -> Response {
    refused(RequestError::new(Dialect::AGENT.requests(), status.as_u16(), message))
}

/// A refusal for lack of room, with the time after which to come again.
pub(crate) fn busy(status: StatusCode, message: &str) -> Response {
    let mut response = refusal(status, message);
    response.headers_mut().insert(header::RETRY_AFTER, RETRY_AFTER_S);
    response
}

/// 405, with the methods that there are.
pub(crate) fn not_allowed(allow: &'static str) -> Response {
    let mut response = refusal(StatusCode::METHOD_NOT_ALLOWED, "Method not allowed.");
    response.headers_mut().insert(header::ALLOW, HeaderValue::from_static(allow));
    response
}
