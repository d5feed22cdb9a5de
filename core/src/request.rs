//! What HTTP asks for: the Accept header, request bodies, response headers, refusals as JSON.
//!
//! The facts that differ between dialects come in as data ([`RequestSpec`]); this room names none.

use alloc::string::{String, ToString};
use alloc::vec::Vec;

use serde_json::{Map, Value};

use crate::limits::{BODY_MAX_BYTES, PROMPT_MAX_CHARS};
use crate::text::{PathFault, is_blank, longer_than, relative_path};

/// The media type of an event stream.
pub const EVENT_STREAM: &str = "text/event-stream";

/// Headers of an answer, lower-case names first.
pub type Headers = &'static [(&'static str, &'static str)];

/// Headers of a streamed answer over SSE: no cache, no proxy that buffers or transforms
/// (`agent` 1).
pub const SSE_HEADERS: Headers = &[
    ("content-type", "text/event-stream; charset=utf-8"),
    ("cache-control", "no-cache, no-transform"),
    ("connection", "keep-alive"),
    ("x-accel-buffering", "no"),
];

/// Headers of an answer in JSON, refusals included.
pub const JSON_HEADERS: Headers =
    &[("content-type", "application/json; charset=utf-8"), ("cache-control", "no-store")];

/// The form of an answer that the client asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(clippy::exhaustive_enums, reason = "an answer is streamed or it is not")]
pub enum Negotiated {
    /// Events as they happen.
    Stream,
    /// One JSON object at the end.
    Json,
}

impl Negotiated {
    /// `"stream"` or `"json"`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Stream => "stream",
            Self::Json => "json",
        }
    }
}

/// When a turn's answer is streamed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(clippy::exhaustive_enums, reason = "what the five systems do")]
pub enum Streams {
    /// Always.
    Always,
    /// If the client asks for an event stream by name; `*/*` does not (`agent` 1).
    IfAskedFor,
}

/// How a body's text of the user is called and refused, on one route.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct RouteSpec {
    /// The route's name.
    pub name: &'static str,
    /// The field of the user's text; blank if the body has none.
    pub prompt: &'static str,
    /// The status of a body that lacks the field.
    pub missing_status: u16,
    /// The field of the model, where there is one.
    pub model: Option<&'static str>,
    /// The field of the working directory, where there is one.
    pub cwd: Option<&'static str>,
    /// The field of the session, where there is one.
    pub session: Option<&'static str>,
    /// Whether a body without a session is refused.
    pub session_required: bool,
    /// Further fields that a body may have, whose types are checked.
    pub fields: &'static [(&'static str, FieldType)],
    /// Fields of [`RouteSpec::fields`] that a body must have.
    pub needs: &'static [&'static str],
    /// Groups of [`RouteSpec::fields`], one of which a body must have whole; none if it need not.
    pub one_of: &'static [&'static [&'static str]],
}

/// The type of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FieldType {
    /// `true` or `false`.
    Bool,
    /// A string.
    Text,
    /// A list of strings.
    Texts,
    /// A list.
    List,
    /// An object.
    Object,
    /// A whole number from 0.
    Count,
    /// A number from 0.
    Amount,
    /// One of these words.
    Word(&'static [&'static str]),
}

impl FieldType {
    fn holds(self, value: &Value) -> bool {
        match self {
            Self::Bool => value.is_boolean(),
            Self::Text => value.is_string(),
            Self::Texts => value.as_array().is_some_and(|list| list.iter().all(Value::is_string)),
            Self::List => value.is_array(),
            Self::Object => value.is_object(),
            Self::Count => value.is_u64(),
            Self::Amount => value.as_f64().is_some_and(|amount| amount >= 0.0),
            Self::Word(words) => value.as_str().is_some_and(|word| words.contains(&word)),
        }
    }

    const fn refusal(self) -> &'static str {
        match self {
            Self::Bool => " must be true or false.",
            Self::Text => " must be a string.",
            Self::Texts => " must be a list of strings.",
            Self::List => " must be a list.",
            Self::Object => " must be an object.",
            Self::Count => " must be a whole number from 0.",
            Self::Amount => " must be a number from 0.",
            Self::Word(_) => " is none of its words.",
        }
    }
}

impl RouteSpec {
    /// A route whose body holds the user's text in `prompt` and nothing else of note.
    #[must_use]
    pub const fn new(name: &'static str, prompt: &'static str) -> Self {
        Self {
            name,
            prompt,
            missing_status: 400,
            model: None,
            cwd: None,
            session: None,
            session_required: false,
            fields: &[],
            needs: &[],
            one_of: &[],
        }
    }

    /// A route whose body holds no text of the user.
    #[must_use]
    pub const fn without_prompt(name: &'static str) -> Self {
        Self::new(name, "")
    }
}

/// What a dialect's requests look like.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct RequestSpec {
    /// When the answer is streamed.
    pub streams: Streams,
    /// Its routes with bodies.
    pub routes: &'static [RouteSpec],
    /// The key of the sentence in a refusal.
    pub error_key: &'static str,
    /// The code of a refusal by its status, in dialects whose refusals have one.
    pub codes: &'static [(u16, &'static str)],
}

