//! Who may call (`server`, Who may call).
//!
//! A page of another site can make a browser send requests here, and a name that it controls can
//! be made to mean this machine. So the Host must be a name of this server, and the Origin, if
//! there is one, a page of this server or one that a flag allows. Then the token.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::Response;
use subtle::ConstantTimeEq;

use super::cookie;
use super::reply::refusal;
use crate::app::App;

/// The rules of one server.
pub(crate) struct Access {
    token: Option<String>,
    /// `name:port` or `name`, in lower case.
    hosts: Vec<String>,
    /// As browsers write them.
    origins: Vec<String>,
    /// Bound to every address: any address of the machine is a name of this server, and none of
    /// them can be made to mean another one.
    any_address: bool,
    port: u16,
}

impl Access {
    /// The rules of a server that was told to listen on `host` and listens on `bound`.
    pub(crate) fn new(
        host: &str,
        bound: SocketAddr,
        token: Option<String>,
        origins: Vec<String>,
    ) -> Self {
        let port = bound.port();
        let mut hosts = vec![bound.to_string()];
        for name in [&host.to_ascii_lowercase(), "localhost", "127.0.0.1", "[::1]"] {
            hosts.push(format!("{name}:{port}"));
            if port == 80 {
                hosts.push(name.to_owned());
            }
        }
        hosts.extend(origins.iter().filter_map(|o| o.split_once("://")).map(|(_, h)| h.to_owned()));
        Self { token, hosts, origins, any_address: bound.ip().is_unspecified(), port }
    }

    fn is_own_host(&self, host: &str) -> bool {
        let host = host.to_ascii_lowercase();
        self.hosts.contains(&host) || (self.any_address && self.is_address(&host))
    }

    fn is_address(&self, host: &str) -> bool {
        match host.parse::<SocketAddr>() {
            Ok(address) => address.port() == self.port,
            Err(_) => self.port == 80 && host.parse::<IpAddr>().is_ok(),
        }
    }

    /// A page's own server may be at any address, so that an address alone says nothing: either it
    /// is the one that this request went to, or it is one of the names.
    fn is_own_origin(&self, origin: &str, headers: &HeaderMap) -> bool {
        self.is_allowed_origin(origin)
            || origin.strip_prefix("http://").is_some_and(|host| {
                self.hosts.iter().any(|own| own.eq_ignore_ascii_case(host))
                    || only(headers, &header::HOST).is_some_and(|to| to.eq_ignore_ascii_case(host))
            })
    }

    fn is_allowed_origin(&self, origin: &str) -> bool {
        self.origins.iter().any(|allowed| allowed == origin)
    }

    /// The one value of Host, which an absolute request target must not contradict.
    fn check_host(&self, request: &Request) -> bool {
        let target = request.uri().authority().is_none_or(|a| self.is_own_host(a.as_str()));
        target && only(request.headers(), &header::HOST).is_some_and(|host| self.is_own_host(host))
    }

    /// The refusal, if there is one.
    fn refuse_token(&self, headers: &HeaderMap) -> Option<Response> {
        let token = self.token.as_ref()?;
        let given = only(headers, &header::AUTHORIZATION)
            .and_then(|value| value.split_once(' '))
            .filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer"))
            .map(|(_, given)| given.trim().as_bytes().to_vec())
            .or_else(|| cookie::token(headers, self.port))
            .filter(|given| !given.is_empty());
        let Some(given) = given else {
            let mut response = refusal(StatusCode::UNAUTHORIZED, "A token is needed.");
            let bearer = HeaderValue::from_static("Bearer");
            response.headers_mut().insert(header::WWW_AUTHENTICATE, bearer);
            return Some(response);
        };
        if bool::from(given.ct_eq(token.as_bytes())) {
            return None;
        }
        Some(refusal(StatusCode::FORBIDDEN, "The token is wrong."))
    }

    /// The answer to a page that is asked for with a token in its address.
    fn take_token(&self, request: &Request) -> Option<Response> {
        let token = self.token.as_ref()?;
        let given = cookie::in_address(request).filter(|given| !given.is_empty())?;
        if bool::from(given.ct_eq(token.as_bytes())) {
            return Some(cookie::keep(&given, request, self.port));
        }
        Some(refusal(StatusCode::FORBIDDEN, "The token is wrong."))
    }
}

/// Lets a request through to its route, or refuses it.
pub(super) async fn guard(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    let access = &app.access;
    if !access.check_host(&request) {
        return refusal(StatusCode::FORBIDDEN, "This host name is not allowed.");
    }
    let mut allowed = None;
    if request.headers().contains_key(header::ORIGIN) {
        let origin = only(request.headers(), &header::ORIGIN);
        let own = |origin| access.is_own_origin(origin, request.headers());
        if !origin.is_some_and(own) {
            return refusal(StatusCode::FORBIDDEN, "This origin is not allowed.");
        }
        // A page of another origin reads an answer only if the answer names it.
        let foreign = origin.filter(|origin| access.is_allowed_origin(origin));
        allowed = foreign.and_then(|origin| HeaderValue::from_str(origin).ok());
    }
    let preflight = allowed.is_some()
        && request.method() == Method::OPTIONS
        && request.headers().contains_key(header::ACCESS_CONTROL_REQUEST_METHOD);
    let mut response = if preflight {
        // Browsers send no token with a preflight.
        permission()
    } else if request.uri().path() == "/healthz" {
        next.run(request).await
    } else if let Some(response) = access.take_token(&request) {
        response
    } else {
        match access.refuse_token(request.headers()) {
            None => next.run(request).await,
            Some(refused) => refused,
        }
    };
    if let Some(origin) = allowed {
        let headers = response.headers_mut();
        headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin);
        headers.insert(header::VARY, HeaderValue::from_static("Origin"));
    }
    response
}

fn permission() -> Response {
    let mut response = Response::default();
    *response.status_mut() = StatusCode::NO_CONTENT;
    let headers = response.headers_mut();
    let methods = HeaderValue::from_static("GET, POST");
    headers.insert(header::ACCESS_CONTROL_ALLOW_METHODS, methods);
    let fields = HeaderValue::from_static("Accept, Authorization, Content-Type, Last-Event-ID");
    headers.insert(header::ACCESS_CONTROL_ALLOW_HEADERS, fields);
    response
}

/// The value of a header that is there exactly once.
fn only<'a>(headers: &'a HeaderMap, name: &header::HeaderName) -> Option<&'a str> {
    let mut values = headers.get_all(name).iter();
    let value = values.next()?.to_str().ok()?;
    values.next().is_none().then_some(value)
}
