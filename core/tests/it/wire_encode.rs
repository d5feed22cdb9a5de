//! Laws of the encoders: no text can become a second event, and what goes in comes out.

use quickcheck::QuickCheck;
use turnwire::ids::EventId;
use turnwire::wire::encode::{encode_comment, encode_retry, encode_sse};
use turnwire::wire::json::{RawJson, read_object};
use turnwire::wire::{FieldValue, FrameWriter, Framing};

use crate::wire_support::{ndjson, sse};

const FRAMINGS: [Framing; 2] = [Framing::Sse, Framing::Ndjson];

fn holds<T: quickcheck::Testable>(law: T) {
    QuickCheck::new().tests(2000).quickcheck(law);
}

fn lf(text: &str) -> String {
    text.replace("\r\n", "\n").replace('\r', "\n")
}

/// Random text rarely has line ends: each number picks from a small alphabet.
fn text(picks: &[u8]) -> String {
    const PARTS: &[&str] = &[
        "\r", "\n", "\r\n", ":", " ", "data: x", "id: 1", "\0", "é", "\u{FEFF}", "\"", "\\",
        "\u{2028}",
    ];
    picks.iter().map(|n| PARTS[usize::from(*n) % PARTS.len()]).collect()
}

#[test]
fn any_text_comes_back_as_one_event() {
    fn law(picks: Vec<u8>, event: String, id: String, retry: Option<u64>) -> bool {
        let data = text(&picks);
        let event = FieldValue::new(event);
        let id = FieldValue::new(id);
        let mut out = Vec::new();
        encode_sse(&data, event.as_ref().ok(), id.as_ref().ok(), retry, &mut out);
        encode_comment(&data, &mut out);
        encode_sse("end", None, None, None, &mut out);
        let said = sse(&[&out], None, false);
        let [frame, end] = &said.frames[..] else { return false };
        let name = event.as_ref().map_or("", FieldValue::as_str);
        !out.contains(&b'\r')
            && frame.data == lf(&data)
            && frame.event == if name.is_empty() { "message" } else { name }
            && frame.id == id.as_ref().map_or("", FieldValue::as_str)
            && end.data == "end"
            && said.retry_ms == retry
            && said.comments as usize == lf(&data).split('\n').count()
            && said.diagnostics.is_empty()
    }
    holds(law as fn(Vec<u8>, String, String, Option<u64>) -> bool);
}

#[test]
fn names_and_ids_are_one_line() {
    for bad in ["a\nb", "a\rb", "\0", "\n"] {
        assert_eq!(FieldValue::new(bad).unwrap_err().code.as_str(), "bad_field");
    }
    for good in ["", "a", " a: b ", "é\u{2028}"] {
        assert_eq!(FieldValue::new(good).unwrap().as_str(), good);
    }
}

#[test]
fn comment_and_retry_as_bytes() {
    let mut out = Vec::new();
    encode_comment("keepalive", &mut out);
    encode_comment("", &mut out);
    encode_retry(2000, &mut out);
    assert_eq!(out, b": keepalive\n\n: \n\nretry: 2000\n\n");
}

#[test]
fn any_strings_come_back_as_one_frame() {
    fn law(picks: Vec<u8>, other: String) -> bool {
        let data = text(&picks);
        FRAMINGS.into_iter().all(|framing| {
            let mut out = Vec::new();
            let mut frames = FrameWriter::new(framing, &mut out);
            frames.object(Some("e")).str("type", &data).str(&data, &other).str("a", &other);
            frames.object(None).str("type", "end");
            frames.finish(EventId::parse("e5-7"));
            let said = match framing {
                Framing::Sse => sse(&[&out], None, false),
                _ => ndjson(&[&out], None),
            };
            let [first, last] = &said.frames[..] else { return false };
            let [kind, a] = read_object(&first.data, &["type", "a"]).unwrap();
            let serde: serde_json::Value = serde_json::from_str(&first.data).unwrap();
            kind.and_then(|v| v.str()).as_deref() == Some(&data)
                && a.and_then(|v| v.str()).as_deref() == Some(&other)
                && serde["type"] == data
                && !out.contains(&b'\r')
                && last.data == "{\"type\":\"end\"}"
                && last.terminated
                && said.diagnostics.is_empty()
        })
    }
    holds(law as fn(Vec<u8>, String) -> bool);
}

#[test]
fn frames_as_bytes() {
    let write = |framing| {
        let mut out = Vec::from("before\n");
        let mut frames = FrameWriter::new(framing, &mut out);
        frames.object(Some("a\r\nid: 1")).u64("n", 1);
        frames.raw(None, &RawJson::check("[1,\n2]").unwrap());
        frames.finish(EventId::parse("e-9"));
        String::from_utf8(out).unwrap()
    };
    let sse = "before\nevent: aid: 1\ndata: {\"n\":1}\n\ndata: [1,2]\nid: e-9\n\n";
    assert_eq!(write(Framing::Sse), sse);
    assert_eq!(write(Framing::Ndjson), "before\n{\"n\":1}\n[1,2]\n");
}

#[test]
fn nothing_in_nothing_out() {
    for framing in FRAMINGS {
        let mut out = Vec::new();
        FrameWriter::new(framing, &mut out).finish(EventId::parse("e-9"));
        assert!(out.is_empty());
    }
}

#[test]
fn an_id_made_by_hand_cannot_break_the_frame() {
    let mut out = Vec::new();
    let mut frames = FrameWriter::new(Framing::Sse, &mut out);
    frames.object(None);
    frames.finish(Some(EventId { epoch: Some("e\n\ndata: x"), seq: 1 }));
    let mut frames = FrameWriter::new(Framing::Sse, &mut out);
    frames.object(None);
    frames.finish(Some(EventId { epoch: None, seq: u64::MAX }));
    assert_eq!(out, b"data: {}\n\ndata: {}\nid: 18446744073709551615\n\n");
}
