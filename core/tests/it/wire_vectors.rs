//! The vectors of the wire: `sse.json`, `ndjson.json`, `json.json`.

use serde_json::Value as Json;
use turnwire::wire::json::{Value, read_object};

use crate::vectors::{bytes, load};
use crate::wire_support::{Said, ndjson, sse};

/// As it came, in one piece, byte by byte, and in two pieces at every place.
fn run(file: &str, feed: impl Fn(&[&[u8]], &Json) -> Said) {
    for case in load(file) {
        let name = case["name"].as_str().unwrap();
        let chunks: Vec<_> = case["chunks"].as_array().unwrap().iter().map(bytes).collect();
        let chunks: Vec<_> = chunks.iter().map(Vec::as_slice).collect();
        let options = &case["options"];
        let said = feed(&chunks, options);
        check(name, &case["expect"], &said);
        let whole = chunks.concat();
        assert_eq!(feed(&[&whole], options), said, "{name}: in one piece");
        let single: Vec<_> = whole.chunks(1).collect();
        assert_eq!(feed(&single, options), said, "{name}: byte by byte");
        for at in 0..whole.len() {
            let (a, b) = whole.split_at(at);
            assert_eq!(feed(&[a, b], options), said, "{name}: cut at {at}");
        }
    }
}

fn check(name: &str, expect: &Json, said: &Said) {
    let frames = expect["frames"].as_array().unwrap();
    assert_eq!(said.frames.len(), frames.len(), "{name}: {:?}", said.frames);
    for (got, want) in said.frames.iter().zip(frames) {
        assert_eq!(got.event, want["event"].as_str().unwrap(), "{name}");
        assert_eq!(got.data, want["data"].as_str().unwrap(), "{name}");
        assert_eq!(got.id, want["id"].as_str().unwrap(), "{name}");
        assert_eq!(got.at, want["at"].as_u64().unwrap_or(got.at), "{name}");
        let terminated = want["terminated"].as_bool().unwrap_or(got.terminated);
        assert_eq!(got.terminated, terminated, "{name}");
    }
    let codes: Vec<_> = said.diagnostics.iter().map(|(code, _)| Json::from(*code)).collect();
    assert_eq!(Json::from(codes), expect["diagnostics"], "{name}");
    assert_eq!(said.last_event_id, expect["last_event_id"].as_str().unwrap(), "{name}");
    assert_eq!(said.retry_ms, expect["retry_ms"].as_u64(), "{name}");
    assert_eq!(said.comments, expect["comments"].as_u64().unwrap(), "{name}");
}

fn bound(options: &Json) -> Option<usize> {
    options["max_bytes"].as_u64().map(|n| n as usize)
}

#[test]
fn event_streams() {
    run(include_str!("../vectors/sse.json"), |chunks, options| {
        sse(chunks, bound(options), options["lenient_eof"].as_bool().unwrap_or(false))
    });
}

#[test]
fn newline_delimited_json() {
    run(include_str!("../vectors/ndjson.json"), |chunks, options| ndjson(chunks, bound(options)));
}

#[test]
fn flat_reader() {
    for case in load(include_str!("../vectors/json.json")) {
        let name = case["name"].as_str().unwrap();
        let text = case["text"].as_str().unwrap();
        let expect = &case["expect"];
        if let Some(code) = expect["error"].as_str() {
            let error = read_object(text, &["a"]).unwrap_err();
            assert_eq!(error.kind.code().as_str(), code, "{name}");
            assert_eq!(error.at as u64, expect["at"].as_u64().unwrap(), "{name}");
            continue;
        }
        for (field, raw) in expect["fields"].as_object().unwrap() {
            let [value] = read_object(text, &[field]).unwrap();
            let value = value.unwrap_or_else(|| panic!("{name}: {field} is there"));
            assert_eq!(value.raw(), raw.as_str().unwrap(), "{name}");
            let want = &expect["strings"][field];
            assert!(want.is_null() || value.str().as_deref() == want.as_str(), "{name}");
            halves(name, value, &expect["halves"][field]);
            numbers(name, value, &expect["numbers"][field]);
        }
        let [absent] = read_object(text, &["no such field"]).unwrap();
        assert!(absent.is_none(), "{name}");
    }
}

fn halves(name: &str, value: Value<'_>, want: &Json) {
    if want.is_null() {
        return;
    }
    let halves = value.str_halves().unwrap();
    assert_eq!(halves.text, want["text"].as_str().unwrap(), "{name}");
    assert_eq!(halves.low.map(u64::from), want["low"].as_u64(), "{name}");
    assert_eq!(halves.high.map(u64::from), want["high"].as_u64(), "{name}");
    assert_eq!(halves.lost, want["lost"].as_bool().unwrap_or(false), "{name}");
}

fn numbers(name: &str, value: Value<'_>, want: &Json) {
    if want.is_null() {
        return;
    }
    let text = |n: Option<String>| n.map_or(Json::Null, Json::from);
    assert_eq!(text(value.u64().map(|n| format!("{n}"))), want["u64"], "{name}");
    assert_eq!(text(value.i64().map(|n| format!("{n}"))), want["i64"], "{name}");
    assert!(want["f64"].is_null() || value.f64() == want["f64"].as_f64(), "{name}");
}
