//! What waits for a person, where it cannot be said as vectors: bounds, rules, and a turn's clock.

use serde_json::json;
use turnwire::dialect::Dialect;
use turnwire::error::Code;
use turnwire::event::{Answer, Decision, Event, EventKind, QuestionOutcome};
use turnwire::limits::{QUESTION_TIMEOUT_MS, SETTLED_UNREAD_MAX};
use turnwire::time::{Millis, TimeoutReason};
use turnwire::turn::{ApprovalOptions, Emitter, EmitterOptions, Finish, Settled};
use turnwire::{Turn, TurnOptions};

const NOW: Millis = Millis(0);

#[test]
fn a_question_that_outlives_its_turn_can_be_answered_after_it() {
    let mut options = EmitterOptions::default();
    options.rules.question_outlives_turn = true;
    let mut turn = Emitter::new(options).unwrap();
    let mut kinds = Vec::new();
    let sink = &mut |event: &Event<'_>| kinds.push(event.kind());
    turn.ask("q", &[], 5, NOW, sink).unwrap();
    turn.require_approval("a", &[], ApprovalOptions::default(), NOW, sink).unwrap();
    turn.finish(Finish::default(), sink).unwrap();
    let cut =
        Settled::Approval { id: "a".into(), decision: Decision::Cancelled, by: "system".into() };
    assert_eq!((turn.settled(), turn.poll_timeout()), (vec![cut], None));
    turn.handle_timeout(Millis(1000), sink);
    turn.answer("q", &[Answer::new("1")], sink).unwrap();
    assert_eq!(turn.answer("q", &[], sink).unwrap_err().outcome, Some("answered"));
    assert_eq!(turn.settled().len(), 1);
    use EventKind as K;
    assert_eq!(
        kinds,
        [
            K::TurnStarted,
            K::Question,
            K::ApprovalRequired,
            K::ApprovalResolved,
            K::Done,
            K::QuestionResolved
        ]
    );
}

#[test]
fn what_nobody_asks_for_is_forgotten_to_a_bound() {
    let mut turn = Emitter::new(EmitterOptions::default()).unwrap();
    let sink = &mut |_: &Event<'_>| {};
    for n in 0..=SETTLED_UNREAD_MAX {
        let id = n.to_string();
        turn.ask(&id, &[], 1, NOW, sink).unwrap();
        turn.answer(&id, &[], sink).unwrap();
    }
    let told = turn.settled();
    let first =
        Settled::Question { id: "1".into(), outcome: QuestionOutcome::Answered, answers: vec![] };
    assert_eq!((told.len(), &told[0]), (SETTLED_UNREAD_MAX, &first));
    let codes: Vec<_> = turn.diagnostics().drain().map(|found| found.code).collect();
    assert_eq!(codes, [Code::SettledUnread]);
}

#[test]
fn the_end_of_a_full_turn_is_told_whole() {
    let mut turn = Emitter::new(EmitterOptions::default()).unwrap();
    let sink = &mut |_: &Event<'_>| {};
    for n in 0..1024 {
        let id = n.to_string();
        turn.ask(&id, &[], 1, NOW, sink).unwrap();
        turn.require_approval(&id, &[], ApprovalOptions::default(), NOW, sink).unwrap();
    }
    assert_eq!(turn.ask("x", &[], 1, NOW, sink).unwrap_err().code, Code::TooManyOpen);
    turn.propose_plan("p", sink).unwrap();
    turn.cancel("user", sink).unwrap();
    assert_eq!(turn.settled().len(), SETTLED_UNREAD_MAX);
    assert!(turn.diagnostics().is_empty());
}

#[test]
fn settled_reads_back_from_its_json() {
    let forms = [
        json!({"kind": "question", "id": "q", "outcome": "answered",
               "answers": [{"id": "1", "selected": ["a"], "text": "t"}]}),
        json!({"kind": "approval", "id": "a", "decision": "allow", "by": "user"}),
        json!({"kind": "plan", "approved": true, "edits": "e"}),
    ];
    let consents = [false, true, true];
    for (form, consent) in forms.into_iter().zip(consents) {
        let settled: Settled = serde_json::from_value(form.clone()).unwrap();
        assert_eq!(settled.is_consent(), consent);
        assert_eq!(serde_json::to_value(settled).unwrap(), form);
    }
}

fn turn(dialect: Option<Dialect>) -> Turn {
    let mut options = TurnOptions::default();
    options.now = Millis(1000);
    Turn::new(dialect, options).unwrap()
}

#[test]
fn a_turn_wakes_for_the_earlier_of_keepalive_and_expiry() {
    let mut turn = turn(Some(Dialect::AGENT));
    let mut out = Vec::new();
    turn.ask(Millis(2000), "q", &[], QUESTION_TIMEOUT_MS, &mut out).unwrap();
    turn.require_approval(Millis(2000), "a", &[], approval(20_000), &mut out).unwrap();
    // The dialect has no word for them, so the connection was silent from its beginning.
    assert_eq!(turn.poll_timeout(), Some((Millis(16_000), TimeoutReason::Keepalive)));
    turn.handle_timeout(Millis(16_000), &mut out);
    assert_eq!(out, b": keepalive\n\n");
    assert_eq!(turn.poll_timeout(), Some((Millis(22_000), TimeoutReason::Expiry)));
    turn.handle_timeout(Millis(21_999), &mut out);
    assert!(turn.settled().is_empty());
    // One wake-up does all that is due.
    turn.handle_timeout(Millis(70_000), &mut out);
    assert_eq!(out, b": keepalive\n\n: keepalive\n\n");
    assert_eq!(turn.settled().len(), 2);
    let late = turn.resolve_approval(Millis(70_000), "a", Decision::Allow, "user", &mut out);
    assert_eq!(late.unwrap_err().outcome, Some("timeout"));
    assert_eq!(turn.poll_timeout(), Some((Millis(85_000), TimeoutReason::Keepalive)));
    turn.shutdown(Millis(71_000), &mut out).unwrap();
    assert_eq!(turn.poll_timeout(), None);
}

fn approval(timeout_ms: u64) -> ApprovalOptions<'static> {
    let mut options = ApprovalOptions::default();
    options.timeout_ms = Some(timeout_ms);
    options
}

#[test]
fn a_turn_for_a_log_has_expiries_too() {
    let mut turn = turn(None);
    let mut out = Vec::new();
    assert_eq!(turn.poll_timeout(), None);
    turn.propose_plan(Millis(1000), "p", &mut out).unwrap();
    turn.ask(Millis(1000), "q", &[], 5, &mut out).unwrap();
    turn.answer(Millis(1000), "r", &[], &mut out).unwrap_err();
    assert_eq!(turn.poll_timeout(), Some((Millis(1005), TimeoutReason::Expiry)));
    turn.handle_timeout(Millis(1005), &mut out);
    turn.resolve_plan(Millis(1006), true, Some("e"), None, &mut out).unwrap();
    assert!(out.is_empty());
    let entries: Vec<_> = core::iter::from_fn(|| turn.poll_entry()).collect();
    let told: Vec<serde_json::Value> =
        entries.iter().map(|entry| serde_json::from_slice(&entry.bytes).unwrap()).collect();
    assert_eq!(told[3]["type"], "question_resolved");
    assert_eq!((&told[3]["outcome"], &told[3]["ts_ms"]), (&json!("timeout"), &json!(5)));
    assert_eq!(
        told[4],
        json!({"type": "plan_resolved", "approved": true, "edits": "e", "ts_ms": 6})
    );
}
