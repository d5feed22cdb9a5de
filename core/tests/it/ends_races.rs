//! `Host` and `Turn` where calls, answers and sessions cross each other, and with values at the
//! edge of what they take.

use serde_json::{Value as Json, json};
use turnwire::dialect::Dialect;
use turnwire::event::Channel;
use turnwire::time::{Millis, TimeoutReason};
use turnwire::turn::Failure;
use turnwire::{Host, HostOptions, Turn, TurnOptions};

use crate::ends_support::{Reader, WALL, turn};

const SSE: &str = "text/event-stream";
const NOW: Millis = Millis(0);
const TURN: Option<Channel> = Some(Channel::Turn);

fn watching(session_id: &str) -> Reader {
    let mut options = HostOptions::default();
    options.wall_ms = WALL;
    options.session_id = Some(session_id.into());
    Reader::with(Dialect::WORKSPACE, options)
}

/// An event of session `s1` as its log sends it.
fn stored(seq: u64, kind: &str, turn_id: &str, payload: Json) -> Vec<u8> {
    of_session("s1", seq, kind, turn_id, payload)
}

fn of_session(session: &str, seq: u64, kind: &str, turn_id: &str, payload: Json) -> Vec<u8> {
    let event = json!({"seq": seq, "type": kind, "session_id": session, "turn_id": turn_id,
        "payload": payload});
    format!("data: {event}\nid: {seq}\n\n").into_bytes()
}

fn roles(reader: &mut Reader) -> Vec<Json> {
    reader.take("request").into_iter().map(|request| request["role"].clone()).collect()
}

#[test]
fn a_prompt_after_a_detach_watches_again() {
    let mut r = watching("s1");
    r.submit("A");
    r.response(200, SSE, None);
    r.feed(&stored(1, "turn_started", "t1", json!({"text": "A"})), None);
    r.feed(&stored(2, "done", "t1", json!({"text": "Yes"})), None);
    r.call(|host, _, sink| host.detach(sink));
    r.take("");
    r.submit("B");
    assert!(r.ops.iter().all(|op| op["op"] != "abort"), "what was aborted is so once");
    assert_eq!(roles(&mut r), ["watch", "turn"]);
    r.response(200, SSE, None);
    r.feed(&stored(3, "turn_started", "t2", json!({"text": "B"})), None);
    r.fail("offline", None);
    let reason = r.host.poll_timeout().map(|(_, reason)| reason);
    assert_eq!(reason, Some(TimeoutReason::Reconnect), "the link is at work again");
}

#[test]
fn a_prompt_after_a_lost_stream_starts_from_the_first_try() {
    let mut r = watching("s1");
    r.submit("A");
    r.response(500, "text/plain", None);
    r.finish(None);
    assert_eq!(r.view["state"]["connection"]["status"], "lost");
    r.submit("B");
    r.response(200, SSE, None);
    r.fail("offline", None);
    assert_eq!(r.view["state"]["connection"], json!({"status": "waiting", "tries": 1}));
    assert_eq!(r.host.lifecycle().as_str(), "busy");
}

#[test]
fn a_prompt_during_the_wait_for_a_reconnect_connects_once() {
    let mut r = watching("s1");
    r.call(|host, now, sink| host.open(now, None, sink)).unwrap();
    r.response(200, SSE, None);
    r.fail("offline", None);
    let due = r.host.poll_timeout().unwrap().0;
    r.take("");
    r.submit("A");
    assert_eq!(roles(&mut r), ["watch", "turn"]);
    r.now = due;
    r.wake();
    assert_eq!(r.ops, [] as [Json; 0], "the wait is over");
}

#[test]
fn a_turn_stopped_before_it_began_stays_stopped_behind_the_next_prompt() {
    let mut r = watching("s1");
    r.submit("A");
    r.response(200, SSE, None);
    r.call(Host::stop).unwrap();
    r.submit("B");
    r.feed(&stored(1, "turn_started", "t1", json!({"text": "A"})), None);
    r.feed(&stored(2, "hop", "t1", json!({"text": "noise", "role": "assistant"})), None);
    r.feed(&stored(3, "cancelled", "t1", json!({"by": "user"})), None);
    r.feed(&stored(4, "turn_started", "t2", json!({"text": "B"})), None);
    r.feed(&stored(5, "done", "t2", json!({"text": "Bee"})), None);
    let rows = [
        "user: A",
        "system: Turn ended · you stopped",
        "user: B",
        "assistant: Bee",
        "system: Turn ended · model finished",
    ];
    assert_eq!(r.rows(), rows);
}

