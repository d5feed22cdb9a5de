//! `Host`: its connections, from request to end.

use serde_json::json;
use turnwire::dialect::Dialect;
use turnwire::event::{Channel, ToolStart};
use turnwire::time::{Millis, TimeoutReason};
use turnwire::turn::{Finish, Output, ToolOutcome};
use turnwire::{Host, HostOptions};

use crate::ends_support::{Reader, WALL, turn};

const SSE: &str = "text/event-stream; charset=utf-8";
const NOW: Millis = Millis(0);

fn stream(events: &[serde_json::Value]) -> Vec<u8> {
    events.iter().map(|event| format!("data: {event}\n\n")).collect::<String>().into_bytes()
}

/// A turn that reads a file, as its bytes.
fn spoken() -> Vec<u8> {
    let (mut t, mut out) = (turn(Dialect::AGENT), Vec::new());
    t.reasoning(NOW, "Look first.", &mut out).unwrap();
    t.tool_start(NOW, ToolStart::new("read_file"), &mut out).unwrap();
    let file = Output::Text("read_file a.md:\n# Title\ntext");
    t.tool_result(NOW, ToolOutcome::new("read_file", file), &mut out).unwrap();
    for piece in ["It ", "is ", "short."] {
        t.text(NOW, piece, &mut out).unwrap();
    }
    t.finish(NOW, Finish::default(), &mut out).unwrap();
    out
}

#[test]
fn a_turn_from_prompt_to_rows() {
    let mut r = Reader::new(Dialect::AGENT);
    r.submit("  Read a.md ");
    let request = &r.take("request")[0];
    assert_eq!(request["method"], "POST");
    assert_eq!((&request["role"], &request["channel"]), (&json!("turn"), &json!("turn")));
    assert_eq!(request["path"], "/api/agent");
    assert_eq!(request["headers"]["accept"], "text/event-stream");
    let body: serde_json::Value = serde_json::from_str(request["body"].as_str().unwrap()).unwrap();
    assert_eq!(body, json!({"prompt": "Read a.md"}));
    r.response(200, SSE, None);
    for byte in spoken().chunks(7) {
        r.feed(byte, None);
    }
    r.finish(None);
    let expected = [
        "user: Read a.md",
        "thinking: Look first.",
        "tool_run: read_file ok",
        "assistant: It is short.",
        "system: Turn ended · model finished",
    ];
    assert_eq!(r.rows(), expected);
    assert_eq!(r.take("closed"), [json!({"op": "closed", "channel": "turn", "reason": "end"})]);
    assert_eq!(r.host.cwd(), Some("."));
    assert!(r.codes().is_empty());
    // The next prompt carries what was said.
    r.submit("Thanks");
    let request = &r.take("request")[0];
    let body: serde_json::Value = serde_json::from_str(request["body"].as_str().unwrap()).unwrap();
    let prompt = body["prompt"].as_str().unwrap();
    assert!(prompt.ends_with("Assistant: It is short.\n\nUser: Thanks\n\nAssistant:"), "{prompt}");
    assert_eq!(body["cwd"], ".");
}

#[test]
fn a_json_answer_paints_its_tools_before_its_text() {
    let mut r = Reader::new(Dialect::AGENT);
    r.submit("pwd?");
    r.response(200, "application/json", None);
    let answer = json!({"text": "In src.", "cwd": "src",
        "toolTrace": [{"name": "pwd", "ok": true, "summary": "pwd · ✓ ok · src"}]});
    for piece in answer.to_string().as_bytes().chunks(9) {
        r.feed(piece, None);
    }
    r.finish(None);
    let expected = [
        "user: pwd?",
        "tool_run: pwd ok",
        "assistant: In src.",
        "system: Turn ended · model finished",
    ];
    assert_eq!(r.rows(), expected);
    assert_eq!(r.host.cwd(), Some("src"));
}