impl RequestSpec {
    /// The facts of a dialect.
    #[must_use]
    pub const fn new(
        streams: Streams,
        routes: &'static [RouteSpec],
        error_key: &'static str,
    ) -> Self {
        Self { streams, routes, error_key, codes: &[] }
    }
}

/// Whether to stream, by the request's `Accept` header.
///
/// An item of the header, trimmed and in lower case, must be the event-stream type or begin with
/// it and `;`. Quality values are not weighed and wildcards do not count (`agent` 1).
///
/// ```
/// use turnwire::dialect::Dialect;
/// use turnwire::request::{Negotiated, negotiate};
/// let spec = Dialect::AGENT.requests();
/// assert_eq!(negotiate(spec, Some("text/html, Text/Event-Stream;q=0.1")), Negotiated::Stream);
/// assert_eq!(negotiate(spec, Some("*/*")), Negotiated::Json);
/// assert_eq!(negotiate(spec, None), Negotiated::Json);
/// ```
#[must_use]
pub fn negotiate(spec: &RequestSpec, accept: Option<&str>) -> Negotiated {
    let asked = |item: &str| {
        let item = item.trim();
        let Some(head) = item.get(..EVENT_STREAM.len()) else { return false };
        head.eq_ignore_ascii_case(EVENT_STREAM)
            && (item.len() == EVENT_STREAM.len() || item[EVENT_STREAM.len()..].starts_with(';'))
    };
    match spec.streams {
        Streams::Always => Negotiated::Stream,
        Streams::IfAskedFor if accept.is_some_and(|a| a.split(',').any(asked)) => {
            Negotiated::Stream
        }
        Streams::IfAskedFor => Negotiated::Json,
    }
}

/// What [`parse`] holds a body against.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct ParseOptions<'a> {
    /// The route, by its name; `"turn"` starts one.
    pub route: &'a str,
    /// The request's content type. `None` leaves it unchecked; a request without the header is
    /// `Some("")`, and refused.
    pub content_type: Option<&'a str>,
    /// The working directory where the body names none. An invalid one is as none, and none is
    /// the workspace's root, `.` (seed of `agent`).
    pub default_cwd: Option<&'a str>,
    /// The largest body, in bytes.
    pub max_body_bytes: usize,
}

impl Default for ParseOptions<'_> {
    fn default() -> Self {
        Self {
            route: "turn",
            content_type: None,
            default_cwd: None,
            max_body_bytes: BODY_MAX_BYTES,
        }
    }
}

/// A body that is good.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Request {
    /// The user's text, trimmed: 1 to 100,000 characters; empty on a route without one.
    pub prompt: String,
    /// The model that was asked for.
    pub model_id: Option<String>,
    /// The working directory, normalised; `None` where the route has none.
    pub cwd: Option<String>,
    /// The session, where the body names one.
    pub session_id: Option<String>,
    /// Every other field, as it came.
    pub fields: Map<String, Value>,
}

/// A request that is refused, with the answer to give. The answer is JSON even if a stream was
/// asked for (seed of `agent`, early failures).
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
#[non_exhaustive]
pub struct RequestError {
    /// The HTTP status.
    pub status: u16,
    /// What was wrong, for people.
    pub message: String,
    /// What was wrong, as a code, in dialects that have them.
    pub code: Option<&'static str>,
    /// The body of the answer.
    pub body: Vec<u8>,
    /// The headers of the answer.
    pub headers: Headers,
}

impl RequestError {
    /// A refusal in the words of a dialect, with the code that goes with the status.
    #[must_use]
    pub fn new(spec: &RequestSpec, status: u16, message: &str) -> Self {
        let known = spec.codes.iter().find(|(of, _)| *of == status);
        Self::build(spec, status, known.map(|(_, code)| *code), message)
    }

    /// The same with another code; dialects without codes leave it out.
    #[must_use]
    pub fn with_code(spec: &RequestSpec, status: u16, code: &'static str, message: &str) -> Self {
        Self::build(spec, status, (!spec.codes.is_empty()).then_some(code), message)
    }

    fn build(spec: &RequestSpec, status: u16, code: Option<&'static str>, message: &str) -> Self {
        let mut body = Map::new();
        body.insert(spec.error_key.to_string(), Value::from(message));
        if let Some(code) = code {
            body.insert("code".to_string(), Value::from(code));
        }
        let body = Value::Object(body).to_string().into_bytes();
        Self { status, message: message.to_string(), code, body, headers: JSON_HEADERS }
    }
}

