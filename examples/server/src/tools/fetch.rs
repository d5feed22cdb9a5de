//! Fetching a URL of this machine.
//!
//! The name is resolved once, every address it has must be a loopback one, and the connection goes
//! to the address that was checked. Redirects are shown, not followed.

use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use axum::http::{Request, Uri, header};
use http_body_util::{BodyExt, Empty};
use hyper::body::{Body, Bytes, Incoming};
use hyper_util::rt::TokioIo;
use tokio::net::{TcpStream, lookup_host};
use tokio::time::timeout;

use super::failure;

/// Time that a fetch may take, from the name to the last byte.
const TIME_MAX: Duration = Duration::from_secs(20);

/// Bytes of the answer's body that are read.
const BODY_MAX_BYTES: usize = 256 << 10;

/// `http_get U → S flags`, then the body. A flag is `truncated` or `redirect`.
pub(super) async fn http_get(url: &str) -> String {
    match timeout(TIME_MAX, get(url)).await {
        Ok(Ok(text)) => text,
        Ok(Err(why)) => failure("http_get", &format!("{}: {why}", url.escape_debug())),
        Err(_) => failure("http_get", &format!("{}: TIMED_OUT", url.escape_debug())),
    }
}

async fn get(url: &str) -> Result<String, String> {
    let uri: Uri = url.parse().map_err(|_| "not a URL".to_owned())?;
    if uri.scheme_str() != Some("http") {
        return Err("only http URLs of this machine can be fetched".to_owned());
    }
    let authority = uri.authority().ok_or("the URL names no host")?;
    if authority.as_str().contains('@') {
        return Err("a URL with a user name is refused".to_owned());
    }
    let port = match authority.as_str().strip_prefix(authority.host()).unwrap_or_default() {
        "" | ":" => 80,
        // The crate gives no port for one that it cannot read, as if there were none.
        _ => authority.port_u16().filter(|port| *port > 0).ok_or("the port is no port")?,
    };
    let address = loopback(authority.host(), port).await?;
    let stream = TcpStream::connect(address).await.map_err(|e| e.kind().to_string())?;
    let (mut sender, connection) = hyper::client::conn::http1::Builder::new()
        .max_buf_size(64 << 10)
        .handshake::<_, Empty<Bytes>>(TokioIo::new(stream))
        .await
        .map_err(|e| e.to_string())?;
    let request = Request::get(uri.path_and_query().map_or("/", |p| p.as_str()))
        .header(header::HOST, authority.as_str())
        .header(header::USER_AGENT, concat!("turnwire-server/", env!("CARGO_PKG_VERSION")))
        .header(header::CONNECTION, "close")
        .body(Empty::new())
        .map_err(|e| e.to_string())?;
    let answer = async {
        let response = sender.send_request(request).await.map_err(|e| e.to_string())?;
        let status = response.status();
        let (body, truncated) = read(response.into_body()).await?;
        let mut text = format!("http_get {url} → {}", status.as_u16());
        if status.is_redirection() {
            text.push_str(" redirect");
        }
        if truncated {
            text.push_str(" truncated");
        }
        text.push('\n');
        text.push_str(&String::from_utf8_lossy(&body));
        Ok(text)
    };
    // The connection is driven beside the answer, so that it ends with this call.
    tokio::pin!(answer);
    tokio::select! {
        text = &mut answer => text,
        _ = connection => answer.await,
    }
}

/// The one address to connect to.
async fn loopback(host: &str, port: u16) -> Result<SocketAddr, String> {
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    let addresses: Vec<SocketAddr> = match bare.parse::<IpAddr>() {
        Ok(ip) => vec![SocketAddr::new(ip, port)],
        Err(_) => lookup_host((bare, port))
            .await
            .map_err(|_| "the host is not known".to_owned())?
            .collect(),
    };
    if !addresses.iter().all(|a| a.ip().to_canonical().is_loopback()) {
        return Err("only addresses of this machine can be fetched".to_owned());
    }
    addresses.first().copied().ok_or_else(|| "the host has no address".to_owned())
}

async fn read(mut body: Incoming) -> Result<(Vec<u8>, bool), String> {
    let mut bytes = Vec::new();
    while !body.is_end_stream() {
        let Some(frame) = body.frame().await else { break };
        let Ok(data) = frame.map_err(|e| e.to_string())?.into_data() else { continue };
        let room = BODY_MAX_BYTES.saturating_sub(bytes.len());
        if data.len() > room {
            bytes.extend_from_slice(data.get(..room).unwrap_or_default());
            return Ok((bytes, true));
        }
        bytes.extend_from_slice(&data);
    }
    Ok((bytes, false))
}
