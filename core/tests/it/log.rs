//! The log: `log.json`, and a model that is slow and obvious.

use std::collections::BTreeMap;

use quickcheck::{Arbitrary, Gen, quickcheck};
use serde_json::{Value as Json, json};
use turnwire::ids::EventId;
use turnwire::log::{Log, LogOptions, ReaderId, Record, Start};

use crate::vectors::load;

fn told(record: Option<Record<'_, String>>) -> Option<Json> {
    Some(match record? {
        Record::Deliver { seq, entry, prime: false } => json!({"deliver": entry, "seq": seq}),
        Record::Deliver { seq, entry, prime: true } => {
            json!({"deliver": entry, "seq": seq, "prime": true})
        }
        Record::Fetch { after, limit } => {
            assert!(limit > 0);
            json!({"fetch": after})
        }
        Record::Resync { reason, oldest_seq, head_seq } => {
            json!({"resync": reason.as_str(), "oldest": oldest_seq, "head": head_seq})
        }
        Record::Closed { reason } => json!({"closed": reason.as_str()}),
        other => panic!("{other:?} has no word"),
    })
}

struct Case {
    name: String,
    log: Log<String>,
    readers: BTreeMap<String, ReaderId>,
}

impl Case {
    fn reader(&self, key: &Json) -> ReaderId {
        self.readers[key.as_str().unwrap()]
    }

    fn drain(&mut self, reader: ReaderId) -> Vec<Json> {
        std::iter::from_fn(|| {
            let ready = self.log.ready().any(|id| id == reader);
            let record = told(self.log.poll_reader(reader));
            assert_eq!(ready, record.is_some(), "{}: ready tells what a poll gives", self.name);
            record
        })
        .collect()
    }

    fn store(&mut self) -> Vec<Json> {
        std::iter::from_fn(|| self.log.poll_store().map(|(seq, entry)| json!([seq, entry])))
            .collect()
    }

    fn step(&mut self, step: &Json) {
        let name = self.name.clone();
        let pairs =
            |list: &Json| -> Vec<(u64, String)> { serde_json::from_value(list.clone()).unwrap() };
        let map = step.as_object().unwrap();
        let has = |key: &str| map.contains_key(key);
        if has("append") {
            let anchor = step["anchor"] == true;
            self.log.append(step["append"].as_str().unwrap().into(), anchor).unwrap();
        } else if has("live") {
            self.log.append_live(step["live"].as_str().unwrap().into()).unwrap();
        } else if has("append_fails") {
            let refused = self.log.append("late".into(), false).unwrap_err();
            assert_eq!(refused.code.as_str(), step["append_fails"], "{name}");
            self.log.append_live("late".into()).unwrap_err();
        } else if has("fill") {
            for _ in 0..step["fill"].as_u64().unwrap() {
                let next = (self.log.head() + 1).to_string();
                let seq = self.log.append(next, false).unwrap();
                while self.log.poll_store().is_some() {}
                self.log.handle_persisted(seq);
            }
        } else if has("store") {
            let given = self.store();
            match step["store"].as_u64() {
                Some(count) => assert_eq!(given.len() as u64, count, "{name}"),
                None => assert_eq!(json!(given), step["store"], "{name}"),
            }
        } else if has("persisted") {
            self.log.handle_persisted(step["persisted"].as_u64().unwrap());
        } else if has("persist_failed") {
            self.log.handle_persist_failed(step["persist_failed"].as_u64().unwrap());
        } else if has("observed") {
            let (seq, entry): (u64, String) =
                serde_json::from_value(step["observed"].clone()).unwrap();
            self.log.handle_observed(seq, entry, false);
        } else if has("as") {
            let start = match () {
                () if has("subscribe_live") => Start::Live,
                () if has("subscribe_turn") => Start::NewestTurn,
                () => Start::from_last_event_id(step["subscribe"].as_str()),
            };
            let reader = self.log.subscribe(start);
            self.readers.insert(step["as"].as_str().unwrap().into(), reader);
        } else if has("unsubscribe") {
            self.log.unsubscribe(self.reader(&step["unsubscribe"]));
            let late = self.log.diagnostics().drain().count();
            assert_eq!(late, usize::from(step["late"] == true), "{name}");
        } else if has("fetched") {
            let reader = self.reader(&step["fetched"]);
            self.log.handle_fetched(reader, pairs(&step["entries"]));
        } else if has("poll") {
            let reader = self.reader(&step["poll"]);
            assert_eq!(json!(self.drain(reader)), step["expect"], "{name}: {step}");
        } else if has("poll1") {
            let reader = self.reader(&step["poll1"]);
            assert_eq!(told(self.log.poll_reader(reader)).unwrap(), step["expect"], "{name}");
        } else if has("count") {
            let reader = self.reader(&step["count"]);
            let records = self.drain(reader);
            let (primers, sent): (Vec<_>, Vec<_>) =
                records.iter().partition(|record| record["prime"] == true);
            assert_eq!(json!(primers.len()), step["prime"], "{name}");
            assert_eq!(json!(sent.len()), step["deliver"], "{name}");
            assert_eq!(sent[0]["seq"], step["first"], "{name}");
        } else {
            panic!("{name}: no such step: {step}");
        }
    }
}

