//! The vectors of a host with its connections: `host_respond.json`, `host_run.json`,
//! `host_workspace.json`, `host_chat.json`.

use serde_json::{Value as Json, json};
use turnwire::dialect::Dialect;
use turnwire::event::{Answer, Channel};
use turnwire::time::Millis;
use turnwire::{Host, HostOptions};

use crate::ends_support::{Reader, WALL};
use crate::vectors::load;

#[test]
fn respond() {
    run(include_str!("../vectors/host_respond.json"));
}

#[test]
fn run_sessions() {
    run(include_str!("../vectors/host_run.json"));
}

#[test]
fn workspace() {
    run(include_str!("../vectors/host_workspace.json"));
}

#[test]
fn chat() {
    run(include_str!("../vectors/host_chat.json"));
}

fn run(file: &str) {
    for case in load(file) {
        for size in [usize::MAX, 1, 7] {
            one(&case, size);
        }
    }
}

/// Runs a case with its bytes cut into pieces of `size`.
fn one(case: &Json, size: usize) {
    let name = case["name"].as_str().unwrap();
    let dialect = Dialect::parse(case["dialect"].as_str().unwrap()).unwrap();
    let mut options = HostOptions::default();
    options.wall_ms = WALL;
    options.session_id = Some("s1".into());
    let mut r = Reader::with(dialect, options);
    for step in case["steps"].as_array().unwrap() {
        take(&mut r, step, size, name);
    }
    check_rows(&r, &case["rows"], name);
    if let Some(session) = case.get("session") {
        let messages = r.host.fold().messages();
        let told: Vec<Json> = messages.map(|m| json!([m.role.as_str(), m.text()])).collect();
        assert_eq!(&json!(told), session, "{name}");
    }
    if let Some(codes) = case.get("diagnostics") {
        assert_eq!(&json!(r.codes()), codes, "{name}");
    }
}

fn take(r: &mut Reader, step: &Json, size: usize, name: &str) {
    let text = |key: &str| step[key].as_str().unwrap_or_default();
    let channel = step["channel"].as_str().map(|name| Channel::parse(name).unwrap());
    let what = text("do");
    if !matches!(what, "op" | "no_op" | "rows" | "state" | "lifecycle") {
        r.ops.clear();
    }
    match what {
        "submit" => r.submit(text("prompt")),
        "open" => {
            let last = step["last_event_id"].as_str();
            r.call(|host, now, sink| host.open(now, last, sink)).unwrap();
        }
        "response" => {
            let status = u16::try_from(step["status"].as_u64().unwrap()).unwrap();
            r.response(status, text("content_type"), channel);
        }
        "feed" => {
            let parts = step["bytes"].as_array().unwrap().iter();
            let bytes: String = parts.map(|part| part.as_str().unwrap()).collect();
            for piece in bytes.as_bytes().chunks(size.min(bytes.len().max(1))) {
                r.feed(piece, channel);
            }
        }
        "finish" => r.finish(channel),
        "fail" => r.fail(text("message"), channel),
        "reload" => {
            let saved = r.host.snapshot();
            r.host = Host::restore(&saved, r.now, WALL + r.now.0).unwrap();
            r.view = r.host.view();
        }
        "stop" => r.call(|host, now, sink| host.stop(now, sink)).unwrap(),
        "wait" => {
            r.now = Millis(r.now.0 + step["ms"].as_u64().unwrap());
            r.wake();
        }
        "answer" => {
            let answers: Vec<Answer<'static>> =
                serde_json::from_value(step["answers"].clone()).unwrap();
            let id = text("question_id");
            r.call(|host, now, sink| host.answer(now, id, &answers, sink)).unwrap();
        }
        "resolve_approval" => {
            let decision = serde_json::from_value(step["decision"].clone()).unwrap();
            let id = text("approval_id");
            r.call(|host, _, sink| host.resolve_approval(id, decision, sink)).unwrap();
        }
        "resolve_plan" => {
            let approved = step["approved"].as_bool().unwrap();
            let (edits, reason) = (step["edits"].as_str(), step["reason"].as_str());
            r.call(|host, _, sink| host.resolve_plan(approved, edits, reason, sink)).unwrap();
        }
        "op" => {
            let found = r.ops.iter().any(|op| holds(op, &step["is"]));
            assert!(found, "{name}: no {} among {:#?}", step["is"], r.ops);
        }
        "no_op" => {
            let found = r.ops.iter().find(|op| holds(op, &step["is"]));
            assert_eq!(found, None, "{name}");
        }
        "rows" => check_rows(r, &step["are"], name),
        "state" => assert_eq!(r.view["state"][text("key")], step["is"], "{name}"),
        "lifecycle" => assert_eq!(r.view["lifecycle"], step["is"], "{name}"),
        other => panic!("{name}: no step {other}"),
    }
}

/// Whether `value` has at least what `expected` has; text that is JSON is read where an object is
/// expected.
fn holds(value: &Json, expected: &Json) -> bool {
    match (value, expected) {
        (Json::Object(map), Json::Object(keys)) => {
            keys.iter().all(|(key, expected)| holds(map.get(key).unwrap_or(&Json::Null), expected))
        }
        (Json::Array(list), Json::Array(expected)) => {
            list.len() == expected.len() && list.iter().zip(expected).all(|(a, b)| holds(a, b))
        }
        (Json::String(text), Json::Object(_)) => {
            serde_json::from_str(text).is_ok_and(|value| holds(&value, expected))
        }
        _ => value == expected,
    }
}

fn check_rows(r: &Reader, expected: &Json, name: &str) {
    let rows = &r.view["rows"];
    assert!(holds(rows, expected), "{name}: {expected:#} is not in {rows:#}");
}
