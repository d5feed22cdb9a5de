//! `Turn`: the bytes of one connection, the entries of a log, the JSON answer, the clock.

use serde_json::{Value as Json, json};
use turnwire::dialect::Dialect;
use turnwire::event::{EventKind, OutputStream, ToolStart, TurnStarted};
use turnwire::time::{Millis, TimeoutReason};
use turnwire::turn::{Failure, Finish, Output, ToolOutcome};
use turnwire::{Turn, TurnOptions};

use crate::ends_support::{WALL, entries, turn};

const NOW: Millis = Millis(0);

fn frames(out: &[u8]) -> Vec<Json> {
    let text = std::str::from_utf8(out).unwrap();
    let data = text.lines().filter_map(|line| line.strip_prefix("data: "));
    data.map(|json| serde_json::from_str(json).unwrap()).collect()
}

#[test]
fn case_17_a_keepalive_after_silence_and_none_after_the_end() {
    let (mut t, mut out) = (turn(Dialect::AGENT), Vec::new());
    let wake = |t: &mut Turn, at| {
        let mut out = Vec::new();
        t.handle_timeout(Millis(at), &mut out);
        String::from_utf8(out).unwrap()
    };
    t.tool_start(NOW, ToolStart::new("slow"), &mut out).unwrap();
    assert_eq!(t.poll_timeout(), Some((Millis(15_000), TimeoutReason::Keepalive)));
    assert_eq!(wake(&mut t, 14_999), "");
    assert_eq!(wake(&mut t, 15_000), ": keepalive\n\n");
    assert_eq!(wake(&mut t, 15_000), "", "it was just said");
    t.text(Millis(29_000), "x", &mut out).unwrap();
    assert_eq!(wake(&mut t, 43_999), "");
    assert_eq!(wake(&mut t, 44_000), ": keepalive\n\n");
    t.finish(Millis(45_000), Finish::default(), &mut out).unwrap();
    assert_eq!(wake(&mut t, 90_000), "");
    assert_eq!(t.poll_timeout(), None);
    let header = |name| t.headers().iter().find(|(n, _)| *n == name).map(|(_, v)| *v);
    assert_eq!(header("content-type"), Some("text/event-stream; charset=utf-8"));
    assert_eq!(header("cache-control"), Some("no-cache, no-transform"));
    assert_eq!(header("x-accel-buffering"), Some("no"));
    assert_eq!(t.content_type(), "text/event-stream; charset=utf-8");
}

#[test]
fn a_call_that_says_nothing_does_not_put_the_keepalive_off() {
    let (mut t, mut out) = (turn(Dialect::AGENT), Vec::new());
    t.text(Millis(9_000), "", &mut out).unwrap();
    t.start(Millis(9_000), TurnStarted::new(), &mut out).unwrap();
    t.start(Millis(9_000), TurnStarted::new(), &mut out).unwrap_err();
    assert_eq!(t.poll_timeout(), Some((Millis(15_000), TimeoutReason::Keepalive)));
}

#[test]
fn a_refused_call_appends_nothing_and_the_turn_goes_on() {
    let (mut t, mut out) = (turn(Dialect::WORKSPACE), Vec::new());
    let mut start = ToolStart::new("bash");
    start.call_id = Some("c1".into());
    t.tool_start(NOW, start.clone(), &mut out).unwrap();
    let before = out.clone();
    let refused = t.tool_start(NOW, start, &mut out).unwrap_err();
    assert_eq!((refused.code.as_str(), refused.fault().as_str()), ("duplicate_id", "caller"));
    let unknown = t.tool_output(NOW, "c9", OutputStream::Stdout, "x", &mut out).unwrap_err();
    assert_eq!(unknown.code.as_str(), "unknown_id");
    assert_eq!(out, before);
    t.finish(NOW, Finish::default(), &mut out).unwrap();
    assert!(t.is_finished());
    // The number after the last is the next: a refused call takes none.
    let numbers: Vec<_> = frames(&out).iter().filter_map(|f| f["seq"].as_u64()).collect();
    assert_eq!(numbers, (1..=numbers.len() as u64).collect::<Vec<_>>());
}

#[test]
fn workspace_numbers_events_and_repeats_the_ids_of_the_start() {
    let mut options = TurnOptions::default();
    options.wall_ms = WALL;
    options.first_seq = 41;
    let (mut t, mut out) = (Turn::new(Some(Dialect::WORKSPACE), options).unwrap(), Vec::new());
    let mut start = TurnStarted::new();
    start.turn_id = Some("t1".into());
    start.session_id = Some("s1".into());
    start.workspace_id = Some("w1".into());
    start.user_text = Some("Hi".into());
    t.start(NOW, start, &mut out).unwrap();
    t.text(Millis(5), "Hel", &mut out).unwrap();
    t.text(Millis(6), "lo", &mut out).unwrap();
    t.cancel(Millis(7), "user", &mut out).unwrap();
    let frames = frames(&out);
    let told: Vec<_> =
        frames.iter().map(|f| (f["type"].as_str().unwrap(), f["seq"].as_u64())).collect();
    assert_eq!(
        told,
        [
            ("turn_started", Some(41)),
            ("token", None),
            ("token", None),
            ("hop", Some(44)),
            ("cancelled", Some(45)),
            ("done", Some(46)),
        ]
    );
    assert_eq!(frames[3]["payload"]["text"], "Hello", "a hop covers the tokens before it");
    assert_eq!(frames[1]["ts"], WALL + 5);
    assert!(frames.iter().all(|f| f["turn_id"] == "t1" && f["workspace_id"] == "w1"));
    assert!(String::from_utf8(out).unwrap().ends_with("\nid: 46\n\n"));
}