#[test]
fn the_same_prompt_again_after_a_stop_is_the_one_that_begins() {
    let mut r = watching("s1");
    r.submit("A");
    r.response(200, SSE, None);
    r.call(Host::stop).unwrap();
    r.submit("A");
    // The stopped one never reached the server.
    r.feed(&stored(1, "turn_started", "t2", json!({"text": "A"})), None);
    r.feed(&stored(2, "done", "t2", json!({"text": "Yes"})), None);
    let rows = [
        "user: A",
        "system: Turn ended · you stopped",
        "user: A",
        "assistant: Yes",
        "system: Turn ended · model finished",
    ];
    assert_eq!(r.rows(), rows);
    // Another tab may say the same some time.
    r.feed(&stored(3, "turn_started", "t3", json!({"text": "A"})), None);
    assert_eq!(r.rows().last().unwrap(), "user: A");
    assert_eq!(r.host.lifecycle().as_str(), "busy");
}

#[test]
fn a_turn_that_the_server_took_without_a_name_stays_stopped_too() {
    let mut r = watching("s1");
    r.submit("A");
    r.response(200, SSE, None);
    r.response(202, "application/json", TURN);
    r.feed(b"{}", TURN);
    r.finish(TURN);
    r.call(Host::stop).unwrap();
    r.feed(&stored(1, "turn_started", "t1", json!({"text": "A"})), None);
    assert_eq!(r.rows(), ["user: A", "system: Turn ended · you stopped"]);
    assert_eq!(r.host.lifecycle().as_str(), "ready");
}

#[test]
fn a_stream_in_answer_to_a_request_that_has_none_is_a_refusal() {
    let mut r = watching("s1");
    r.submit("A");
    r.response(200, SSE, TURN);
    r.feed(b"data: {}\n\n", TURN);
    r.finish(TURN);
    assert_eq!(r.rows(), ["user: A", "error: Turn ended · error · Request failed (200)."]);
}

#[test]
fn a_refused_channel_leaves_no_connection_behind() {
    let mut options = HostOptions::default();
    options.stall_ms = Some(1000);
    let mut r = Reader::with(Dialect::AGENT, options);
    r.submit("A");
    let events = Some(Channel::Events);
    let refused = r.call(|host, now, sink| host.feed(now, b"x", events, sink)).unwrap_err();
    assert_eq!(refused.code.as_str(), "unknown_channel");
    r.now = Millis(900);
    r.response(200, SSE, None);
    assert_eq!(r.host.poll_timeout(), Some((Millis(1900), TimeoutReason::Stall)));
}

#[test]
fn another_session_has_its_own_numbers_names_and_cursor() {
    let mut r = watching("s1");
    r.submit("A");
    r.response(200, SSE, None);
    r.feed(&stored(7, "turn_started", "t1", json!({"text": "A"})), None);
    r.feed(&stored(8, "done", "t1", json!({"text": "Yes"})), None);
    let session = json!({"id": "s2", "messages": []});
    r.take("");
    r.call(|host, _, sink| host.hydrate(&session, sink)).unwrap();
    assert_eq!(r.take("abort").len(), 1, "the stream of the session before");
    assert_eq!(r.host.last_event_id(), None);
    r.submit("B");
    let watch = &r.take("request")[0];
    assert_eq!(watch["path"], "/workspaces/default/sessions/s2/stream");
    assert_eq!(watch["headers"]["last-event-id"], Json::Null);
    r.response(200, SSE, None);
    r.feed(&of_session("s2", 1, "turn_started", "t1", json!({"text": "B"})), None);
    r.feed(&of_session("s2", 2, "done", "t1", json!({"text": "Bee"})), None);
    let rows = ["user: B", "assistant: Bee", "system: Turn ended · model finished"];
    assert_eq!(r.rows(), rows);
    // The same session once more disturbs nothing.
    let session = r.host.session();
    r.call(|host, _, sink| host.hydrate(&session, sink)).unwrap();
    assert_eq!((r.take("abort").len(), r.host.last_event_id()), (0, Some("2")));
}

#[test]
fn a_block_of_nothing_but_an_id_moves_the_cursor() {
    let mut r = watching("s1");
    r.call(|host, now, sink| host.open(now, None, sink)).unwrap();
    r.response(200, SSE, None);
    r.feed(b"id: 7\n\n", None);
    assert_eq!(r.host.last_event_id(), Some("7"));
    r.feed(b"\n: ping\n\n", None);
    assert_eq!(r.host.last_event_id(), Some("7"));
}