/// Reads and checks the body of a request.
///
/// Checked in this order: content type, size, JSON, object, the user's text, model, working
/// directory, session, further fields (`server`, Bodies and cwd). Whether the session, the model and
/// the attachments exist is the server's to find out.
///
/// ```
/// use turnwire::dialect::Dialect;
/// use turnwire::request::{ParseOptions, parse};
/// let spec = Dialect::AGENT.requests();
/// let request = parse(spec, br#"{"prompt":" hi ","cwd":"./src/"}"#, &ParseOptions::default());
/// let request = request.expect("a good body");
/// assert_eq!((request.prompt.as_str(), request.cwd.as_deref()), ("hi", Some("src")));
/// let refused = parse(spec, br#"{"prompt":"hi","cwd":"/etc"}"#, &ParseOptions::default());
/// assert_eq!(refused.expect_err("absolute").status, 400);
/// ```
///
/// # Errors
///
/// [`RequestError`] with the status, body and headers of the answer. A route that the dialect does
/// not have is a 404.
pub fn parse(
    spec: &RequestSpec,
    body: &[u8],
    options: &ParseOptions<'_>,
) -> Result<Request, RequestError> {
    let refuse = |status: u16, message: &str| RequestError::new(spec, status, message);
    let Some(route) = spec.routes.iter().find(|r| r.name == options.route) else {
        return Err(refuse(404, "No such route."));
    };
    // What says nothing needs no type.
    let says_nothing = body.is_empty() && route.prompt.is_empty();
    if options.content_type.is_some_and(|t| !says_nothing && !is_json(t)) {
        return Err(refuse(415, "Content-Type must be application/json."));
    }
    if body.len() > options.max_body_bytes {
        return Err(refuse(413, "The request body is too large."));
    }
    let body = if says_nothing { b"{}" } else { body };
    let Ok(value) = serde_json::from_slice::<Value>(body) else {
        return Err(refuse(400, "The request body is not valid JSON."));
    };
    let Value::Object(mut fields) = value else {
        return Err(refuse(400, "The request body must be a JSON object."));
    };
    let named = |key: &str, rest: &str| RequestError::new(spec, 400, &[key, rest].concat());

    let prompt = if route.prompt.is_empty() {
        String::new()
    } else {
        user_text(spec, route, fields.remove(route.prompt))?
    };

    let mut text_of = |key: Option<&'static str>| match key.map(|k| (k, fields.remove(k))) {
        None | Some((_, None | Some(Value::Null))) => Ok(None),
        Some((_, Some(Value::String(text)))) => Ok((!is_blank(&text)).then_some(text)),
        Some((key, Some(_))) => Err(named(key, " must be a string.")),
    };
    let model_id = text_of(route.model)?.map(|m| m.trim().to_string());
    let cwd = match (route.cwd, text_of(route.cwd)?) {
        (None, _) => None,
        (Some(key), Some(path)) => Some(relative_path(path.trim()).map_err(|fault| {
            named(
                key,
                match fault {
                    PathFault::Absolute => " must be relative to the workspace.",
                    PathFault::Escapes => " must not leave the workspace.",
                    PathFault::Control => " must not hold control characters.",
                },
            )
        })?),
        (Some(_), None) => {
            let default = options.default_cwd.and_then(|path| relative_path(path.trim()).ok());
            Some(default.unwrap_or_else(|| String::from(".")))
        }
    };
    let session_id = text_of(route.session)?;
    if let (Some(key), true, None) = (route.session, route.session_required, &session_id) {
        return Err(named(key, " is required."));
    }
    for (key, of) in route.fields {
        match fields.get(*key).filter(|value| !value.is_null()) {
            None if route.needs.contains(key) => return Err(named(key, " is required.")),
            Some(value) if !of.holds(value) => return Err(named(key, of.refusal())),
            _ => {}
        }
    }
    let has = |key: &&str| fields.get(*key).is_some_and(|value| !value.is_null());
    if !route.one_of.is_empty() && !route.one_of.iter().any(|group| group.iter().all(has)) {
        let groups: Vec<_> = route.one_of.iter().map(|group| group.join(" and ")).collect();
        return Err(refuse(400, &[&groups.join(", or "), " must be given."].concat()));
    }
    Ok(Request { prompt, model_id, cwd, session_id, fields })
}

/// The user's text, trimmed and within its bounds.
fn user_text(
    spec: &RequestSpec,
    route: &RouteSpec,
    value: Option<Value>,
) -> Result<String, RequestError> {
    let refuse = |status: u16, rest: &str| {
        Err(RequestError::new(spec, status, &[route.prompt, rest].concat()))
    };
    let text = match value {
        None | Some(Value::Null) => return refuse(route.missing_status, " is required."),
        Some(Value::String(text)) => text,
        Some(_) => return refuse(400, " must be a string."),
    };
    let text = text.trim();
    if text.is_empty() {
        return refuse(400, " must not be blank.");
    }
    if longer_than(text, PROMPT_MAX_CHARS) {
        return refuse(400, " must have at most 100000 characters.");
    }
    Ok(text.to_string())
}

/// Whether a content type is JSON, parameters aside.
fn is_json(content_type: &str) -> bool {
    let essence = content_type.split(';').next().unwrap_or_default().trim();
    essence.eq_ignore_ascii_case("application/json")
}
