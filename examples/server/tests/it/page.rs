//! The page's routes, below what a browser shows of them.

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::server::{Connection, Request, Response, Server, eventually};

fn get(server: &Server, target: &str) -> Response {
    server.send(&Request::new("GET", target))
}

fn post(server: &Server, target: &str, body: &Value) -> Response {
    let request = Request::new("POST", target).header("Content-Type", "application/json");
    server.send(&request.body(body.to_string()))
}

/// A new session's path.
fn session(server: &Server) -> String {
    let made = server.send(&Request::new("POST", "/page/sessions"));
    assert_eq!(made.status, 201);
    format!("/page/sessions/{}", made.json()["id"].as_str().unwrap())
}

fn watch(server: &Server, session: &str) -> Connection {
    server.open(&Request::new("GET", &format!("{session}/ops")))
}

#[test]
fn the_address_names_the_newest_session() {
    let server = Server::start(&[]);
    let first = get(&server, "/");
    assert_eq!(first.status, 303);
    let place = first.header("location").unwrap().to_owned();
    assert!(place.starts_with("/?session="), "{place}");
    let page = get(&server, &place);
    assert_eq!((page.status, page.header("content-type")), (200, Some("text/html; charset=utf-8")));
    assert!(page.text().contains("<title>turnwire</title>"));

    let newer = session(&server);
    let id = newer.rsplit('/').next().unwrap();
    for target in ["/", "/?session=unknown", "/?other=1"] {
        let place = get(&server, target).header("location").map(str::to_owned);
        assert_eq!(place.unwrap(), format!("/?session={id}"), "{target}");
    }
    assert_eq!(get(&server, &place).status, 200, "an older one keeps its address");
}

#[test]
fn every_file_that_the_page_names_is_there_and_held_in() {
    let server = Server::start(&[]);
    let place = get(&server, "/").header("location").unwrap().to_owned();
    let page = get(&server, &place);
    let names = page.text().split('"').filter(|part| part.starts_with("/page/"));
    let mut waiting: Vec<String> = names.map(str::to_owned).collect();
    let mut seen = vec![page];
    let mut known: Vec<String> = Vec::new();
    while let Some(name) = waiting.pop() {
        if known.contains(&name) {
            continue;
        }
        let file = get(&server, &name);
        assert_eq!(file.status, 200, "{name}");
        if name.ends_with(".js") {
            assert_eq!(file.header("content-type"), Some("text/javascript; charset=utf-8"));
            let imports = file.text().lines().filter_map(|line| line.split_once(" from './"));
            waiting
                .extend(imports.map(|(_, rest)| format!("/page/{}", rest.trim_end_matches("';"))));
        }
        known.push(name);
        seen.push(file);
    }
    assert!(known.len() > 12, "{known:?}");
    for file in &seen {
        let policy = file.header("content-security-policy").unwrap();
        assert!(policy.starts_with("default-src 'none'; script-src 'self';"), "{policy}");
        assert!(!policy.contains("unsafe"), "{policy}");
        assert_eq!(file.header("x-content-type-options"), Some("nosniff"));
        assert_eq!(file.header("referrer-policy"), Some("no-referrer"));
    }
    get(&server, "/page/nothing.js").refusal();
}

#[test]
fn ops_begin_with_the_view_and_carry_the_frames() {
    let server = Server::start(&[]);
    let session = session(&server);
    let mut stream = watch(&server, &session);
    stream.read_until("event: view\n");
    let answer =
        post(&server, &format!("{session}/prompt"), &json!({"text": "say hi", "client_id": "c"}));
    assert_eq!(answer.status, 202);
    stream.read_until("\"client_id\":\"c\"");
    stream.read_until("POST /api/agent");
    stream.read_until("model finished");
    let mut late = watch(&server, &session);
    late.read_until("event: view\n");
    late.read_until("model finished");
}

