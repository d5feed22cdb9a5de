//! The log and the session: appends, deliveries, what one event costs with many readers, a resume.
//!
//! `cargo bench --bench log`
#![allow(missing_docs, clippy::unwrap_used, clippy::panic)]

use common::{head, median, race, report};
use turnwire::dialect::Dialect;
use turnwire::event::TurnStarted;
use turnwire::log::{Log, LogOptions, ReaderId, Start};
use turnwire::session::{Attach, Polled, Session, SessionOptions};
use turnwire::time::Millis;

mod common;

const ENTRIES: usize = 100_000;
const ROUNDS: usize = 7;
const NOW: Millis = Millis(0);

/// Appends, stores and gives each entry to one reader.
fn log() -> usize {
    let mut log: Log<Vec<u8>> = Log::new(LogOptions::new("e1")).unwrap();
    let reader = log.subscribe(Start::Beginning);
    let mut given = 0;
    for _ in 0..ENTRIES {
        let seq = log.append(vec![b'x'; 64], false).unwrap();
        while log.poll_store().is_some() {}
        log.handle_persisted(seq);
        while log.poll_reader(reader).is_some() {
            given += 1;
        }
    }
    assert_eq!(given, ENTRIES);
    given
}

/// The least that it could be: a queue.
fn queue() -> usize {
    let mut queue = std::collections::VecDeque::new();
    let mut given = 0;
    for _ in 0..ENTRIES {
        queue.push_back(vec![b'x'; 64]);
        while let Some(entry) = queue.pop_front() {
            given += usize::from(!entry.is_empty());
        }
    }
    given
}

fn session(readers: usize) -> (Session, Vec<ReaderId>) {
    let mut session = Session::new(SessionOptions::new("s1", "e1")).unwrap();
    session.start_turn(NOW, TurnStarted::new()).unwrap();
    let attach = || Attach::default();
    let readers =
        (0..readers).map(|_| session.attach(NOW, Dialect::WORKSPACE, attach()).unwrap()).collect();
    (session, readers)
}

fn store(session: &mut Session) {
    let mut newest = 0;
    while let Some((seq, _)) = session.poll_store() {
        newest = seq;
    }
    session.handle_persisted(newest);
}

/// One event to all readers, `events` times.
fn broadcast(
    session: &mut Session,
    readers: &[ReaderId],
    events: usize,
    out: &mut Vec<u8>,
) -> usize {
    let mut sent = 0;
    for _ in 0..events {
        session.say(NOW, |turn, sink| turn.text(" hello", sink)).unwrap();
        store(session);
        for reader in readers {
            out.clear();
            session.poll_reader(NOW, *reader, usize::MAX, out);
            sent += out.len();
        }
    }
    sent
}

fn main() {
    head("append, store, deliver one entry", "a queue");
    let [ours, theirs] = race(ROUNDS, ENTRIES, [&mut log, &mut queue]);
    report("log of 500 entries, one reader", "", &ours, &theirs);

    println!("\none event of a session, encoded once: cost of the event, and of a reader more");
    for readers in [1, 100, 1_000] {
        let (mut session, ids) = session(readers);
        let (mut out, events) = (Vec::new(), 100_000 / readers.max(10));
        let mut run = || broadcast(&mut session, &ids, events, &mut out);
        let [times] = race(ROUNDS, events, [&mut run]);
        let ns = median(times);
        println!("{readers:>6} readers {:>12.0} ns {:>8.1} ns a reader", ns, ns / readers as f64);
    }

    let mut options = SessionOptions::new("s1", "e1");
    options.capacity = 200_000;
    let mut long = Session::new(options).unwrap();
    long.start_turn(NOW, TurnStarted::new()).unwrap();
    for n in 0..ENTRIES {
        let word = if n % 2 == 0 { "word" } else { " " };
        long.say(NOW, |turn, sink| turn.text(word, sink)).unwrap();
        if n % 100 == 99 {
            long.say(NOW, |turn, sink| turn.step(sink)).unwrap();
        }
        store(&mut long);
    }
    let mut resume = || {
        let mut attach = Attach::default();
        attach.last_event_id = Some("e1-50000".into());
        let (reader, mut out) = (long.attach(NOW, Dialect::WORKSPACE, attach).unwrap(), Vec::new());
        assert_eq!(long.poll_reader(NOW, reader, usize::MAX, &mut out), Polled::Idle);
        long.detach(reader);
        out.len()
    };
    let [times] = race(3, 1, [&mut resume]);
    println!("\nresume in the middle of a turn of 100,000 events {:>8.1} ms", median(times) / 1e6);

    let before = ALLOCATED.current_usage();
    let (session, ids) = session(10_000);
    let each = (ALLOCATED.current_usage() - before) / ids.len();
    println!("10,000 idle readers of a session: {each} bytes each");
    drop(session);
}

#[global_allocator]
static ALLOCATED: peak_alloc::PeakAlloc = peak_alloc::PeakAlloc;
