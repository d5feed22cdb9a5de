//! The token as the page brings it (`server`, Who may call): once in the address, then in a cookie
//! that no script can read and no other site can make a browser send.

use axum::extract::Request;
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::response::Response;

/// The cookie's name. Cookies of one host are shared by its ports, so the port is in it.
fn name(port: u16) -> String {
    format!("turnwire-{port}")
}

/// The token in the cookie.
pub(super) fn token(headers: &HeaderMap, port: u16) -> Option<Vec<u8>> {
    let name = name(port);
    let cookies = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
    let mut pairs =
        cookies.flat_map(|line| line.split(';')).filter_map(|p| p.trim().split_once('='));
    let (_, value) = pairs.find(|(key, _)| *key == name)?;
    unhex(value)
}

/// The token in the address of the page, if it is asked for with one.
pub(super) fn in_address(request: &Request) -> Option<Vec<u8>> {
    let uri = request.uri();
    let fields = uri.query().filter(|_| uri.path() == "/" && request.method() == Method::GET)?;
    let value = fields.split('&').find_map(|field| field.strip_prefix("token="))?;
    Some(unescape(value))
}

/// Sends the browser to the same address without the token, and gives it the cookie.
pub(super) fn keep(token: &[u8], request: &Request, port: u16) -> Response {
    let fields = request.uri().query().unwrap_or_default().split('&');
    let rest: Vec<&str> = fields.filter(|field| !field.starts_with("token=")).collect();
    let to = if rest.is_empty() { "/".to_owned() } else { format!("/?{}", rest.join("&")) };
    let hex: String = token.iter().map(|byte| format!("{byte:02x}")).collect();
    let cookie = format!("{}={hex}; Path=/; HttpOnly; SameSite=Strict", name(port));
    let mut response = Response::default();
    *response.status_mut() = StatusCode::SEE_OTHER;
    for (field, value) in [(header::SET_COOKIE, cookie), (header::LOCATION, to)] {
        // Hexadecimal digits and a query that was parsed: there is nothing that a header forbids.
        if let Ok(value) = HeaderValue::from_str(&value) {
            response.headers_mut().insert(field, value);
        }
    }
    response
}

fn unhex(text: &str) -> Option<Vec<u8>> {
    let digit = |byte: &u8| char::from(*byte).to_digit(16);
    let pairs = text.as_bytes().chunks(2).map(|pair| match pair {
        [high, low] => u8::try_from(digit(high)? * 16 + digit(low)?).ok(),
        _ => None,
    });
    pairs.collect()
}

/// Without percent escapes.
fn unescape(text: &str) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((plain, after)) = rest.split_once('%') {
        out.extend_from_slice(plain.as_bytes());
        match after.get(..2).and_then(unhex) {
            Some(byte) => {
                out.extend(byte);
                rest = after.get(2..).unwrap_or_default();
            }
            None => {
                out.push(b'%');
                rest = after;
            }
        }
    }
    out.extend_from_slice(rest.as_bytes());
    out
}

#[cfg(test)]
mod tests {
    use super::{HeaderMap, HeaderValue, header, token, unescape};

    #[test]
    fn escapes_are_undone() {
        assert_eq!(unescape("a%2Bb%zz%4"), b"a+b%zz%4");
    }

    #[test]
    fn the_cookie_of_this_port_counts() {
        let mut headers = HeaderMap::new();
        let line = "x=1; turnwire-81=6161; turnwire-80=6162; y";
        headers.insert(header::COOKIE, HeaderValue::from_static(line));
        assert_eq!(token(&headers, 80).as_deref(), Some(&b"ab"[..]));
        assert_eq!(token(&headers, 82), None);
        headers.insert(header::COOKIE, HeaderValue::from_static("turnwire-80=61g"));
        assert_eq!(token(&headers, 80), None);
    }
}