#[test]
fn vectors() {
    for case in load(include_str!("../vectors/log.json")) {
        let mut options = LogOptions::new("e1");
        let given = &case["options"];
        let number = |key: &str| given[key].as_u64();
        options.capacity = number("capacity").map_or(options.capacity, |n| n as usize);
        options.max_bytes = number("max_bytes").map_or(options.max_bytes, |n| n as usize);
        options.store = given["store"] == true;
        options.head = number("head").unwrap_or(0);
        options.max_lag = number("max_lag");
        if given["anchors"].is_array() {
            options.anchors = serde_json::from_value(given["anchors"].clone()).unwrap();
        }
        let name = case["name"].as_str().unwrap().to_string();
        let log = Log::new(options).unwrap();
        let mut case_state = Case { name, log, readers: BTreeMap::new() };
        for step in case["steps"].as_array().unwrap() {
            case_state.step(step);
        }
    }
}

#[test]
fn options_and_bounds_are_checked() {
    for epoch in ["", "1e", "e 1", "e\n1", &"e".repeat(120)] {
        let refused = Log::<String>::new(LogOptions::new(epoch)).unwrap_err();
        assert_eq!(refused.code.as_str(), "bad_option", "{epoch:?}");
    }
    let mut options = LogOptions::new("e1");
    options.capacity = 0;
    assert!(Log::<String>::new(options).is_err());
    let mut log: Log<String> = Log::new(LogOptions::new("e1")).unwrap();
    let accepted = (0..).take_while(|_| log.append("x".into(), false).is_ok()).count();
    assert_eq!(accepted, 4096);
    assert_eq!(log.append("x".into(), false).unwrap_err().code.as_str(), "too_many_waiting");
    while log.poll_store().is_some() {}
    log.handle_persisted(1);
    assert_eq!(log.append("x".into(), false).unwrap(), 4097);
    assert_eq!(log.event_id(7).to_string(), "e1-7");
}

/// What happens to a log and its readers.
#[derive(Clone, Debug)]
enum Step {
    Append { anchor: bool },
    Live,
    Hand,
    Persist(u64),
    Subscribe(Option<u64>),
    Poll(usize, u8),
    Answer(usize, u8),
    Leave(usize),
}

impl Arbitrary for Step {
    fn arbitrary(g: &mut Gen) -> Self {
        let (n, few) = (u64::arbitrary(g), u8::arbitrary(g) % 5);
        match u8::arbitrary(g) % 12 {
            0..=2 => Self::Append { anchor: few == 0 },
            3 => Self::Live,
            4 => Self::Hand,
            5 => Self::Persist(n),
            6 => Self::Subscribe(bool::arbitrary(g).then_some(n)),
            7..=9 => Self::Poll(n as usize, few),
            10 => Self::Answer(n as usize, few),
            _ => Self::Leave(n as usize),
        }
    }
}

/// A reader as the model sees it: from where, and what came.
struct Seen {
    id: ReaderId,
    from: u64,
    primed: Vec<u64>,
    got: Vec<u64>,
    resynced: bool,
    asked: Option<u64>,
}