#[test]
fn a_refusal_is_one_row_in_the_words_of_the_server() {
    let refused = |status: u16, body: &str| {
        let mut r = Reader::new(Dialect::AGENT);
        r.submit("Hi");
        r.response(status, "application/json", None);
        r.feed(body.as_bytes(), None);
        r.finish(None);
        assert_eq!(r.rows().len(), 2);
        assert_eq!(r.host.lifecycle().as_str(), "ready");
        r.rows().remove(1)
    };
    let row = refused(401, r#"{"error":"Sign in first."}"#);
    assert_eq!(row, "error: Turn ended · error · Sign in first.");
    assert_eq!(refused(404, "<html>"), "error: Turn ended · error · Agent API not available.");
    assert_eq!(refused(503, ""), "error: Turn ended · error · Request failed (503).");
    assert_eq!(refused(499, r#"{"error":"x"}"#), "system: Turn ended · you stopped");
    let empty = r#"{"error":"Empty model response."}"#;
    assert_eq!(refused(502, empty), "error: Turn ended · empty model response");
    assert_eq!(refused(504, r#"{"error":"Slow."}"#), "error: Turn ended · timed out · Slow.");
}

#[test]
fn after_an_error_nothing_more_is_read() {
    let mut r = Reader::new(Dialect::AGENT);
    r.submit("Hi");
    r.response(200, SSE, None);
    r.feed(
        &stream(&[
            json!({"type": "text_delta", "text": "Half"}),
            json!({"type": "error", "error": "No."}),
            json!({"type": "text_delta", "text": "late"}),
        ]),
        None,
    );
    assert_eq!(r.take("abort").len(), 1);
    r.feed(&stream(&[json!({"type": "text_delta", "text": "later"})]), None);
    r.fail("aborted", None);
    assert_eq!(r.rows(), ["user: Hi", "assistant: Half", "error: Turn ended · error · No."]);
    assert_eq!(r.take("closed")[0]["reason"], "aborted");
}

#[test]
fn stop_settles_rows_at_once_and_aborts() {
    let mut r = Reader::new(Dialect::AGENT);
    r.submit("Hi");
    r.call(Host::stop).unwrap();
    assert_eq!(r.rows(), ["user: Hi", "system: Turn ended · you stopped"]);
    let names: Vec<_> = r.ops.iter().filter_map(|op| op["op"].as_str()).collect();
    assert!(names.contains(&"abort") && names.contains(&"cancelled"), "{names:?}");
    // A new turn on the same host is not touched by what the old answer still brings.
    r.submit("Again");
    r.response(200, SSE, None);
    r.feed(&stream(&[json!({"type": "text_delta", "text": "Yes"}), json!({"type": "done"})]), None);
    assert_eq!(
        r.rows()[2..],
        ["user: Again", "assistant: Yes", "system: Turn ended · model finished"]
    );
    r.call(Host::stop).unwrap();
    assert_eq!(r.rows().len(), 5, "nothing runs, so nothing is stopped");
}

#[test]
fn the_end_of_the_input_before_the_turns_end() {
    let ended = |dialect: Dialect, bytes: &[u8]| {
        let mut r = Reader::new(dialect);
        r.submit("Hi");
        r.response(200, SSE, Some(Channel::Turn));
        r.feed(bytes, Some(Channel::Turn));
        r.finish(Some(Channel::Turn));
        r.rows().pop().unwrap()
    };
    let text = stream(&[json!({"type": "text_delta", "text": "Hi"})]);
    assert_eq!(ended(Dialect::AGENT, &text), "system: Turn ended · model finished");
    assert_eq!(ended(Dialect::AGENT, b""), "error: Turn ended · empty model response");
    assert_eq!(
        ended(Dialect::AGENT, b"data: {\"type\":\"done\",\"text\":\"x\"}"),
        "system: Turn ended · model finished"
    );
}

#[test]
fn a_broken_connection_is_an_error_and_keeps_what_was_said() {
    let mut r = Reader::new(Dialect::AGENT);
    r.submit("Hi");
    r.response(200, SSE, None);
    r.feed(&stream(&[json!({"type": "text_delta", "text": "Half"})]), None);
    r.fail("network error", None);
    let rows = ["user: Hi", "assistant: Half", "error: Turn ended · error · network error"];
    assert_eq!(r.rows(), rows);
}

#[test]
fn silence_for_too_long_gives_the_turn_up() {
    let mut options = HostOptions::default();
    options.wall_ms = WALL;
    options.stall_ms = Some(60_000);
    let mut r = Reader::with(Dialect::AGENT, options);
    assert_eq!(r.host.poll_timeout(), None);
    r.submit("Hi");
    r.now = Millis(50_000);
    r.response(200, SSE, None);
    r.feed(b": keepalive\n\n", None);
    r.now = Millis(109_999);
    r.wake();
    assert_eq!(r.rows().len(), 1, "a spurious wake-up does nothing");
    assert_eq!(r.host.poll_timeout(), Some((Millis(110_000), TimeoutReason::Stall)));
    r.now = Millis(110_000);
    r.wake();
    let last = r.rows().pop().unwrap();
    assert_eq!(last, "error: Turn ended · timed out · The server was silent for too long.");
    assert_eq!(r.take("abort").len(), 1);
    assert_eq!(r.host.poll_timeout(), None);
}

#[test]
fn a_prompt_that_cannot_be_sent_is_one_row() {
    let mut r = Reader::new(Dialect::AGENT);
    r.submit("  ");
    assert_eq!(r.rows().len(), 1);
    assert!(r.rows()[0].starts_with("error: Turn ended · invalid input"));
    assert_eq!((r.take("request").len(), r.codes()), (0, vec!["blank_prompt"]));
    r.submit("Hi");
    let busy = r.call(|host, now, sink| host.submit(now, "more", None, &[], sink)).unwrap_err();
    assert_eq!(busy.code.as_str(), "busy");
    let fields = [("x".to_string(), "{no".to_string())];
    let mut other = Reader::new(Dialect::AGENT);
    let bad = other.call(|host, now, sink| host.submit(now, "Hi", None, &fields, sink));
    assert_eq!(bad.unwrap_err().code.as_str(), "bad_json_argument");
    assert_eq!(other.rows().len(), 0, "a refused call changes nothing");
}

#[test]
fn workspace_watches_before_it_posts_and_reconnects_from_the_last_id() {
    let mut options = HostOptions::default();
    options.session_id = Some("s 1".into());
    options.base_path = "/base/".into();
    let mut r = Reader::with(Dialect::WORKSPACE, options);
    r.submit("Hi");
    let asked = r.take("request");
    let told: Vec<_> = asked.iter().map(|q| (q["role"].as_str(), q["path"].as_str())).collect();
    let base = "/base/workspaces/default/sessions/s%201";
    let (watch, turns) = (format!("{base}/stream"), format!("{base}/turns"));
    assert_eq!(told, [(Some("watch"), Some(&*watch)), (Some("turn"), Some(&*turns))]);
    r.response(200, SSE, None);
    r.response(202, "application/json", Some(Channel::Turn));
    r.feed(br#"{"turn_id":"t1"}"#, Some(Channel::Turn));
    r.finish(Some(Channel::Turn));
    assert_eq!(r.host.lifecycle().as_str(), "busy", "the turn is watched, not answered");

    let (mut t, mut out) = (turn(Dialect::WORKSPACE), Vec::new());
    let mut start = turnwire::event::TurnStarted::new();
    start.turn_id = Some("t1".into());
    start.session_id = Some("s 1".into());
    start.user_text = Some("Hi".into());
    t.start(NOW, start, &mut out).unwrap();
    t.text(NOW, "Hel", &mut out).unwrap();
    r.feed(&out, None);
    r.fail("offline", None);
    assert_eq!(r.view["state"]["connection"], json!({"status": "waiting", "tries": 1}));
    let (at, reason) = r.host.poll_timeout().unwrap();
    assert_eq!(reason, TimeoutReason::Reconnect);
    r.now = at;
    r.take("");
    r.wake();
    let again = &r.take("request")[0];
    assert_eq!(again["headers"]["last-event-id"], "1", "tokens move no cursor");
    r.response(200, SSE, None);
    assert_eq!(r.view["state"]["connection"]["status"], "open");
    // The server repeats nothing and goes on behind the cursor; the hop covers the lost tokens.
    let seen = out.len();
    t.text(NOW, "lo", &mut out).unwrap();
    let lost = out.len();
    t.finish(NOW, Finish::default(), &mut out).unwrap();
    assert!(lost > seen);
    r.feed(&out[lost..], None);
    let rows = ["user: Hi", "assistant: Hello", "system: Turn ended · model finished"];
    assert_eq!(r.rows(), rows);
    // A server that repeats what has a number changes nothing.
    r.feed(&out[..seen], None);
    assert_eq!(r.rows(), rows);
}

#[test]
fn a_stream_that_watches_is_lost_after_eight_tries() {
    let mut options = HostOptions::default();
    options.session_id = Some("s1".into());
    let mut r = Reader::with(Dialect::WORKSPACE, options);
    r.submit("Hi");
    for tries in 1..=8 {
        r.fail("offline", None);
        assert_eq!(r.view["state"]["connection"], json!({"status": "waiting", "tries": tries}));
        r.now = r.host.poll_timeout().unwrap().0;
        r.wake();
    }
    r.fail("offline", None);
    assert_eq!(r.view["state"]["connection"]["status"], "lost");
    assert_eq!(r.host.outcome().map(|o| o.kind), Some(turnwire::host::OutcomeKind::Lost));
    assert_eq!(r.host.poll_timeout(), None);
}

#[test]
fn agent_cannot_be_watched_and_has_no_second_channel() {
    let mut r = Reader::new(Dialect::AGENT);
    let refused = r.call(|host, now, sink| host.open(now, None, sink)).unwrap_err();
    assert_eq!(refused.code.as_str(), "no_route");
    let refused =
        r.call(|host, now, sink| host.feed(now, b"x", Some(Channel::Events), sink)).unwrap_err();
    assert_eq!(refused.code.as_str(), "unknown_channel");
}

#[test]
fn a_snapshot_in_the_middle_of_a_turn_loses_nothing() {
    let bytes = spoken();
    let whole = {
        let mut r = Reader::new(Dialect::AGENT);
        r.submit("Read a.md");
        r.response(200, SSE, None);
        r.feed(&bytes, None);
        r.finish(None);
        r.view
    };
    let text = String::from_utf8(bytes).unwrap();
    let ends: Vec<_> = text.match_indices("\n\n").map(|(at, _)| at + 2).collect();
    for end in ends {
        let mut r = Reader::new(Dialect::AGENT);
        r.submit("Read a.md");
        r.response(200, SSE, None);
        r.feed(&text.as_bytes()[..end], None);
        let saved = r.host.snapshot();
        let mut again = Reader::new(Dialect::AGENT);
        again.host = Host::restore(&saved, Millis(0), WALL).unwrap();
        again.view = again.host.view();
        assert_eq!(again.view["rows"], r.view["rows"]);
        again.feed(&text.as_bytes()[end..], None);
        again.finish(None);
        assert_eq!(again.view["rows"], whole["rows"], "cut at {end}");
    }
    let refused = Host::restore(b"{}", Millis(0), 0).err().unwrap();
    assert_eq!(refused.code.as_str(), "bad_snapshot");
}

#[test]
fn one_feed_gives_at_most_one_change_a_row_and_chunks_change_no_row() {
    let bytes = spoken();
    let mut r = Reader::new(Dialect::AGENT);
    r.submit("Read a.md");
    r.response(200, SSE, None);
    r.take("");
    r.feed(&bytes, None);
    let pushes = r.ops.iter().filter(|op| op["op"] == "push").count();
    assert_eq!(pushes, 4);
    let grown = r.ops.iter().filter(|op| op["op"] == "grow").count();
    assert_eq!(grown, 0, "what was pushed in the same chunk is pushed as it is at its end");
    let rows = r.view["rows"].clone();
    let mut single = Reader::new(Dialect::AGENT);
    single.submit("Read a.md");
    single.response(200, SSE, None);
    for byte in bytes.chunks(1) {
        single.feed(byte, None);
    }
    assert_eq!(single.view["rows"], rows);
}
