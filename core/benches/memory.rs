//! How much memory one message takes at most while it grows, in the host that reads it and in the
//! turn that writes it. Both old and new block of a reallocation count, as if none were in place.
//!
//! `cargo bench --bench memory`
#![allow(missing_docs, clippy::unwrap_used, clippy::panic)]

use bytes::Bytes;
use common::{chunks, growing, long_text, pieces};
use peak_alloc::PeakAlloc;
use turnwire::dialect::Dialect;
use turnwire::time::Millis;
use turnwire::turn::Finish;
use turnwire::{Host, HostOptions, Turn, TurnOptions};

mod common;

#[global_allocator]
static COUNTED: PeakAlloc = PeakAlloc;

/// The most that is allocated while `run` runs, beyond what was before, in bytes.
fn peak(run: impl FnOnce()) -> usize {
    COUNTED.reset_peak_usage();
    let before = COUNTED.current_usage();
    run();
    COUNTED.peak_usage() - before
}

fn read(chunks: &[Bytes]) {
    let mut host = Host::new(Dialect::AGENT, HostOptions::default()).unwrap();
    let now = Millis(0);
    host.submit(now, "Go on.", None, &[], &mut |_| {}).unwrap();
    host.response(now, 200, "text/event-stream", None, None, &mut |_| {}).unwrap();
    for chunk in chunks {
        host.feed(now, chunk, None, &mut |_| {}).unwrap();
    }
    host.finish(now, None, &mut |_| {}).unwrap();
}

fn write(text: &str) {
    let mut turn = Turn::new(Some(Dialect::AGENT), TurnOptions::default()).unwrap();
    let (mut out, now) = (Vec::new(), Millis(0));
    for piece in pieces(text) {
        turn.text(now, piece, &mut out).unwrap();
        if out.len() > 64 << 10 {
            out.clear();
        }
    }
    turn.finish(now, Finish::default(), &mut out).unwrap();
}

fn main() {
    println!(
        "{:<34} {:>12} {:>12} {:>12}",
        "peak, in sizes of the text", "256 KiB", "1 MiB", "4 MiB"
    );
    let texts = [256 << 10, 1 << 20, 4 << 20].map(long_text);
    let row = |what: &str, peak: &dyn Fn(&str) -> usize| {
        let [a, b, c] = texts.each_ref().map(|text| peak(text) as f64 / text.len() as f64);
        println!("{what:<34} {a:>12.2} {b:>12.2} {c:>12.2}");
    };
    // The rows of the ring hold the text once more than what the target counts.
    row("host, 16 KiB chunks (under 3 + 1)", &|text| {
        let chunks = chunks(&Bytes::from(growing(text).concat()), 16 << 10);
        peak(|| read(&chunks))
    });
    row("host, one event a chunk (3 + 1)", &|text| {
        let events = growing(text);
        peak(|| read(&events))
    });
    row("turn, and the bytes it gives", &|text| peak(|| write(text)));
}
