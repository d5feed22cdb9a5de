//! From bytes to ops: how fast, and how evenly as one message grows.
//!
//! `cargo bench --bench host`
#![allow(missing_docs, clippy::unwrap_used, clippy::panic)]

use bytes::Bytes;
use common::peers::{bare_loop, sse_stream_flat, sse_stream_typed};
use common::{chunks, growing, head, long_text, median, previews, race, report, small_deltas};
use turnwire::dialect::Dialect;
use turnwire::host::Op;
use turnwire::time::Millis;
use turnwire::{Host, HostOptions};

mod common;

const ROUNDS: usize = 15;
const RESULTS: usize = 2_000;

/// A host that is fed the chunks and whose ops are drained.
fn ours(chunks: &[Bytes]) -> usize {
    let mut host = Host::new(Dialect::AGENT, HostOptions::default()).unwrap();
    let now = Millis(0);
    let mut seen = 0;
    let mut sink = |op: Op<'_>| {
        seen += match op {
            Op::Push { row, .. } => row.text.len(),
            Op::Grow { text, .. } => text.len(),
            _ => 1,
        };
    };
    host.submit(now, "Go on.", None, &[], &mut sink).unwrap();
    host.response(now, 200, "text/event-stream", None, None, &mut sink).unwrap();
    for chunk in chunks {
        host.feed(now, chunk, None, &mut sink).unwrap();
    }
    host.finish(now, None, &mut sink).unwrap();
    assert!(!host.fold().is_busy());
    seen
}

fn compare(what: &str, events: usize, rounds: usize, chunks: &[Bytes], targets: [&str; 2]) {
    let [host, bare, typed, flat] = race(
        rounds,
        events,
        [
            &mut || ours(chunks),
            &mut || bare_loop(chunks),
            &mut || sse_stream_typed(chunks),
            &mut || sse_stream_flat(chunks),
        ],
    );
    report(&format!("{what}: bare loop"), targets[0], &host, &bare);
    report(&format!("{what}: sse-stream, tagged enum"), targets[1], &host, &typed);
    report(&format!("{what}: sse-stream, flat struct"), "", &host, &flat);
}

fn main() {
    head("small deltas, for one event", "other");
    let events = small_deltas();
    let whole = Bytes::from(events.concat());
    let targets = ["(at least 0.8)", "(at least 1.5)"];
    compare("16 KiB chunks", events.len(), ROUNDS, &chunks(&whole, 16 << 10), targets);
    compare("one event a chunk", events.len(), ROUNDS, &events, targets);
    drop((events, whole));

    head("tool results of 30 to 100 KB, for one", "other");
    let whole = Bytes::from(previews(RESULTS).concat());
    compare("16 KiB chunks", RESULTS, 5, &chunks(&whole, 16 << 10), ["", ""]);
    drop(whole);

    println!("\n{:<46} {:>11} {:>20}", "one message, 5 characters a delta", "for a byte", "growth");
    let sizes = [256 << 10, 1 << 20, 4 << 20];
    let streams = sizes.map(|size| growing(&long_text(size)));
    let pieces = streams.each_ref().map(|list| chunks(&Bytes::from(list.concat()), 16 << 10));
    for (what, [a, b, c]) in [("16 KiB chunks", &pieces), ("one event a chunk", &streams)] {
        let times = race(7, 1, [&mut || ours(a), &mut || ours(b), &mut || ours(c)]);
        for n in 0..3 {
            let ns = median(times[n].iter().copied());
            let grown = n.checked_sub(1).map(|before| {
                let growth = median(times[n].iter().zip(&times[before]).map(|(a, b)| a / b));
                format!("{growth:.2} for 4 (at most 4.6)")
            });
            let label = format!("{what}, {} KiB", sizes[n] >> 10);
            println!(
                "{label:<46} {:>8.2} ns {:>24}",
                ns / sizes[n] as f64,
                grown.unwrap_or_default()
            );
        }
    }
}
