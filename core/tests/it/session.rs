//! The session: one turn, one log, readers in any dialect; the harness with its scheduler is in
//! `session_laws`.

use turnwire::dialect::Dialect;
use turnwire::event::{
    Answer, Channel, Decision, Envelope, Event, EventKind, QuestionItem, TurnStarted,
};
use turnwire::session::{Attach, Polled, Session, SessionOptions};
use turnwire::time::{Millis, TimeoutReason};
use turnwire::turn::{ApprovalOptions, Failure, Finish};

const NOW: Millis = Millis(0);

/// A session, and a store that takes everything at once.
struct Bench {
    session: Session,
    stored: Vec<(u64, Vec<u8>)>,
}

impl Bench {
    fn new() -> Self {
        Self { session: Session::new(SessionOptions::new("s1", "e1")).unwrap(), stored: vec![] }
    }

    fn store(&mut self) {
        while let Some((seq, entry)) = self.session.poll_store() {
            self.stored.push((seq, entry.to_vec()));
        }
        let newest = self.stored.last().map_or(0, |(seq, _)| *seq);
        self.session.handle_persisted(newest);
    }

    fn kinds(&self) -> Vec<EventKind> {
        let read = |entry: &Vec<u8>| serde_json::from_slice::<Envelope<'static>>(entry).unwrap();
        self.stored.iter().map(|(_, entry)| read(entry).event.kind()).collect()
    }
}

#[test]
fn one_turn_at_a_time() {
    let mut b = Bench::new();
    let refused = b.session.say(NOW, |turn, sink| turn.text("x", sink)).unwrap_err();
    assert_eq!(refused.code.as_str(), "not_started");
    let id = b.session.start_turn(NOW, TurnStarted::new()).unwrap();
    let busy = b.session.start_turn(NOW, TurnStarted::new()).unwrap_err();
    assert_eq!(busy.code.as_str(), "busy");
    assert_eq!(b.session.turn().map(|(id, _)| id.to_string()), Some(id.clone()));
    b.session.say(NOW, |turn, sink| turn.finish(Finish::default(), sink)).unwrap();
    let next = b.session.start_turn(NOW, TurnStarted::new()).unwrap();
    assert_ne!(next, id);
    b.store();
    assert_eq!(b.kinds(), [EventKind::TurnStarted, EventKind::Done, EventKind::TurnStarted]);
}

#[test]
fn an_answer_counts_once_and_a_time_out_is_no_consent() {
    let mut b = Bench::new();
    b.session.start_turn(NOW, TurnStarted::new()).unwrap();
    let item = QuestionItem::new("i1", "Which?");
    b.session.say(NOW, |turn, sink| turn.ask("q1", &[item], 60_000, NOW, sink)).unwrap();
    let mut wait = ApprovalOptions::default();
    wait.timeout_ms = Some(5_000);
    b.session.say(NOW, |turn, sink| turn.require_approval("a1", &[], wait, NOW, sink)).unwrap();
    assert_eq!(b.session.poll_timeout(), Some((Millis(5_000), TimeoutReason::Expiry)));
    b.session.handle_timeout(Millis(4_999)).unwrap();
    assert!(b.session.settled().is_empty(), "a spurious wake-up does nothing");
    b.session.answer(NOW, "q1", &[Answer::new("i1")]).unwrap();
    let twice = b.session.answer(NOW, "q1", &[Answer::new("i1")]).unwrap_err();
    assert_eq!((twice.code.as_str(), twice.outcome), ("already_settled", Some("answered")));
    assert_eq!(b.session.answer(NOW, "q9", &[]).unwrap_err().code.as_str(), "unknown_id");
    b.session.handle_timeout(Millis(5_000)).unwrap();
    let late = b.session.resolve_approval(NOW, "a1", Decision::Allow, "user").unwrap_err();
    assert_eq!((late.code.as_str(), late.outcome), ("already_settled", Some("timeout")));
    let settled = b.session.settled();
    assert_eq!(settled.len(), 2);
    assert!(settled.iter().all(|one| !one.is_consent()));
}

#[test]
fn stop_disconnect_and_detach_are_three_things() {
    let mut b = Bench::new();
    assert!(!b.session.handle_stop(NOW, "user").unwrap(), "nothing runs");
    b.session.start_turn(NOW, TurnStarted::new()).unwrap();
    let reader = b.session.attach(NOW, Dialect::WORKSPACE, Attach::default()).unwrap();
    b.session.detach(reader);
    assert!(b.session.is_busy(), "a reader that leaves ends nothing");
    assert_eq!(b.session.poll_reader(NOW, reader, 1, &mut vec![]), Polled::Unknown);
    assert!(b.session.handle_stop(NOW, "user").unwrap());
    assert!(!b.session.is_busy());
    b.store();
    let kinds = b.kinds();
    assert_eq!(kinds[1..], [EventKind::Cancelled, EventKind::Done]);
}

