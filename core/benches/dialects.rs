//! Each dialect beside `agent`, on the same deltas: callbacks to bytes, bytes to events; and a tool's
//! arguments that stream for long.
//!
//! `cargo bench --bench dialects`
#![allow(missing_docs, clippy::unwrap_used, clippy::panic)]

use std::hint::black_box;

use common::{head, median, race, report};
use turnwire::dialect::{Decoder, Dialect, Encoder, Stamp};
use turnwire::event::{Event, TextDelta, ToolArgs, ToolArgsDelta, ToolCall};
use turnwire::host::{Fold, FoldOptions};

mod common;

const EVENTS: usize = 200_000;
const ROUNDS: usize = 7;
const CHUNK_BYTES: usize = 16 << 10;

fn encode(dialect: Dialect, out: &mut Vec<u8>) -> usize {
    let mut encoder = Encoder::new(dialect, None).unwrap();
    let stamp = Stamp::new(Some(1), Some("e1"), Some(1_764_536_400_000));
    out.clear();
    for _ in 0..EVENTS {
        let event = Event::from(TextDelta::new(black_box(" hello")));
        encoder.encode(&stamp, &event, out);
    }
    out.len()
}

fn decode(dialect: Dialect, bytes: &[u8]) -> usize {
    let mut decoder = Decoder::new(dialect, None).unwrap();
    let mut len = 0;
    for chunk in bytes.chunks(CHUNK_BYTES) {
        decoder.feed(chunk, &mut |envelope| {
            if let Event::TextDelta(delta) = &envelope.event {
                len += delta.text.len();
            }
        });
    }
    assert_eq!(len, EVENTS * " hello".len());
    len
}

/// The fold of arguments that come in pieces of four characters.
fn arguments(pieces: usize) -> usize {
    let dialect = Dialect::WORKSPACE;
    let mut fold = Fold::new(FoldOptions::new(*dialect.rules())).unwrap();
    let mut apply = |event: Event<'_>| fold.apply(&turnwire::event::Envelope::new(event), 0);
    apply(ToolCall::new("c1", "write_file").into());
    for _ in 0..pieces {
        apply(ToolArgsDelta::new("c1", black_box("abcd")).into());
    }
    apply(ToolArgs::new("c1", "write_file", "{}").into());
    fold.rows().len()
}

fn main() {
    head("encode a delta", "agent");
    for dialect in Dialect::ALL.iter().filter(|dialect| **dialect != Dialect::AGENT) {
        let (mut out, mut other) = (Vec::new(), Vec::new());
        let [ours, agent] = race(
            ROUNDS,
            EVENTS,
            [&mut || encode(*dialect, &mut out), &mut || encode(Dialect::AGENT, &mut other)],
        );
        report(dialect.name(), "target 0.6", &ours, &agent);
    }
    head("decode a delta, 16 KiB chunks", "agent");
    let mut agent_bytes = Vec::new();
    encode(Dialect::AGENT, &mut agent_bytes);
    for dialect in Dialect::ALL.iter().filter(|dialect| **dialect != Dialect::AGENT) {
        let mut bytes = Vec::new();
        encode(*dialect, &mut bytes);
        let [ours, agent] = race(
            ROUNDS,
            EVENTS,
            [&mut || decode(*dialect, &bytes), &mut || decode(Dialect::AGENT, &agent_bytes)],
        );
        report(dialect.name(), "target 0.6", &ours, &agent);
    }
    println!("\na tool's arguments in pieces of 4 characters: cost of one piece");
    for pieces in [65_536, 262_144] {
        let [times] = race(ROUNDS, pieces, [&mut || arguments(pieces)]);
        println!("{:>8} KiB in all {:>8.1} ns", pieces * 4 / 1024, median(times));
    }
}
