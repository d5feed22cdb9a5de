//! From callbacks to bytes: how fast, and how evenly as one message grows.
//!
//! `cargo bench --bench turn`
#![allow(missing_docs, clippy::unwrap_used, clippy::panic)]

use std::hint::black_box;

use common::peers::{Delta, axum_events};
use common::{head, long_text, median, pieces, race, report};
use turnwire::dialect::Dialect;
use turnwire::event::ToolStart;
use turnwire::time::Millis;
use turnwire::turn::{Finish, Output, ToolOutcome};
use turnwire::{Turn, TurnOptions};

mod common;

const EVENTS: usize = 200_000;
const ROUNDS: usize = 15;
/// A server sends what it has and empties its buffer; none lets it grow to megabytes.
const BUFFER_BYTES: usize = 64 << 10;

fn turn() -> Turn {
    Turn::new(Some(Dialect::AGENT), TurnOptions::default()).unwrap()
}

fn ours(text: &str, out: &mut Vec<u8>) -> usize {
    let mut turn = turn();
    let mut sent = 0;
    for _ in 0..EVENTS {
        turn.text(Millis(0), black_box(text), out).unwrap();
        if out.len() > BUFFER_BYTES {
            sent += out.len();
            out.clear();
        }
    }
    sent + out.len()
}

fn to_writer(text: &str, out: &mut Vec<u8>) -> usize {
    let mut sent = 0;
    for _ in 0..EVENTS {
        let delta = Delta { r#type: black_box("text_delta"), text: black_box(text) };
        serde_json::to_writer(&mut *out, &delta).unwrap();
        if out.len() > BUFFER_BYTES {
            sent += out.len();
            out.clear();
        }
    }
    sent + out.len()
}

/// A turn with everything: deltas, a tool after every fiftieth, and a `done` with its trace.
fn whole_turn(out: &mut Vec<u8>) -> usize {
    let (mut turn, now) = (turn(), Millis(0));
    let mut sent = 0;
    for n in 1..=EVENTS {
        turn.text(now, black_box("hello"), out).unwrap();
        if n % 50 == 0 {
            turn.tool_start(now, ToolStart::new("list_dir"), out).unwrap();
            let output = Output::Text("src\nsrc/main.rs\nCargo.toml");
            turn.tool_result(now, ToolOutcome::new("list_dir", output), out).unwrap();
        }
        if out.len() > BUFFER_BYTES {
            sent += out.len();
            out.clear();
        }
    }
    turn.finish(now, Finish::default(), out).unwrap();
    sent + out.len()
}

fn grow(text: &str) -> usize {
    let (mut turn, mut out, now) = (turn(), Vec::new(), Millis(0));
    let mut sent = 0;
    for piece in pieces(text) {
        turn.text(now, piece, &mut out).unwrap();
        if out.len() > BUFFER_BYTES {
            sent += out.len();
            out.clear();
        }
    }
    turn.finish(now, Finish::default(), &mut out).unwrap();
    sent + out.len()
}

fn main() {
    let [mut out, mut other] = [const { Vec::new() }; 2];
    head("a text delta to bytes, for one", "other");
    let medium = "a line of text, as a model writes it. ";
    let escaped = "He said:\n\"Go on.\"\n";
    for (what, text) in [("5 bytes", "hello"), ("38 bytes", medium), ("with escapes", escaped)] {
        let mut a = || {
            out.clear();
            ours(text, &mut out)
        };
        let mut b = || {
            other.clear();
            to_writer(text, &mut other)
        };
        let mut c = || axum_events(text, EVENTS);
        let [turn, writer, axum] = race(ROUNDS, EVENTS, [&mut a, &mut b, &mut c]);
        report(&format!("{what}: serde_json::to_writer"), "(at least 0.9)", &turn, &writer);
        report(&format!("{what}: axum json_data"), "(at least 8)", &turn, &axum);
    }
    let mut with_tools = || {
        out.clear();
        whole_turn(&mut out)
    };
    let mut writer = || {
        other.clear();
        to_writer("hello", &mut other)
    };
    let [turn, writer] = race(ROUNDS, EVENTS, [&mut with_tools, &mut writer]);
    report("with a tool after each 50: only the deltas", "", &turn, &writer);

    println!("\n{:<46} {:>11} {:>20}", "one message, 5 characters a call", "for a byte", "growth");
    let sizes = [256 << 10, 1 << 20, 4 << 20];
    let [a, b, c] = sizes.map(long_text);
    let times = race(7, 1, [&mut || grow(&a), &mut || grow(&b), &mut || grow(&c)]);
    for n in 0..3 {
        let ns = median(times[n].iter().copied());
        let grown = n.checked_sub(1).map(|before| {
            let growth = median(times[n].iter().zip(&times[before]).map(|(a, b)| a / b));
            format!("{growth:.2} for 4 (at most 4.6)")
        });
        let label = format!("{} KiB", sizes[n] >> 10);
        println!("{label:<46} {:>8.2} ns {:>24}", ns / sizes[n] as f64, grown.unwrap_or_default());
    }
}
