//! The ends on `run`: the seed's bytes, the JSON result, a host that watches several turns.

use serde_json::{Value as Json, json};
use turnwire::dialect::Dialect;
use turnwire::event::{Channel, ToolStart, TurnStarted};
use turnwire::time::Millis;
use turnwire::turn::{Failure, Finish, Output, ToolOutcome};
use turnwire::{HostOptions, Turn};

use crate::ends_support::{Reader, turn};

const NOW: Millis = Millis(0);
const SSE: &str = "text/event-stream";

fn started(text: &str) -> TurnStarted<'static> {
    let mut start = TurnStarted::new();
    start.user_text = Some(text.to_string().into());
    start
}

/// A turn of two steps with one tool.
fn play(t: &mut Turn, out: &mut Vec<u8>) {
    t.start(NOW, started("List src"), out).unwrap();
    let mut start = ToolStart::new("list_dir");
    start.args = Some(r#"{"id":1234567890123456789}"#.into());
    start.call_id = Some("c1".into());
    t.tool_start(NOW, start, out).unwrap();
    let mut outcome = ToolOutcome::new("list_dir", Output::Text("list_dir src: 1 entries"));
    outcome.call_id = Some("c1");
    t.tool_result(NOW, outcome, out).unwrap();
    t.step(NOW, out).unwrap();
    t.text(NOW, "One file.", out).unwrap();
}

fn answer(t: &Turn) -> (u16, Json) {
    let (status, body) = t.json_response().unwrap();
    (status, serde_json::from_slice(&body).unwrap())
}

#[test]
fn a_turn_without_ids_is_told_in_the_words_of_the_seed() {
    let (mut t, mut out) = (turn(Dialect::RUN), Vec::new());
    t.tool_start(NOW, ToolStart::new("list_dir"), &mut out).unwrap();
    t.tool_result(NOW, ToolOutcome::new("list_dir", Output::Text("a")), &mut out).unwrap();
    t.text(NOW, "The src/ directory contains...", &mut out).unwrap();
    t.finish(NOW, Finish::default(), &mut out).unwrap();
    let text = String::from_utf8(out).unwrap();
    let told = concat!(
        "event: tool_call\ndata: {\"name\":\"list_dir\",\"step\":1}\n\n",
        "event: tool_result\ndata: {\"name\":\"list_dir\",\"success\":true}\n\n",
        "event: partial_message\n",
        "data: {\"text\":\"The src/ directory contains...\",\"step\":1}\n\n",
        "event: message\ndata: {\"role\":\"assistant\",\"content\":",
        "[{\"type\":\"text\",\"text\":\"The src/ directory contains...\"}]}\n\n",
        "event: done\ndata: {\"finish_reason\":\"NoMoreToolCalls\",\"total_steps\":1}\n\n",
    );
    assert_eq!(text, told);
}

#[test]
fn the_json_result_has_the_messages_and_what_it_cost() {
    let (mut t, mut out) = (turn(Dialect::RUN), Vec::new());
    play(&mut t, &mut out);
    let mut finish = Finish::default();
    finish.usage = Some(r#"{"input_tokens":600,"output_tokens":40,"model":"m"}"#);
    t.finish(NOW, finish, &mut out).unwrap();
    let (status, body) = t.json_response().unwrap();
    let whole = concat!(
        r#"{"status":"finished","finish_reason":"NoMoreToolCalls","messages":["#,
        r#"{"role":"user","content":[{"type":"text","text":"List src"}]},"#,
        r#"{"role":"assistant","content":[{"type":"tool_use","id":"c1","name":"list_dir","#,
        r#""input":{"id":1234567890123456789}}]},"#,
        r#"{"role":"assistant","content":[{"type":"text","text":"One file."}]}],"#,
        r#""usage":{"total_steps":2,"total_tokens":640,"#,
        r#""input_tokens":600,"output_tokens":40,"model":"m"}}"#,
    );
    assert_eq!((status, std::str::from_utf8(&body).unwrap()), (200, whole));
}

#[test]
fn a_step_that_only_calls_has_a_message_of_its_own() {
    let (mut t, mut out) = (turn(Dialect::RUN), Vec::new());
    t.text(NOW, "I look.", &mut out).unwrap();
    t.tool_start(NOW, ToolStart::new("ls"), &mut out).unwrap();
    t.step(NOW, &mut out).unwrap();
    t.tool_start(NOW, ToolStart::new("pwd"), &mut out).unwrap();
    t.finish(NOW, Finish::default(), &mut out).unwrap();
    let call = |name: &str| json!({"type": "tool_use", "id": "", "name": name, "input": {}});
    let messages = json!([
        {"role": "assistant", "content": [{"type": "text", "text": "I look."}, call("ls")]},
        {"role": "assistant", "content": [call("pwd")]},
    ]);
    assert_eq!(answer(&t).1["messages"], messages);
}

#[test]
fn the_json_result_of_each_ending() {
    let ended = |end: &dyn Fn(&mut Turn, &mut Vec<u8>)| {
        let (mut t, mut out) = (turn(Dialect::RUN), Vec::new());
        end(&mut t, &mut out);
        answer(&t)
    };
    let mut finish = Finish::default();
    finish.finish_reason = Some("budget_exceeded");
    finish.usage = Some(r#"{"total_steps":9,"total_tokens":7}"#);
    let (status, body) = ended(&|t, out| t.finish(NOW, finish, out).unwrap());
    assert_eq!((status, &body["finish_reason"]), (200, &json!("budget_exceeded")));
    assert_eq!(body["usage"], json!({"total_steps": 0, "total_tokens": 7}));
    assert_eq!(body["messages"], json!([]));
    let stopped = ended(&|t, out| t.cancel(NOW, "user", out).unwrap());
    assert_eq!(stopped, (503, json!({"error": "The run was cancelled."})));
    let failed = ended(&|t, out| t.fail(NOW, Failure::new("No."), out).unwrap());
    assert_eq!(failed, (500, json!({"error": "No."})));
    let limited = ended(&|t, out| {
        let mut failure = Failure::new("Slow down.");
        failure.status = Some(429);
        t.fail(NOW, failure, out).unwrap();
    });
    assert_eq!(limited, (429, json!({"error": "Slow down."})));
}

#[test]
fn a_host_watches_one_turn_after_another() {
    let mut options = HostOptions::default();
    options.session_id = Some("s1".into());
    let mut r = Reader::with(Dialect::RUN, options);
    r.submit("List src");
    let asked = r.take("request");
    let told: Vec<_> = asked.iter().map(|q| (q["role"].as_str(), q["path"].as_str())).collect();
    let (watch, run) = ("/sessions/s1/events", "/sessions/s1/run");
    assert_eq!(told, [(Some("watch"), Some(watch)), (Some("turn"), Some(run))]);
    r.response(200, SSE, None);
    r.response(202, "application/json", Some(Channel::Turn));
    r.feed(b"{}", Some(Channel::Turn));
    r.finish(Some(Channel::Turn));

    let (mut t, mut out) = (turn(Dialect::RUN), Vec::new());
    play(&mut t, &mut out);
    t.finish(NOW, Finish::default(), &mut out).unwrap();
    r.feed(&out, None);
    let one = [
        "user: List src",
        "tool_run: list_dir ok",
        "assistant: One file.",
        "system: Turn ended · model finished",
    ];
    assert_eq!(r.rows(), one);

    // Another client starts the next turn, and its previews are told again by its messages.
    let (mut t, mut out) = (turn(Dialect::RUN), Vec::new());
    t.start(NOW, started("And?"), &mut out).unwrap();
    t.text(NOW, "No", &mut out).unwrap();
    r.feed(&out, None);
    assert_eq!(r.host.lifecycle().as_str(), "busy");
    let seen = out.len();
    t.text(NOW, "thing.", &mut out).unwrap();
    t.cancel(NOW, "user", &mut out).unwrap();
    r.feed(&out[seen..], None);
    let two = ["user: And?", "assistant: Nothing.", "system: Turn ended · you stopped"];
    assert_eq!(r.rows()[4..], two);
    assert_eq!(r.codes(), Vec::<&str>::new());
}

#[test]
fn messages_at_the_end_take_the_place_of_their_previews_once() {
    let mut options = HostOptions::default();
    options.session_id = Some("s1".into());
    let mut r = Reader::with(Dialect::RUN, options);
    r.submit("q");
    r.response(200, SSE, None);
    r.response(202, "application/json", Some(Channel::Turn));
    r.finish(Some(Channel::Turn));
    let stream = concat!(
        "event: message\ndata: {\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"q\"}]}\n\n",
        "event: partial_message\ndata: {\"text\":\"Let me l\",\"step\":1}\n\n",
        "event: tool_call\ndata: {\"name\":\"ls\",\"step\":1}\n\n",
        "event: tool_call\ndata: {\"name\":\"ls\",\"step\":1}\n\n",
        "event: tool_result\ndata: {\"name\":\"ls\",\"success\":false}\n\n",
        "event: tool_result\ndata: {\"name\":\"ls\",\"success\":true}\n\n",
        "event: tool_call\ndata: {\"name\":\"pwd\",\"step\":2}\n\n",
        "event: tool_result\ndata: {\"name\":\"pwd\",\"success\":true}\n\n",
        "event: partial_message\ndata: {\"text\":\"Do\",\"step\":3}\n\n",
        "event: message\ndata: {\"role\":\"assistant\",\"content\":[{\"type\":\"text\",\"text\":\"Let me look.\"}]}\n\n",
        "event: message\ndata: {\"role\":\"assistant\",\"content\":[{\"type\":\"tool_use\",\"id\":\"t\",\"name\":\"pwd\",\"input\":{}}]}\n\n",
        "event: message\ndata: {\"role\":\"assistant\",\"content\":[{\"type\":\"text\",\"text\":\"Done.\"}]}\n\n",
        "event: done\ndata: {\"finish_reason\":\"no_more_tool_calls\",\"total_steps\":3}\n\n",
    );
    r.feed(stream.as_bytes(), None);
    let rows = [
        "user: q",
        "assistant: Let me look.",
        "tool_run: ls fail, ls ok, pwd ok",
        "assistant: Done.",
        "system: Turn ended · model finished",
    ];
    assert_eq!(r.rows(), rows);
}