fn run(steps: &[Step], store: bool, capacity: usize) -> Result<(), String> {
    let mut options = LogOptions::new("e1");
    (options.capacity, options.store) = (capacity, store);
    let mut log: Log<String> = Log::new(options).unwrap();
    let (mut anchors, mut readers): (Vec<u64>, Vec<Seen>) = (vec![], vec![]);
    let (mut handed, mut persisted) = (0, 0);
    for step in steps {
        match step {
            Step::Append { anchor } => {
                let seq = log.append("x".into(), *anchor).unwrap();
                anchors.extend(anchor.then_some(seq));
            }
            Step::Live => log.append_live("live".into()).unwrap(),
            Step::Hand => {
                while let Some((seq, _)) = log.poll_store() {
                    handed += 1;
                    if seq != handed {
                        return Err(format!("the store got {seq}, not {handed}"));
                    }
                }
            }
            Step::Persist(n) => {
                let seq = n % (handed + 1);
                log.handle_persisted(seq);
                persisted = persisted.max(seq);
            }
            Step::Subscribe(cursor) => {
                let from = cursor.map_or(0, |n| n % (persisted + 1));
                let start = match cursor {
                    None => Start::Beginning,
                    Some(_) => Start::After(EventId { epoch: Some("e1"), seq: from }),
                };
                let id = log.subscribe(start);
                let (primed, got) = (vec![], vec![]);
                readers.push(Seen { id, from, primed, got, resynced: false, asked: None });
            }
            Step::Leave(n) => {
                if !readers.is_empty() {
                    let gone = readers.swap_remove(n % readers.len());
                    log.unsubscribe(gone.id);
                }
            }
            Step::Answer(n, few) => {
                let count = readers.len().max(1);
                if let Some(seen) = readers.get_mut(n % count)
                    && let Some(after) = seen.asked.take()
                {
                    let last = (after + 1 + u64::from(*few)).min(persisted);
                    log.handle_fetched(seen.id, (after + 1..=last).map(|seq| (seq, "x".into())));
                }
            }
            Step::Poll(n, few) => {
                let count = readers.len().max(1);
                if let Some(seen) = readers.get_mut(n % count) {
                    for _ in 0..*few {
                        poll(&mut log, seen, persisted)?;
                    }
                }
            }
        }
    }
    while log.poll_store().is_some() {}
    log.handle_persisted(log.head());
    let head = log.head();
    for seen in &mut readers {
        loop {
            if let Some(after) = seen.asked.take() {
                log.handle_fetched(seen.id, (after + 1..=head).map(|seq| (seq, "x".into())));
            }
            if !poll(&mut log, seen, head)? {
                break;
            }
        }
        check(seen, head, store, &anchors)?;
    }
    Ok(())
}

fn poll(log: &mut Log<String>, seen: &mut Seen, persisted: u64) -> Result<bool, String> {
    match log.poll_reader(seen.id) {
        None => return Ok(false),
        Some(Record::Deliver { seq: Some(seq), .. }) if seq > persisted => {
            return Err(format!("{seq} was given before it was stored"));
        }
        Some(Record::Deliver { seq: Some(seq), prime: true, .. }) => seen.primed.push(seq),
        Some(Record::Deliver { seq: Some(seq), .. }) => seen.got.push(seq),
        Some(Record::Deliver { seq: None, entry, .. }) if entry != "live" => {
            return Err("a stored entry without its number".into());
        }
        Some(Record::Deliver { .. }) => {}
        Some(Record::Fetch { after, .. }) => seen.asked = Some(after),
        Some(Record::Resync { oldest_seq, .. }) => {
            (seen.resynced, seen.from) = (true, oldest_seq - 1);
            seen.primed.clear();
            seen.got.clear();
        }
        Some(other) => return Err(format!("{other:?}")),
    }
    Ok(true)
}

/// Each stored entry behind the cursor exactly once, in order; primers up to it, from an anchor.
fn check(seen: &Seen, head: u64, store: bool, anchors: &[u64]) -> Result<(), String> {
    let expected: Vec<u64> = (seen.from + 1..=head).collect();
    if seen.got != expected {
        return Err(format!("after {}: {:?}, not {expected:?}", seen.from, seen.got));
    }
    if store && seen.resynced {
        return Err("a store has everything, so nothing is missed".into());
    }
    let behind = anchors.iter().rev().find(|anchor| **anchor <= seen.from).copied().unwrap_or(1);
    let primers: Vec<u64> = (behind..=seen.from).collect();
    let whole = !store || seen.primed == primers;
    if seen.resynced || whole && primers.ends_with(&seen.primed) {
        return Ok(());
    }
    Err(format!("primed by {:?}, not {primers:?}", seen.primed))
}

quickcheck! {
    fn any_order_gives_each_entry_once(steps: Vec<Step>, store: bool, capacity: usize) -> Result<(), String> {
        run(&steps, store, 1 + capacity % 6)
    }
}
