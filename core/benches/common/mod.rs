//! What the benches share: contestants that take turns, and the streams they are fed.
#![allow(dead_code, reason = "each bench uses a part")]
#![allow(clippy::disallowed_methods, reason = "a bench reads the clock; the crate does not")]

use std::fmt::Write;
use std::hint::black_box;
use std::time::Instant;

use bytes::Bytes;

pub mod peers;

/// Text deltas of the stream of small ones.
pub const DELTAS: usize = 200_000;

/// Deltas between two tools of that stream.
const DELTAS_A_TOOL: usize = 50;

/// What takes part in a race; what it returns only keeps the compiler from leaving it out.
pub type Contestant<'c> = &'c mut dyn FnMut() -> usize;

/// Lets contestants take turns, another one first in each round, and gives the nanoseconds of each
/// for one of `count`, round by round. The first round warms up and is left out.
pub fn race<const N: usize>(
    rounds: usize,
    count: usize,
    contestants: [Contestant<'_>; N],
) -> [Vec<f64>; N] {
    let mut times = [const { Vec::new() }; N];
    for round in 0..=rounds {
        for turn in 0..N {
            let who = (round + turn) % N;
            let start = Instant::now();
            black_box(contestants[who]());
            let ns = start.elapsed().as_nanos() as f64 / count as f64;
            if round > 0 {
                times[who].push(ns);
            }
        }
    }
    times
}

/// The middle one.
pub fn median(list: impl IntoIterator<Item = f64>) -> f64 {
    let mut list: Vec<f64> = list.into_iter().collect();
    list.sort_by(f64::total_cmp);
    list[list.len() / 2]
}

/// Prints the line above a table of [`report`].
pub fn head(what: &str, peer: &str) {
    println!("\n{what:<46} {:>11} {peer:>11} {:>8}", "turnwire", "ratio");
}

/// Prints one comparison: medians, and the median of the rounds' ratios, which is how many times
/// as fast as the peer this crate is. What else the machine does falls on both sides of a round.
pub fn report(what: &str, target: &str, ours: &[f64], theirs: &[f64]) {
    let ratio = median(ours.iter().zip(theirs).map(|(ours, theirs)| theirs / ours));
    let [ours, theirs] = [ours, theirs].map(|list| median(list.iter().copied()));
    println!("{what:<46} {ours:>8.1} ns {theirs:>8.1} ns {ratio:>7.2}x  {target}");
}

/// `whole` in pieces of `size` bytes.
pub fn chunks(whole: &Bytes, size: usize) -> Vec<Bytes> {
    (0..whole.len()).step_by(size).map(|at| whole.slice(at..whole.len().min(at + size))).collect()
}

fn frame(json: &str) -> Bytes {
    Bytes::from(format!("data: {json}\n\n"))
}

/// A `done` that repeats `text`, as servers send it.
pub fn done(text: &str) -> Bytes {
    frame(&format!(r#"{{"type":"done","text":{}}}"#, serde_json::to_string(text).unwrap()))
}

/// [`DELTAS`] small text deltas, one in eight with escapes and one in eight with characters of
/// more bytes than one, a tool after every fiftieth, and the end.
pub fn small_deltas() -> Vec<Bytes> {
    const WORDS: [&str; 8] =
        ["Hello", " world", ", the", " file", " naïve", " 那个", " is", " \"quoted\"\n"];
    let (mut events, mut text) = (Vec::new(), String::new());
    for n in 0..DELTAS {
        let word = WORDS[n % WORDS.len()];
        text.push_str(word);
        let word = serde_json::to_string(word).unwrap();
        events.push(frame(&format!(r#"{{"type":"text_delta","text":{word}}}"#)));
        if n % DELTAS_A_TOOL == DELTAS_A_TOOL - 1 {
            let summary = format!("list_dir · ✓ ok · {} entries", n % 40);
            let preview = "drwxr-xr-x 2 user user 4096 src/main.rs\\n".repeat(1 + n / 50 % 13);
            events.push(frame(&format!(
                r#"{{"type":"tool_start","name":"list_dir","id":"call_{n}"}}"#
            )));
            events.push(frame(&format!(
                r#"{{"type":"tool_result","name":"list_dir","ok":true,"summary":"{summary}","preview":"{preview}","id":"call_{n}"}}"#
            )));
        }
    }
    events.push(done(&text));
    events
}

/// `count` tools whose results have previews of 30 to 100 KB, with a line of text before each.
pub fn previews(count: usize) -> Vec<Bytes> {
    let line = "2025-12-01T00:00:00Z INFO server: \\\"GET /api/agent\\\" took 12 ms\\n";
    let mut events = Vec::new();
    for n in 0..count {
        let preview = line.repeat((30_000 + n * 7919 % 70_000) / line.len());
        events.push(frame(r#"{"type":"text_delta","text":"Once more."}"#));
        events.push(frame(&format!(r#"{{"type":"tool_start","name":"exec","id":"call_{n}"}}"#)));
        events.push(frame(&format!(
            r#"{{"type":"tool_result","name":"exec","ok":true,"summary":"exec · ✓ ok","preview":"{preview}","id":"call_{n}"}}"#
        )));
    }
    events.push(done(&"Once more.".repeat(count)));
    events
}

/// A text of `bytes` in lines, which the growth benches cut into pieces of five characters.
pub fn long_text(bytes: usize) -> String {
    let mut text = String::with_capacity(bytes + 80);
    let mut n = 0;
    while text.len() < bytes {
        n += 1;
        writeln!(text, "{n}. The quick brown fox says \"hello\" to the lazy dog.").unwrap();
    }
    text.truncate(bytes);
    text
}

/// `text` in pieces of five characters.
pub fn pieces(text: &str) -> impl Iterator<Item = &str> {
    // It is ASCII.
    (0..text.len()).step_by(5).map(|at| &text[at..text.len().min(at + 5)])
}

/// One message that grows by five characters a delta, and a `done` that repeats it.
pub fn growing(text: &str) -> Vec<Bytes> {
    let delta = |piece| {
        let piece = serde_json::to_string(piece).unwrap();
        frame(&format!(r#"{{"type":"text_delta","text":{piece}}}"#))
    };
    let mut events: Vec<Bytes> = pieces(text).map(delta).collect();
    events.push(done(text));
    events
}