#[test]
fn a_turn_that_the_process_did_not_survive_is_closed_by_what_was_stored() {
    let mut b = Bench::new();
    b.session.start_turn(NOW, TurnStarted::new()).unwrap();
    for piece in ["Hel", "lo"] {
        b.session.say(NOW, |turn, sink| turn.text(piece, sink)).unwrap();
    }
    let start = turnwire::event::ToolStart::new("bash");
    b.session.say(NOW, |turn, sink| turn.tool_start(start, sink)).unwrap();
    b.session.say(NOW, |turn, sink| turn.text("Half", sink)).unwrap();
    b.store();
    // Said, but not yet stored when the process died.
    b.session.say(NOW, |turn, sink| turn.text("lost", sink)).unwrap();
    let tail = b.stored.clone();

    let mut options = SessionOptions::new("s1", "e1");
    options.head = tail.last().unwrap().0;
    options.anchors = vec![1];
    let session = Session::restore(options.clone(), NOW, &tail).unwrap();
    let mut again = Bench { session, stored: tail };
    again.store();
    assert!(!again.session.is_busy());
    let kinds = again.kinds();
    let added = [EventKind::Message, EventKind::ToolResult, EventKind::Error, EventKind::Done];
    assert_eq!(kinds[kinds.len() - 4..], added);
    let message = &again.stored[again.stored.len() - 4].1;
    let envelope: Envelope<'static> = serde_json::from_slice(message).unwrap();
    let Event::Message(message) = &envelope.event else { panic!("a message") };
    assert_eq!(message.text, "Half", "what was stored of the open step is covered");
    // A second restart finds nothing to close.
    options.head = again.stored.last().unwrap().0;
    let mut third = Session::restore(options, NOW, &again.stored).unwrap();
    assert!(third.poll_store().is_none());
    third.start_turn(NOW, TurnStarted::new()).unwrap();
}

#[test]
fn a_failed_store_closes_readers_and_refuses_events() {
    let mut b = Bench::new();
    let reader = b.session.attach(NOW, Dialect::WORKSPACE, Attach::default()).unwrap();
    b.session.start_turn(NOW, TurnStarted::new()).unwrap();
    let (seq, _) = b.session.poll_store().unwrap();
    b.session.handle_persist_failed(seq);
    let mut out = Vec::new();
    let polled = b.session.poll_reader(NOW, reader, usize::MAX, &mut out);
    assert!(matches!(polled, Polled::Closed(reason) if reason.as_str() == "store"));
    assert!(out.is_empty(), "what is not stored is given to nobody");
    let refused = b.session.say(NOW, |turn, sink| turn.fail(Failure::new("x"), sink)).unwrap_err();
    assert_eq!(refused.code.as_str(), "store_failed");
}

#[test]
fn a_silent_reader_gets_a_keepalive() {
    let mut b = Bench::new();
    let mut attach = Attach::default();
    attach.retry_ms = Some(2_000);
    let reader = b.session.attach(NOW, Dialect::WORKSPACE, attach).unwrap();
    let mut out = Vec::new();
    b.session.poll_reader(NOW, reader, usize::MAX, &mut out);
    assert_eq!(out, b"retry: 2000\n\n");
    assert_eq!(b.session.reader_timeout(reader), Some(Millis(15_000)));
    out.clear();
    b.session.handle_reader_timeout(Millis(14_999), reader, &mut out);
    assert!(out.is_empty());
    b.session.handle_reader_timeout(Millis(15_000), reader, &mut out);
    assert_eq!(out, b": keepalive\n\n");
}

#[test]
fn a_poll_gives_no_more_than_asked_for_and_cuts_no_entry() {
    let mut b = Bench::new();
    b.session.start_turn(NOW, TurnStarted::new()).unwrap();
    for _ in 0..20 {
        b.session.say(NOW, |turn, sink| turn.text("word ", sink)).unwrap();
        b.session.say(NOW, |turn, sink| turn.step(sink)).unwrap();
    }
    b.store();
    let reader = b.session.attach(NOW, Dialect::WORKSPACE, Attach::default()).unwrap();
    let (mut all, mut polls) = (Vec::new(), 0);
    loop {
        let mut out = Vec::new();
        let polled = b.session.poll_reader(NOW, reader, 1, &mut out);
        assert!(out.is_empty() || out.ends_with(b"\n\n"));
        all.extend(out);
        polls += 1;
        if polled == Polled::Idle {
            break;
        }
    }
    assert_eq!(polls, 22, "twenty hops and a start, one a poll, and one that finds nothing");
    assert_eq!(all.windows(4).filter(|w| w == b"\nid:").count(), 21);
}

#[test]
fn a_stream_opens_with_the_delay_and_the_greeting_of_its_dialect() {
    let mut b = Bench::new();
    let mut attach = Attach::default();
    attach.channel = Some(Channel::Events);
    attach.retry_ms = Some(2_000);
    let reader = b.session.attach(NOW, Dialect::CHAT, attach).unwrap();
    let mut out = Vec::new();
    b.session.poll_reader(NOW, reader, usize::MAX, &mut out);
    let text = String::from_utf8(out).unwrap();
    assert!(text.starts_with("retry: 2000\n\n"), "{text}");
    assert!(text.contains("\"type\":\"connected\"") && text.contains("\"s1\""), "{text}");
    assert!(!text.contains("\nid:"), "a greeting moves no cursor");
    let mut again = Vec::new();
    b.session.poll_reader(NOW, reader, usize::MAX, &mut again);
    assert!(again.is_empty(), "once");
}
