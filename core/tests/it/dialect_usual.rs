//! A delta is read the same however its frame is spelt: decoders have a short way for the spelling
//! that most servers use.

use quickcheck::{Arbitrary, Gen, quickcheck};
use turnwire::dialect::{Decoder, Dialect, Encoder, Stamp};
use turnwire::error::Code;
use turnwire::event::{Envelope, Event, ReasoningDelta, TextDelta, TurnStarted};

/// Stand for halves of a surrogate pair, which no text in Rust can have.
const HALVES: [(&str, &str); 2] = [("<high>", r"\ud83d"), ("<low>", r"\ude00")];

#[derive(Clone, Debug)]
struct Delta {
    event: Event<'static>,
    seq: Option<u64>,
    ts_ms: Option<u64>,
}

fn text(g: &mut Gen) -> String {
    let parts = [" hello", "\"", "\n", "é", "😀", "<high>", "<low>", "}", "\u{2028}", "\0", ""];
    (0..u8::arbitrary(g) % 4).filter_map(|_| g.choose(&parts).copied()).collect()
}

fn number(g: &mut Gen) -> Option<u64> {
    *g.choose(&[None, Some(0), Some(7), Some(1_764_536_400_000), Some(u64::MAX)]).unwrap()
}

fn maybe(g: &mut Gen) -> Option<std::borrow::Cow<'static, str>> {
    bool::arbitrary(g).then(|| text(g).into())
}

impl Arbitrary for Delta {
    fn arbitrary(g: &mut Gen) -> Self {
        let event = match u8::arbitrary(g) % 8 {
            0 => {
                let mut start = TurnStarted::new();
                start.turn_id = maybe(g);
                start.session_id = maybe(g);
                start.workspace_id = maybe(g);
                start.message_id = maybe(g);
                start.into()
            }
            1 | 2 => ReasoningDelta::new(text(g)).into(),
            _ => {
                let mut delta = TextDelta::new(text(g));
                delta.step = number(g);
                delta.message_id = maybe(g);
                delta.into()
            }
        };
        Self { event, seq: number(g), ts_ms: number(g) }
    }
}

fn encode(dialect: Dialect, deltas: &[Delta]) -> Vec<u8> {
    let (mut encoder, mut out) = (Encoder::new(dialect, None).unwrap(), Vec::new());
    for delta in deltas {
        let stamp = Stamp::new(delta.seq, Some("e1"), delta.ts_ms);
        encoder.encode(&stamp, &delta.event, &mut out);
    }
    let mut text = String::from_utf8(out).unwrap();
    for (word, half) in HALVES {
        text = text.replace(word, half);
    }
    text.into_bytes()
}

/// The same stream with a blank behind the bracket that each object begins with.
fn spelt_otherwise(bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    for line in bytes.split_inclusive(|byte| *byte == b'\n') {
        let head = [&b"data: {"[..], b"{"].into_iter().find(|head| line.starts_with(head));
        let (head, rest) = line.split_at(head.map_or(0, <[u8]>::len));
        out.extend_from_slice(head);
        out.extend_from_slice(if head.is_empty() { b"" } else { b" " });
        out.extend_from_slice(rest);
    }
    out
}

fn decode(dialect: Dialect, bytes: &[u8]) -> (Vec<Envelope<'static>>, Vec<Code>) {
    let (mut decoder, mut seen) = (Decoder::new(dialect, None).unwrap(), Vec::new());
    let mut sink = |envelope: &Envelope<'_>| {
        let mut envelope = envelope.clone().into_owned();
        if let Event::Unknown(unknown) = &mut envelope.event {
            // It is passed on as it was spelt.
            unknown.raw = unknown.raw.replacen("{ ", "{", 1).into();
        }
        seen.push(envelope);
    };
    decoder.feed(bytes, &mut sink);
    decoder.finish(&mut sink);
    let odd = decoder.diagnostics().drain().map(|odd| odd.code).collect();
    (seen, odd)
}

quickcheck! {
    fn a_delta_is_read_the_same_however_it_is_spelt(
        deltas: Vec<Delta>,
        wound: Option<(usize, u8)>
    ) -> bool {
        Dialect::ALL.iter().all(|dialect| {
            let mut bytes = encode(*dialect, &deltas);
            if let Some((at, byte)) = wound && !bytes.is_empty() {
                let at = at % bytes.len();
                bytes[at] = byte;
            }
            decode(*dialect, &bytes) == decode(*dialect, &spelt_otherwise(&bytes))
        })
    }
}

#[test]
fn a_delta_with_more_or_less_than_usual_is_read_all_the_same() {
    let token = |fields: &str| format!(r#"{{"ts":1,"type":"token",{fields}}}"#);
    let cases = [
        (Dialect::AGENT, String::from(r#"{"type":"text_delta","text":"a","text":"b"}"#)),
        (Dialect::RESPOND, String::from(r#"{"type":"text","text":"b","done":true}"#)),
        (Dialect::RESPOND, String::from(r#"{"type":"text","text":"a","done":false,"text":"b"}"#)),
        (Dialect::WORKSPACE, token(r#""payload":{"text":"b","step":007}"#)),
        (Dialect::WORKSPACE, token(r#""payload":{"text":"b","step":7.0}"#)),
        (Dialect::WORKSPACE, token(r#""turn_id":null,"payload":{"text":"b"}"#)),
        (Dialect::WORKSPACE, token(r#""payload":{"text":"b"},"ts":2"#)),
        (Dialect::CHAT, String::from(r#"{"type":"delta","text":"b","sessionId":"s"}"#)),
        (Dialect::CHAT, String::from(r#"{"type":"delta","text":"b","messageId":7}"#)),
    ];
    for (dialect, json) in cases {
        let ndjson = dialect == Dialect::CHAT;
        let framed = if ndjson { format!("{json}\n") } else { format!("data: {json}\n\n") };
        let (seen, odd) = decode(dialect, framed.as_bytes());
        assert_eq!((seen.clone(), odd), decode(dialect, &spelt_otherwise(framed.as_bytes())));
        // What is no JSON is no event: a number does not begin with a zero.
        let texts: Vec<_> = seen.iter().map(|envelope| envelope.event.clone()).collect();
        match json.contains("007") {
            true => assert!(texts.is_empty(), "{json}"),
            false => match &texts[..] {
                [Event::TextDelta(delta)] => assert_eq!(delta.text, "b", "{json}"),
                other => panic!("{json}: {other:?}"),
            },
        }
    }
}
