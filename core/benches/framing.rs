//! How fast bytes become frames and frames bytes, beside the crates that people use today.
//!
//! Medians over rounds in which the contestants take turns; what counts is the ratio, not the time.
//! `cargo bench --bench framing`
#![allow(missing_docs, clippy::unwrap_used, clippy::panic)]
#![allow(clippy::disallowed_methods, reason = "a bench reads the clock; the crate does not")]

use std::convert::Infallible;
use std::hint::black_box;
use std::time::Instant;

use bytes::Bytes;
use futures_util::{FutureExt, StreamExt, stream};
use serde::{Deserialize, Serialize};
use turnwire::wire::json::{ObjectWriter, read_object};
use turnwire::wire::{FrameWriter, Framing, SseDecoder, Step};

const EVENTS: usize = 200_000;
const ROUNDS: usize = 11;

#[derive(Serialize, Deserialize)]
struct Delta<'a> {
    r#type: &'a str,
    text: &'a str,
}

/// Small text deltas, and a tool result after every fiftieth.
fn events() -> Vec<Bytes> {
    const WORDS: [&str; 8] =
        ["Hello", " world", ", the", " file", " naïve", " 那个", " is", " \\\"quoted\\\"\\n"];
    let event = |n: usize| {
        let json = if n % 50 == 49 {
            let line = "drwxr-xr-x 2 user user 4096 src/main.rs\\n";
            let summary = line.repeat(1 + n % 13);
            format!(r#"{{"type":"tool_result","name":"exec","ok":true,"summary":"{summary}"}}"#)
        } else {
            format!(r#"{{"type":"text_delta","text":"{}"}}"#, WORDS[n % WORDS.len()])
        };
        Bytes::from(format!("data: {json}\n\n"))
    };
    (0..EVENTS).map(event).collect()
}

fn chunks(whole: &Bytes, size: usize) -> Vec<Bytes> {
    (0..whole.len()).step_by(size).map(|at| whole.slice(at..whole.len().min(at + size))).collect()
}

fn ours(chunks: &[Bytes]) -> usize {
    let mut decoder = SseDecoder::default();
    let (mut count, mut len) = (0, 0);
    for chunk in chunks {
        let mut input = &**chunk;
        while let Step::Frame(frame) = decoder.next(&mut input) {
            count += 1;
            len += frame.data.len();
        }
    }
    assert_eq!(count, EVENTS);
    len
}

fn theirs(chunks: &[Bytes]) -> usize {
    let source = stream::iter(chunks.iter().cloned().map(Ok::<_, Infallible>));
    let mut frames = sse_stream::SseStream::from_bytes_stream(source);
    let (mut count, mut len) = (0, 0);
    while let Some(Some(frame)) = frames.next().now_or_never() {
        count += 1;
        len += frame.unwrap().data.map_or(0, |data| data.len());
    }
    assert_eq!(count, EVENTS);
    len
}

/// The median times of two contestants that take turns, in nanoseconds for one of `count`.
fn race(count: usize, mut a: impl FnMut() -> usize, mut b: impl FnMut() -> usize) -> (f64, f64) {
    let mut times = [Vec::new(), Vec::new()];
    for round in 0..=ROUNDS {
        for turn in 0..2 {
            let first = (round + turn) % 2 == 0;
            let start = Instant::now();
            black_box(if first { a() } else { b() });
            let ns = start.elapsed().as_nanos() as f64 / count as f64;
            // The first round warms up.
            if round > 0 {
                times[usize::from(!first)].push(ns);
            }
        }
    }
    let [a, b] = times.map(|mut list| {
        list.sort_by(f64::total_cmp);
        list[list.len() / 2]
    });
    (a, b)
}

fn report(what: &str, target: &str, (ours, theirs): (f64, f64)) {
    println!("{what:<44} {ours:>8.1} ns {theirs:>8.1} ns {:>6.2}x  {target}", theirs / ours);
}

fn main() {
    let events = events();
    let whole = Bytes::from(events.concat());
    let [small, middle, large] = [1 << 10, 16 << 10, 64 << 10].map(|size| chunks(&whole, size));
    println!("{:<44} {:>11} {:>11} {:>7}", "for one event", "turnwire", "other", "ratio");
    let sse = |list: &[Bytes]| race(EVENTS, || ours(list), || theirs(list));
    report("decode, 16 KiB chunks: sse-stream", "(at least 2)", sse(&middle));
    report("decode, one event a chunk: sse-stream", "(at least 2.5)", sse(&events));
    let by_size = race(EVENTS, || ours(&small), || ours(&large));
    report("decode, 1 KiB chunks: 64 KiB chunks", "(at least 0.67)", by_size);

    let mut out = Vec::with_capacity(whole.len() * 2);
    let mut other = Vec::with_capacity(whole.len() * 2);
    for (what, text) in [("short", "hello"), ("long", &include_str!("framing.rs")[..2000])] {
        let encode = race(
            EVENTS,
            || {
                out.clear();
                for _ in 0..EVENTS {
                    if out.len() > 1 << 20 {
                        out.clear();
                    }
                    let mut object = ObjectWriter::begin(&mut out);
                    object.str("type", black_box("text_delta")).str("text", black_box(text));
                }
                out.len()
            },
            || {
                other.clear();
                for _ in 0..EVENTS {
                    if other.len() > 1 << 20 {
                        other.clear();
                    }
                    let delta = Delta { r#type: black_box("text_delta"), text: black_box(text) };
                    serde_json::to_writer(&mut other, &delta).unwrap();
                }
                other.len()
            },
        );
        report(&format!("write, {what} text: serde_json"), "(at least 0.9)", encode);
        let framed = race(
            EVENTS,
            || {
                out.clear();
                for _ in 0..EVENTS {
                    if out.len() > 1 << 20 {
                        out.clear();
                    }
                    let mut frames = FrameWriter::new(Framing::Sse, &mut out);
                    frames.object(None).str("type", "text_delta").str("text", black_box(text));
                    frames.finish(None);
                }
                out.len()
            },
            || {
                other.clear();
                for _ in 0..EVENTS {
                    if other.len() > 1 << 20 {
                        other.clear();
                    }
                    let delta = Delta { r#type: "text_delta", text: black_box(text) };
                    serde_json::to_writer(&mut other, &delta).unwrap();
                }
                other.len()
            },
        );
        report(&format!("write and frame, {what} text: serde_json"), "(at least 0.9)", framed);
    }

    let long = format!(r#"{{"type":"text_delta","text":"{}"}}"#, "a line of text. ".repeat(30));
    for (what, text) in [("short", r#"{"type":"text_delta","text":"hello"}"#), ("long", &*long)] {
        let read = race(
            EVENTS,
            || {
                let read = || {
                    let slots = read_object(black_box(text), &["type", "text"]).unwrap();
                    let [a, b] = slots.map(|v| v.and_then(|v| v.str()).unwrap().len());
                    a + b
                };
                (0..EVENTS).map(|_| read()).sum()
            },
            || {
                let read = || {
                    let delta: Delta<'_> = serde_json::from_str(black_box(text)).unwrap();
                    delta.r#type.len() + delta.text.len()
                };
                (0..EVENTS).map(|_| read()).sum()
            },
        );
        report(&format!("read, {what} text: serde_json"), "(at least 1)", read);
    }
}
