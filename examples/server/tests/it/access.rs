//! Who may call: token, Host, Origin.

use crate::server::{Request, Server};

fn status(server: &Server, request: Request) -> u16 {
    let response = server.send(&request);
    if response.status != 200 {
        response.refusal();
    }
    response.status
}

#[test]
fn a_token_is_asked_for_and_compared() {
    let server = Server::start(&["--token", "s3cret"]);
    let with = |value: &str| Request::prompt("say hi").header("Authorization", value);
    let none = server.send(&Request::prompt("say hi").stream());
    assert_eq!((none.status, none.header("www-authenticate")), (401, Some("Bearer")));
    none.refusal();
    for value in ["Basic czNjcmV0", "Bearer", "Bearer  ", "s3cret"] {
        assert_eq!(status(&server, with(value)), 401, "{value:?}");
    }
    let empty = server.send(&Request::new("GET", "/?token="));
    assert_eq!(empty.status, 401);
    for value in ["Bearer s3cre", "Bearer s3cret2", "Bearer S3CRET"] {
        assert_eq!(status(&server, with(value)), 403, "{value:?}");
    }
    for value in ["Bearer s3cret", "bearer s3cret"] {
        assert_eq!(status(&server, with(value)), 200, "{value:?}");
    }
    // Before the body is looked at, and for routes that do not exist.
    assert_eq!(status(&server, Request::post("{")), 401);
    assert_eq!(status(&server, Request::new("GET", "/nothing")), 401);
    assert_eq!(status(&server, Request::new("GET", "/healthz")), 200);
}

#[test]
fn a_foreign_host_name_is_403() {
    let server = Server::start(&["--allow-origin", "http://App.test:3000"]);
    let port = server.address.port();
    let with = |host: &str| Request::prompt("say hi").header("Host", host);
    let own = [format!("localhost:{port}"), format!("LOCALHOST:{port}"), format!("[::1]:{port}")];
    for host in own.iter().map(String::as_str).chain(["app.test:3000"]) {
        assert_eq!(status(&server, with(host)), 200, "{host}");
    }
    let foreign = [format!("evil.test:{port}"), format!("localhost:{}", port ^ 1), "a".into()];
    for host in &foreign {
        assert_eq!(status(&server, with(host)), 403, "{host}");
        assert_eq!(status(&server, Request::new("GET", "/healthz").header("Host", host)), 403);
    }
    assert_eq!(status(&server, with("")), 403, "no Host at all");
    let two = with(&own[0]).header("Host", &own[0]);
    assert_eq!(status(&server, two), 403, "two of them");
    let target = format!("http://evil.test:{port}/healthz");
    assert_eq!(status(&server, Request::new("GET", &target)), 403);
}

#[test]
fn a_foreign_origin_is_403() {
    let server = Server::start(&["--allow-origin", "http://app.test:3000"]);
    let with = |origin: &str| Request::prompt("say hi").header("Origin", origin);
    assert_eq!(status(&server, with(&format!("http://{}", server.address))), 200);
    let port = server.address.port();
    let foreign = [format!("https://127.0.0.1:{port}"), format!("http://evil.test:{port}")];
    for origin in foreign.iter().map(String::as_str).chain(["null", "http://app.test"]) {
        assert_eq!(status(&server, with(origin)), 403, "{origin}");
    }
    let allowed = server.send(&with("http://app.test:3000"));
    let named = allowed.header("access-control-allow-origin");
    assert_eq!((allowed.status, named), (200, Some("http://app.test:3000")));
}

#[test]
fn a_page_at_another_address_is_foreign_to_a_server_at_every_address() {
    let server = Server::start(&["--host", "0.0.0.0"]);
    let port = server.address.port();
    let with = |host: &str, origin: &str| {
        let request = Request::prompt("say hi").header("Host", &format!("{host}:{port}"));
        status(&server, request.header("Origin", &format!("http://{origin}:{port}")))
    };
    for (host, origin) in [("192.0.2.1", "192.0.2.1"), ("192.0.2.1", "localhost")] {
        assert_eq!(with(host, origin), 200, "{origin} to {host}");
    }
    for (host, origin) in [("127.0.0.1", "192.0.2.1"), ("localhost", "192.0.2.1")] {
        assert_eq!(with(host, origin), 403, "{origin} to {host}");
    }
}

#[test]
fn an_allowed_page_may_ask_before_it_posts() {
    let server = Server::start(&["--allow-origin", "http://app.test:3000", "--token", "s3cret"]);
    let ask = |origin: &str| {
        let request = Request::new("OPTIONS", "/api/agent").header("Origin", origin);
        server.send(&request.header("Access-Control-Request-Method", "POST"))
    };
    let yes = ask("http://app.test:3000");
    assert_eq!(yes.status, 204);
    assert!(yes.header("access-control-allow-methods").unwrap().contains("POST"));
    assert!(yes.header("access-control-allow-headers").unwrap().contains("Authorization"));
    assert_eq!(ask("http://evil.test").status, 403);
}