#[test]
fn a_prompt_over_the_hosts_own_bound_is_refused() {
    let mut options = HostOptions::default();
    options.prompt_max_chars = 10;
    let mut r = Reader::with(Dialect::AGENT, options);
    r.submit("eleven char");
    assert_eq!((r.codes(), r.take("request").len()), (vec!["prompt_too_long"], 0));
    r.submit("ten  chars");
    assert_eq!(r.take("request").len(), 1);
}

#[test]
fn a_snapshot_with_a_count_that_cannot_go_on_is_refused() {
    let r = watching("s1");
    let mut form: Json = serde_json::from_slice(&r.host.snapshot()).unwrap();
    form["requests"] = json!(u64::MAX);
    let refused = Host::restore(form.to_string().as_bytes(), NOW, WALL).err().unwrap();
    assert_eq!(refused.code.as_str(), "bad_snapshot");
}

#[test]
fn a_snapshot_with_a_gap_in_its_rows_costs_no_more_than_its_rows() {
    let mut r = watching("s1");
    r.submit("A");
    let mut form: Json = serde_json::from_slice(&r.host.snapshot()).unwrap();
    form["fold"]["next_id"] = json!(1_u64 << 61);
    let mut again = watching("s1");
    again.host = Host::restore(form.to_string().as_bytes(), NOW, WALL).unwrap();
    again.view = again.host.view();
    again.call(Host::stop).unwrap();
    assert_eq!(again.rows(), ["user: A", "system: Turn ended · you stopped"]);
}

#[test]
fn whatever_the_panel_holds_a_snapshot_holds_it_too() {
    for depth in [60, 61, 62, 63, 64, 100, 127, 200, 4000] {
        let mut r = watching("s1");
        r.submit("A");
        r.response(200, SSE, None);
        let list = ["[".repeat(depth), "]".repeat(depth)].concat();
        let payload = format!(r#"{{"text":"A","capabilities":{{"a":{list}}}}}"#);
        let start = format!("data: {{\"type\":\"turn_started\",\"payload\":{payload}}}\n\n");
        r.feed(start.as_bytes(), None);
        let kept = r.view["state"]["capabilities"].is_object();
        assert_eq!((kept, r.codes().contains(&"nested_too_deep")), (depth < 64, depth >= 64));
        let again = Host::restore(&r.host.snapshot(), NOW, WALL).unwrap();
        assert_eq!(again.state(), r.host.state());
    }
}

#[test]
fn an_id_that_each_row_would_repeat_is_bounded() {
    let mut r = watching("s1");
    r.submit("A");
    r.response(200, SSE, None);
    let long = "t".repeat(70_000);
    let start = json!({"text": "A", "message_id": long});
    r.feed(&stored(1, "turn_started", &long, start), None);
    let call = json!({"call_id": long, "name": "exec"});
    r.feed(&stored(2, "tool_started", &long, call), None);
    r.feed(&stored(3, "hop", "t1", json!({"text": "Yes", "message_id": long})), None);
    r.feed(&stored(4, "done", "t1", json!({"message_id": long})), None);
    assert_eq!(r.host.lifecycle().as_str(), "ready");
    assert!(r.codes().contains(&"id_too_long"));
    assert!(r.view.to_string().len() < 4000);
}

#[test]
fn numbers_of_a_turn_have_room_to_rise() {
    let mut options = TurnOptions::default();
    options.first_seq = 1 << 53;
    let refused = Turn::new(Some(Dialect::WORKSPACE), options.clone()).err().unwrap();
    assert_eq!(refused.code.as_str(), "bad_option");
    options.first_seq -= 1;
    assert!(Turn::new(Some(Dialect::WORKSPACE), options).is_ok());
}

#[test]
fn a_failure_never_answers_with_the_status_of_a_success() {
    let cases = [(0, 500), (200, 500), (204, 500), (399, 500), (400, 400), (599, 599), (600, 500)];
    for (given, answered) in cases {
        let (mut t, mut failure) = (turn(Dialect::AGENT), Failure::new("No."));
        failure.status = Some(given);
        t.fail(NOW, failure, &mut Vec::new()).unwrap();
        let (status, body) = t.json_response().unwrap();
        assert_eq!((status, &*body), (answered, &br#"{"error":"No."}"#[..]), "{given}");
    }
}
