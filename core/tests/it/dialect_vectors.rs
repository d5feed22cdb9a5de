//! The vectors of the dialects: `agent.json`, `respond.json`, `run.json`, `workspace.json`,
//! `chat.json`.

use serde_json::{Value as Json, json};
use turnwire::dialect::{Decoder, Dialect, Encoder, Stamp};
use turnwire::event::{Channel, Envelope, Event};

use crate::vectors::{bytes, load};

#[test]
fn agent() {
    run(include_str!("../vectors/agent.json"));
}

#[test]
fn respond() {
    run(include_str!("../vectors/respond.json"));
}

#[test]
fn chat() {
    run(include_str!("../vectors/chat.json"));
}

#[test]
fn run_events() {
    run(include_str!("../vectors/run.json"));
}

#[test]
fn workspace() {
    run(include_str!("../vectors/workspace.json"));
}

/// The JSON form has one key for both sessions, so a vector cannot say this.
#[test]
fn a_flat_child_of_workspace_does_not_take_the_session_of_the_envelope() {
    let child = |payload: &str| {
        let wire =
            format!("data: {{\"type\":\"child_started\",\"session_id\":\"s1\",{payload}}}\n\n");
        let mut decoder = Decoder::new(Dialect::WORKSPACE, None).unwrap();
        let mut seen = None;
        decoder.feed(wire.as_bytes(), &mut |envelope| seen = Some(envelope.clone().into_owned()));
        let seen = seen.unwrap();
        assert_eq!(seen.session_id.as_deref(), Some("s1"));
        let Event::SubagentStarted(started) = seen.event else { panic!("{seen:?}") };
        started.session_id
    };
    assert_eq!(child("\"call_id\":\"c\""), None);
    let nested = child("\"payload\":{\"call_id\":\"c\",\"session_id\":\"s2\"}");
    assert_eq!(nested.as_deref(), Some("s2"));
}

fn run(file: &str) {
    for case in load(file) {
        let name = case["name"].as_str().unwrap();
        let dialect = Dialect::parse(case["dialect"].as_str().unwrap()).unwrap();
        match case["way"].as_str().unwrap() {
            "both" => {
                encodes(name, dialect, &case);
                decodes(name, dialect, &case);
            }
            "encode" => encodes(name, dialect, &case),
            "decode" => decodes(name, dialect, &case),
            other => panic!("{name}: no way {other}"),
        }
    }
}

fn channel(case: &Json) -> Option<Channel> {
    case["channel"].as_str().map(|name| Channel::parse(name).unwrap())
}

fn encodes(name: &str, dialect: Dialect, case: &Json) {
    let mut encoder = Encoder::new(dialect, channel(case)).unwrap();
    let mut out = Vec::new();
    for event in case["events"].as_array().unwrap() {
        let envelope: Envelope<'static> = serde_json::from_value(event.clone()).unwrap();
        // What is live only has no number on the wire; in a log it has one all the same.
        let stamp = Stamp::new(envelope.seq, envelope.epoch.as_deref(), envelope.ts_ms);
        encoder.encode(&stamp, &envelope.event, &mut out);
    }
    assert_eq!(String::from_utf8(out).unwrap(), case["wire"].as_str().unwrap(), "{name}");
    let losses: Json = encoder
        .losses()
        .iter()
        .map(|(kind, count)| (kind.name().to_string(), json!(count)))
        .collect::<serde_json::Map<_, _>>()
        .into();
    let expected = if case["losses"].is_null() { json!({}) } else { case["losses"].clone() };
    assert_eq!(losses, expected, "{name}: losses");
}

/// What a decoder said of the same bytes, cut in one way.
#[derive(Debug, PartialEq)]
struct Said {
    events: Vec<Json>,
    diagnostics: Vec<Json>,
    last_event_id: String,
    retry_ms: Option<u64>,
}

fn decode(dialect: Dialect, channel: Option<Channel>, chunks: &[&[u8]]) -> Said {
    let mut decoder = Decoder::new(dialect, channel).unwrap();
    let mut events = Vec::new();
    let mut sink = |envelope: &Envelope<'_>| {
        let mut json = serde_json::to_value(envelope).unwrap();
        // Every event of a case comes over the same channel.
        json.as_object_mut().unwrap().remove("channel");
        events.push(json);
    };
    for chunk in chunks {
        decoder.feed(chunk, &mut sink);
    }
    decoder.finish(&mut sink);
    let last_event_id = decoder.last_event_id().to_string();
    let retry_ms = decoder.retry_ms();
    let diagnostics = decoder.diagnostics().drain().map(|d| json!(d.code.as_str())).collect();
    Said { events, diagnostics, last_event_id, retry_ms }
}

fn decodes(name: &str, dialect: Dialect, case: &Json) {
    let chunks: Vec<_> = match &case["wire"] {
        Json::Array(chunks) => chunks.iter().map(bytes).collect(),
        wire => vec![bytes(wire)],
    };
    let chunks: Vec<_> = chunks.iter().map(Vec::as_slice).collect();
    let said = decode(dialect, channel(case), &chunks);
    assert_eq!(json!(said.events), case["events"], "{name}");
    let expected =
        if case["diagnostics"].is_null() { json!([]) } else { case["diagnostics"].clone() };
    assert_eq!(json!(said.diagnostics), expected, "{name}: diagnostics");
    assert_eq!(said.last_event_id, case["last_event_id"].as_str().unwrap_or(""), "{name}");
    assert_eq!(said.retry_ms, case["retry_ms"].as_u64(), "{name}");
    let whole = chunks.concat();
    for at in 0..whole.len() {
        let (a, b) = whole.split_at(at);
        assert_eq!(decode(dialect, channel(case), &[a, b]), said, "{name}: cut at {at}");
    }
}
