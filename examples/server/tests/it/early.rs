//! Early failures: always JSON, in the order of the contract, whatever the client accepts.

use serde_json::json;

use crate::server::{Request, Server};

fn refused(server: &Server, request: &Request, status: u16) -> String {
    let plain = server.send(request);
    assert_eq!(plain.status, status, "{}", plain.text());
    let streaming = server.send(&request.clone().stream());
    assert_eq!((streaming.status, streaming.text()), (status, plain.text()));
    plain.refusal()
}

#[test]
fn what_is_not_there_is_404_and_405() {
    let server = Server::start(&[]);
    refused(&server, &Request::new("GET", "/nothing"), 404);
    refused(&server, &Request::new("GET", "/api/agent"), 405);
    let response = server.send(&Request::new("DELETE", "/api/agent"));
    assert_eq!((response.status, response.header("allow")), (405, Some("POST")));
    let health = server.send(&Request::new("GET", "/healthz"));
    assert_eq!((health.status, health.text()), (200, "ok"));
}

#[test]
fn anything_but_json_is_415() {
    let server = Server::start(&[]);
    let body = json!({ "prompt": "say hi" }).to_string();
    let bare = Request::new("POST", "/api/agent").body(&body);
    refused(&server, &bare, 415);
    for kind in ["text/plain", "application/x-www-form-urlencoded", "application/jsonp"] {
        refused(&server, &bare.clone().header("Content-Type", kind), 415);
    }
    let good = bare.header("Content-Type", "application/json; charset=utf-8");
    assert_eq!(server.send(&good).status, 200);
}

#[test]
fn a_bad_body_is_400() {
    let server = Server::start(&[]);
    let long = "x".repeat(100_001);
    let bodies = [
        String::new(),
        "{".to_owned(),
        "[]".to_owned(),
        "{}".to_owned(),
        json!({ "prompt": null }).to_string(),
        json!({ "prompt": 7 }).to_string(),
        json!({ "prompt": " \n " }).to_string(),
        json!({ "prompt": long }).to_string(),
        json!({ "prompt": "say hi", "modelId": "unknown/model" }).to_string(),
    ];
    for body in &bodies {
        refused(&server, &Request::post(body), 400);
    }
    refused(&server, &Request::post(b"{\"prompt\":\"\xff\"}"), 400);
    let longest = json!({ "prompt": format!("say {}", &long[..99_996]) }).to_string();
    assert_eq!(server.send(&Request::post(longest)).status, 200);
}

#[test]
fn a_cwd_that_is_no_folder_of_the_workspace_is_400() {
    let server = Server::start(&[]);
    server.write("src/a.txt", "a");
    let post =
        |cwd: serde_json::Value| Request::post(json!({ "prompt": "pwd", "cwd": cwd }).to_string());
    let bad = [
        json!("/etc"),
        json!("\\etc"),
        json!("C:\\Windows"),
        json!("~/x"),
        json!(".."),
        json!("src/../../x"),
        json!("a\u{7f}b"),
        json!("a\nb"),
        json!(5),
        json!(["src"]),
        json!("missing"),
        json!("src/a.txt"),
    ];
    for cwd in bad {
        refused(&server, &post(cwd), 400);
    }
    for (cwd, at) in [(json!("./src/"), "src"), (json!(" "), "."), (json!(null), ".")] {
        assert_eq!(server.send(&post(cwd)).json()["cwd"], at);
    }
}

#[test]
fn a_body_over_the_bound_is_413_declared_or_streamed() {
    let server = Server::start(&["--max-body-bytes", "2000"]);
    let body = |size: usize| {
        let text = "x".repeat(size - json!({ "prompt": "say " }).to_string().len());
        json!({ "prompt": format!("say {text}") }).to_string()
    };
    assert_eq!(server.send(&Request::post(body(2000))).status, 200);
    refused(&server, &Request::post(body(2001)), 413);
    refused(&server, &Request::post(body(3_000_000)), 413);

    let chunked = |size: usize| {
        let body = body(size);
        let body = format!("{size:x}\r\n{body}\r\n0\r\n\r\n");
        Request::post(body).header("Transfer-Encoding", "chunked")
    };
    assert_eq!(server.send(&chunked(2000)).status, 200);
    refused(&server, &chunked(2001), 413);
    refused(&server, &chunked(3_000_000), 413);

    let waiting = Request::post("").header("Expect", "100-continue");
    refused(&server, &waiting.header("Content-Length", "5000"), 413);
    let wrong_type = Request::new("POST", "/api/agent").header("Content-Type", "text/plain");
    refused(&server, &wrong_type.body(body(5000)), 415);
}

#[test]
fn over_max_turns_is_429_until_one_ends() {
    let server = Server::start(&["--max-turns", "1"]);
    let mut running = server.open(&Request::prompt("say hi, then wait 600 seconds").stream());
    running.read_until("text_delta");
    let response = server.ask("say hi");
    assert_eq!(response.status, 429);
    assert!(response.header("retry-after").unwrap().parse::<u32>().unwrap() > 0);
    refused(&server, &Request::prompt("say hi"), 429);
    // What is wrong with a request is told first, and health is no turn.
    refused(&server, &Request::post("{}"), 400);
    assert_eq!(server.send(&Request::new("GET", "/healthz")).status, 200);
    drop(running);
    crate::server::eventually("the place is free", || server.ask("say hi").status == 200);
}