#[test]
fn what_cannot_be_done_is_refused() {
    let server = Server::start(&[]);
    let session = session(&server);
    let prompt = format!("{session}/prompt");
    let form = Request::new("POST", &prompt).body("{\"text\":\"say hi\"}");
    assert_eq!(server.send(&form.header("Content-Type", "text/plain")).status, 415);
    assert_eq!(post(&server, &prompt, &json!({"prompt": "say hi"})).status, 400);
    assert_eq!(post(&server, &prompt, &json!({"text": "wait 30 seconds"})).status, 202);
    assert_eq!(post(&server, &prompt, &json!({"text": "say hi"})).status, 409);
    assert_eq!(post(&server, &format!("{session}/earlier"), &json!({})).json()["moved"], false);
    for _ in 0..2 {
        assert_eq!(post(&server, &format!("{session}/stop"), &json!({})).status, 202);
    }
    assert_eq!(post(&server, &prompt, &json!({"text": "say hi"})).status, 202);
    for (method, what) in [("GET", "ops"), ("POST", "stop"), ("POST", "earlier")] {
        let answer = server.send(&Request::new(method, &format!("/page/sessions/none/{what}")));
        assert_eq!(answer.status, 404, "{what}");
        answer.refusal();
    }
}

#[test]
fn a_refused_turn_is_one_line() {
    let server = Server::start(&["--max-turns", "1"]);
    let (one, other) = (session(&server), session(&server));
    post(&server, &format!("{one}/prompt"), &json!({"text": "wait 30 seconds"}));
    let mut stream = watch(&server, &other);
    assert_eq!(post(&server, &format!("{other}/prompt"), &json!({"text": "say hi"})).status, 202);
    stream.read_until("Turn ended · error · ");
    stream.read_until("429 Too Many Requests");
}

#[test]
fn earlier_rows_are_shown_on_demand() {
    let server = Server::start(&[]);
    let session = session(&server);
    let prompt = format!("{session}/prompt");
    // Three rows a turn; the ring keeps 2,048.
    for _ in 0..690 {
        let body = json!({"text": "say x"});
        eventually("the turn before has ended", || post(&server, &prompt, &body).status == 202);
    }
    watch(&server, &session).read_until("\"lifecycle\":\"ready\"");
    let mut before = watch(&server, &session);
    before.read_until("\"earlier\":22");
    let moved = post(&server, &format!("{session}/earlier"), &json!({})).json();
    assert_eq!(moved, json!({"moved": true}));
    before.read_until("\"earlier\":0,\"reason\":\"earlier\"");
    let moved = post(&server, &format!("{session}/earlier"), &json!({})).json();
    assert_eq!(moved, json!({"moved": false}));
}

#[test]
fn a_token_in_the_address_becomes_a_cookie() {
    let server = Server::start(&["--token", "s3c+ret"]);
    assert_eq!(get(&server, "/").status, 401);
    assert_eq!(get(&server, "/?token=wrong").status, 403);
    let kept = get(&server, "/?session=a&token=s3c%2Bret");
    assert_eq!((kept.status, kept.header("location")), (303, Some("/?session=a")));
    let cookie = kept.header("set-cookie").unwrap();
    assert!(cookie.ends_with("; Path=/; HttpOnly; SameSite=Strict"), "{cookie}");
    assert!(!cookie.contains("s3c"), "{cookie}");
    let (pair, _) = cookie.split_once(';').unwrap();
    let with = |pair: &str| server.send(&Request::new("GET", "/").header("Cookie", pair)).status;
    assert_eq!((with(pair), with(&format!("{pair}00"))), (303, 403));
    let foreign = Request::new("POST", "/page/sessions").header("Cookie", pair);
    assert_eq!(server.send(&foreign.header("Origin", "http://evil.test")).status, 403);
}

#[test]
fn a_page_that_looks_on_does_not_keep_the_server_up() {
    let mut server = Server::start(&[]);
    let session = session(&server);
    let mut stream = watch(&server, &session);
    stream.read_until("event: view\n");
    post(&server, &format!("{session}/prompt"), &json!({"text": "wait 2 seconds, then say bye"}));
    stream.read_until("\"lifecycle\":\"busy\"");
    server.signal(Signal::TERM);
    stream.read_until("model finished");
    assert!(server.wait().success());
}

#[test]
fn a_page_that_does_not_read_holds_nobody_up() {
    let server = Server::start(&[]);
    let session = session(&server);
    let _idle = watch(&server, &session);
    let prompt = format!("{session}/prompt");
    // More than the buffers between the two can hold.
    assert_eq!(post(&server, &prompt, &json!({"text": "count to 80000"})).status, 202);
    let next = json!({"text": "say hi"});
    eventually("the turn has ended", || post(&server, &prompt, &next).status == 202);
    watch(&server, &session).read_until("event: view\n");
}
