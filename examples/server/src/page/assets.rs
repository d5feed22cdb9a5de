//! The files of the page, in the binary, and the headers that hold them in.

use axum::body::Body;
use axum::extract::Path;
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::Response;

use crate::http::reply::refusal;

const HTML: &str = "text/html; charset=utf-8";
const CSS: &str = "text/css; charset=utf-8";
const JS: &str = "text/javascript; charset=utf-8";
const SVG: &str = "image/svg+xml";

/// Everything comes from here and nothing runs that is not a file of the page. What a model or a
/// tool wrote can name no script, style, frame, form or image.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; \
    connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const HEADERS: [(HeaderName, &str); 5] = [
    (header::CONTENT_SECURITY_POLICY, POLICY),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::REFERRER_POLICY, "no-referrer"),
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    // A server of another version has other files under the same names.
    (header::CACHE_CONTROL, "no-cache"),
];

macro_rules! files {
    ($($name:literal $kind:ident,)*) => {
        /// Name, content type and bytes.
        const FILES: &[(&str, &str, &[u8])] =
            &[$(($name, $kind, include_bytes!(concat!("../../page/", $name))),)*];
    };
}

files! {
    "app.js" JS,
    "card.js" JS,
    "composer.js" JS,
    "dom.js" JS,
    "favicon.svg" SVG,
    "inline.js" JS,
    "layout.css" CSS,
    "markdown.js" JS,
    "paint.js" JS,
    "rows.js" JS,
    "scroll.js" JS,
    "stream.js" JS,
    "transcript.css" CSS,
    "view.js" JS,
    "wire.css" CSS,
    "wire.js" JS,
}

/// The page itself.
pub(super) fn index() -> Response {
    answer(HTML, include_bytes!("../../page/index.html"))
}

/// `GET /page/NAME`.
pub(super) async fn file(Path(name): Path<String>) -> Response {
    match FILES.iter().find(|(known, ..)| *known == name) {
        Some((_, kind, bytes)) => answer(kind, bytes),
        None => refusal(StatusCode::NOT_FOUND, "Not found."),
    }
}

fn answer(kind: &'static str, bytes: &'static [u8]) -> Response {
    let mut response = Response::new(Body::from(bytes));
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    for (name, value) in HEADERS {
        headers.insert(name, HeaderValue::from_static(value));
    }
    response
}
