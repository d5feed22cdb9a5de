//! The advice on connections: `link.json`.

use turnwire::ids::Seed;
use turnwire::link::{Advice, Link, LinkOptions};
use turnwire::time::{Millis, TimeoutReason};

use crate::vectors::load;

#[test]
fn advice() {
    for case in load(include_str!("../vectors/link.json")) {
        let name = case["name"].as_str().unwrap();
        let seed = Seed([9; 16]);
        let mut options = match case["watches"].as_bool().unwrap_or(true) {
            true => LinkOptions::watching(seed),
            false => LinkOptions::starting_work(seed),
        };
        options.jitter_percent = case["jitter_percent"].as_u64().unwrap_or(0);
        let mut link = Link::new(options);
        for step in case["steps"].as_array().unwrap() {
            if let Some(status) = step["response"].as_u64() {
                link.handle_response(u16::try_from(status).unwrap());
            } else if let Some(id) = step["event"].as_str() {
                link.handle_event(id);
            } else if let Some(ms) = step["retry"].as_u64() {
                link.handle_retry(ms);
            } else if step["terminal"] == true {
                link.handle_terminal();
            } else {
                let now = step["close"].as_u64().unwrap();
                close(name, &mut link, Millis(now), &step["expect"]);
            }
        }
        if let Some(id) = case["last_event_id"].as_str() {
            assert_eq!(link.last_event_id(), Some(id), "{name}");
        }
    }
}

fn close(name: &str, link: &mut Link, now: Millis, expect: &serde_json::Value) {
    let advice = link.handle_close(now);
    let (word, after_ms) = match advice {
        Advice::Stop => ("stop", None),
        Advice::Resume { after_ms } => ("resume", Some(after_ms)),
        Advice::ReportInterrupted => ("report_interrupted", None),
        Advice::GiveUp => ("give_up", None),
        other => panic!("{name}: {other:?} has no word"),
    };
    assert_eq!(word, expect["do"].as_str().unwrap(), "{name}");
    let deadline = after_ms.map(|ms| (Millis(now.0 + ms), TimeoutReason::Reconnect));
    assert_eq!(link.poll_timeout(), deadline, "{name}");
    if let Some(exact) = expect["after_ms"].as_u64() {
        assert_eq!(after_ms, Some(exact), "{name}");
    } else if let Some(ms) = after_ms {
        let range = expect["from_ms"].as_u64().unwrap()..=expect["to_ms"].as_u64().unwrap();
        assert!(range.contains(&ms), "{name}: {ms}");
    }
}

#[test]
fn a_deadline_is_due_once() {
    let mut link = Link::new(LinkOptions::watching(Seed([0; 16])));
    let Advice::Resume { after_ms } = link.handle_close(Millis(100)) else { panic!("it watches") };
    assert!(!link.handle_timeout(Millis(99 + after_ms)), "a spurious wake-up does nothing");
    assert!(link.poll_timeout().is_some());
    assert!(link.handle_timeout(Millis(100 + after_ms)));
    assert!(!link.handle_timeout(Millis(100 + after_ms)));
    assert_eq!(link.poll_timeout(), None);
}

#[test]
fn the_same_seed_gives_the_same_jitter_and_another_one_does_not() {
    let delays = |seed| {
        let mut link = Link::new(LinkOptions::watching(Seed([seed; 16])));
        let mut delay = || match link.handle_close(Millis(0)) {
            Advice::Resume { after_ms } => after_ms,
            other => panic!("{other:?}"),
        };
        [delay(), delay(), delay(), delay()]
    };
    assert_eq!(delays(1), delays(1));
    assert_ne!(delays(1), delays(2));
}
