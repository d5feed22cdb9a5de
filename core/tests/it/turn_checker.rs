//! The checker against streams that nobody's emitter made.

use serde_json::{Value, json};
use turnwire::error::Code;
use turnwire::event::{Event, Rules, Severity};
use turnwire::turn::Checker;

/// The findings over the events and the end, as code and event number.
fn findings(rules: Rules, events: Value) -> Vec<(Code, u64)> {
    let mut checker = Checker::new(rules);
    let mut found = Vec::new();
    for event in events.as_array().unwrap() {
        let event: Event<'_> = serde_json::from_value(event.clone()).unwrap();
        found.extend(checker.check(&event));
    }
    found.extend(checker.finish());
    assert!(found.iter().all(|finding| finding.severity == Severity::Error));
    found.iter().map(|finding| (finding.code, finding.at)).collect()
}

fn started() -> Value {
    json!({"type": "turn_started"})
}

fn done() -> Value {
    json!({"type": "done"})
}

#[test]
fn each_way_to_be_out_of_order_has_its_code() {
    let result =
        json!({"type": "tool_result", "name": "f", "ok": true, "summary": "", "call_id": "1"});
    let start = json!({"type": "tool_start", "name": "f", "call_id": "1"});
    let args = json!({"type": "tool_args", "call_id": "1", "name": "f", "args": "{}"});
    let call = json!({"type": "tool_call", "call_id": "1", "name": "f"});
    let output = json!({"type": "tool_output", "call_id": "1", "stream": "stdout", "text": "x"});
    let delta = json!({"type": "text_delta", "text": "x"});
    let error = json!({"type": "error", "message": "x"});
    let soft = json!({"type": "error", "message": "x", "recoverable": true});
    let trailer = json!({"type": "done", "status": "failed"});
    let plan = json!({"type": "plan_resolved", "approved": true});
    let title = json!({"type": "title", "title": "x"});
    let cases = [
        (json!([delta, done()]), vec![(Code::IllegalOrder, 1)]),
        (json!([started(), started(), done()]), vec![(Code::IllegalOrder, 2)]),
        (json!([started(), result, done()]), vec![(Code::OrphanResult, 2)]),
        (json!([started(), output, done()]), vec![(Code::ParentUnknown, 2)]),
        (json!([started(), plan, done()]), vec![(Code::UnknownId, 2)]),
        (json!([started(), start, start, result, done()]), vec![(Code::DuplicateId, 3)]),
        (json!([started(), start, result, result, done()]), vec![(Code::DuplicateResult, 4)]),
        (json!([started(), call, args, args, start, result, done()]), vec![(Code::LateArgs, 4)]),
        (json!([started(), call, output, result, done()]), vec![(Code::IllegalOrder, 3)]),
        (json!([started(), start, done()]), vec![(Code::IllegalOrder, 3)]),
        (json!([started(), start]), vec![(Code::EndedWithoutTerminal, 2)]),
        (json!([started(), error]), vec![(Code::EndedWithoutTerminal, 2)]),
        (json!([started(), error, trailer]), vec![]),
        (
            json!([started(), error, done()]),
            vec![(Code::LateEvent, 3), (Code::EndedWithoutTerminal, 3)],
        ),
        (json!([started(), error, trailer, trailer]), vec![(Code::LateEvent, 4)]),
        (json!([started(), trailer]), vec![]),
        (
            json!([started(), done(), done(), delta]),
            vec![(Code::LateEvent, 3), (Code::LateEvent, 4)],
        ),
        (json!([started(), soft, done()]), vec![]),
        (json!([title, started(), done(), title]), vec![]),
        (json!([started(), done(), started(), delta, done()]), vec![]),
        (json!([]), vec![]),
    ];
    for (events, expected) in cases {
        assert_eq!(findings(Rules::CANONICAL, events.clone()), expected, "{events}");
    }
}

#[test]
fn what_a_dialect_allows_is_not_found() {
    let mut rules = Rules::CANONICAL;
    rules.severities.before_start = Severity::Allowed;
    rules.severities.orphan = Severity::Allowed;
    rules.severities.open_at_end = Severity::Allowed;
    rules.severities.no_terminal = Severity::Allowed;
    let events = json!([
        {"type": "tool_start", "name": "f"},
        {"type": "tool_result", "name": "g", "ok": true, "summary": ""},
    ]);
    assert_eq!(findings(rules, events), []);
}

#[test]
fn a_warning_says_so() {
    let mut rules = Rules::CANONICAL;
    rules.severities.no_terminal = Severity::Warning;
    let mut checker = Checker::new(rules);
    let started: Event<'_> = serde_json::from_value(started()).unwrap();
    assert!(checker.check(&started).is_empty());
    let found = checker.finish();
    assert_eq!((found.len(), found[0].severity), (1, Severity::Warning));
    assert_eq!(&*found[0].detail, "no terminal");
}

#[test]
fn results_without_ids_pair_by_name() {
    let start = json!({"type": "tool_start", "name": "f"});
    let result = json!({"type": "tool_result", "name": "f", "ok": true, "summary": ""});
    let events = json!([started(), start, start, result, result, done()]);
    assert_eq!(findings(Rules::CANONICAL, events), []);
    let events = json!([started(), start, result, result, done()]);
    assert_eq!(findings(Rules::CANONICAL, events), [(Code::OrphanResult, 4)]);
}

#[test]
fn a_question_may_outlive_its_turn() {
    let mut rules = Rules::CANONICAL;
    rules.question_outlives_turn = true;
    let asked = json!({"type": "question", "question_id": "q", "questions": []});
    let answered = json!({"type": "question_resolved", "question_id": "q", "outcome": "answered"});
    let events = json!([started(), asked, done(), answered, answered]);
    assert_eq!(findings(rules, events), [(Code::LateEvent, 5)]);
}

#[test]
fn an_open_thing_is_named() {
    let mut checker = Checker::new(Rules::CANONICAL);
    let events = json!([started(), {"type": "tool_start", "name": "f", "call_id": "c9"}, done()]);
    let mut found = Vec::new();
    for event in events.as_array().unwrap() {
        let event: Event<'_> = serde_json::from_value(event.clone()).unwrap();
        found = checker.check(&event);
    }
    assert_eq!(&*found[0].detail, "call c9 is open");
}