#[test]
fn without_a_dialect_a_turn_gives_entries_for_a_log() {
    let mut options = TurnOptions::default();
    options.wall_ms = WALL;
    let (mut t, mut out) = (Turn::new(None, options).unwrap(), Vec::new());
    let mut start = TurnStarted::new();
    start.turn_id = Some("t1".into());
    t.start(NOW, start, &mut out).unwrap();
    t.tool_start(Millis(3), ToolStart::new("pwd"), &mut out).unwrap();
    t.fail(Millis(4), Failure::new("No."), &mut out).unwrap();
    assert_eq!((out.len(), t.poll_timeout(), t.content_type()), (0, None, ""));
    let raw: Vec<_> = std::iter::from_fn(|| t.poll_entry()).collect();
    let marks: Vec<_> = raw.iter().map(|e| (e.anchor, e.terminal)).collect();
    let open = (false, false);
    assert_eq!(marks, [(true, false), open, open, (false, true), (false, true)]);
    let json: Vec<Json> = raw.iter().map(|e| serde_json::from_slice(&e.bytes).unwrap()).collect();
    assert_eq!(json[0], json!({"ts_ms": WALL, "turn_id": "t1", "type": "turn_started"}));
    assert_eq!(json[2]["status"], "interrupted", "what was open is settled");
    assert!(json[1]["call_id"].as_str().unwrap().starts_with("call_"), "a log needs ids");
    assert_eq!(
        json[4],
        json!({"ts_ms": WALL + 4, "turn_id": "t1", "type": "done", "status": "failed"})
    );
}

#[test]
fn entries_read_back_are_the_events() {
    let (mut t, mut out) = (Turn::new(None, TurnOptions::default()).unwrap(), Vec::new());
    t.text(NOW, "Hi", &mut out).unwrap();
    t.step_usage(r#"{"input_tokens": 3}"#).unwrap();
    t.finish(NOW, Finish::default(), &mut out).unwrap();
    let kinds: Vec<_> = entries(&mut t).iter().map(|envelope| envelope.event.kind()).collect();
    let expected =
        [EventKind::TurnStarted, EventKind::TextDelta, EventKind::Message, EventKind::Done];
    assert_eq!(kinds, expected);
}

/// Status and body of the JSON answer.
fn answer(t: &Turn) -> (u16, Json) {
    let (status, body) = t.json_response().unwrap();
    (status, serde_json::from_slice(&body).unwrap())
}

#[test]
fn the_json_answer_of_each_ending() {
    let ended = |end: &dyn Fn(&mut Turn, &mut Vec<u8>)| {
        let (mut t, mut out) = (turn(Dialect::AGENT), Vec::new());
        end(&mut t, &mut out);
        answer(&t)
    };
    let finished = ended(&|t, out| {
        t.tool_result(NOW, ToolOutcome::new("pwd", Output::Text("pwd: src")), out).unwrap();
        t.text(NOW, "In src.", out).unwrap();
        t.finish(NOW, Finish::default(), out).unwrap();
    });
    let trace = json!([{"name": "pwd", "ok": true, "summary": "pwd · ✓ ok · src"}]);
    assert_eq!(finished, (200, json!({"text": "In src.", "toolTrace": trace, "cwd": "."})));
    let empty = ended(&|t, out| t.finish(NOW, Finish::default(), out).unwrap());
    assert_eq!(empty, (502, json!({"error": "Empty model response."})));
    let stopped = ended(&|t, out| t.cancel(NOW, "user", out).unwrap());
    assert_eq!(stopped, (499, json!({"error": "Request cancelled."})));
    let failed = ended(&|t, out| t.fail(NOW, Failure::new("No."), out).unwrap());
    assert_eq!(failed, (500, json!({"error": "No."})));
    let slow = ended(&|t, out| {
        let mut failure = Failure::new("Too slow.");
        failure.status = Some(504);
        t.fail(NOW, failure, out).unwrap();
    });
    assert_eq!(slow, (504, json!({"error": "Too slow."})));
}

#[test]
fn a_json_answer_needs_an_end_and_a_dialect_that_has_one() {
    let t = turn(Dialect::AGENT);
    assert_eq!(t.json_response().unwrap_err().code.as_str(), "not_finished");
    let t = turn(Dialect::WORKSPACE);
    assert_eq!(t.json_response().unwrap_err().code.as_str(), "no_json_form");
}

#[test]
fn what_comes_after_the_end_is_noted_and_not_sent() {
    let (mut t, mut out) = (turn(Dialect::AGENT), Vec::new());
    t.finish(NOW, Finish::default(), &mut out).unwrap();
    let before = out.clone();
    t.text(NOW, "late", &mut out).unwrap();
    t.cancel(NOW, "user", &mut out).unwrap();
    assert_eq!(out, before);
    let codes: Vec<_> = t.diagnostics().drain().map(|d| d.code.as_str()).collect();
    assert_eq!(codes, ["after_terminal", "after_terminal"]);
}

#[test]
fn losses_are_told() {
    let (mut t, mut out) = (turn(Dialect::AGENT), Vec::new());
    let title = turnwire::event::Title::new("T").into();
    t.emit(NOW, &title, &mut out).unwrap();
    assert_eq!(t.losses(), [(EventKind::Title, 1)]);
    assert!(out.is_empty());
}
