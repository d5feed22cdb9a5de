//! The host's vectors: steps and the rows they lead to, card bodies, history folds.

use serde_json::{Value, json};
use turnwire::event::{
    Channel, Envelope, Eof, Event, Orphan, Pairing, Rules, SideChannel, TraceEntry,
};
use turnwire::host::{Card, Failure, Fold, FoldOptions, apply_ops, empty_view};

pub const AT: u64 = 1_764_536_400_000;

/// The rules that vectors name.
pub fn rules(name: &str) -> Rules {
    let mut rules = Rules::CANONICAL;
    match name {
        "agent" => {
            rules.orphan = Orphan::NewCard;
            rules.authoritative = turnwire::event::Authoritative::OpenTail;
            rules.eof_turn = Eof::Agent;
            rules.keep_pending_on_end = true;
        }
        "fifo" => rules.pairing = Pairing::FifoOfName,
        "outlives" => rules.question_outlives_turn = true,
        "muted" => rules.side_channel = SideChannel::MutedWhileBusy,
        "canonical" => {}
        other => return *turnwire::dialect::Dialect::parse(other).unwrap().rules(),
    }
    rules
}

pub fn fold(name: &str) -> Fold {
    Fold::new(FoldOptions::new(rules(name))).unwrap()
}

pub fn envelope(step: &Value) -> Envelope<'static> {
    let event: Event<'static> = serde_json::from_value(step.clone()).unwrap();
    let text = |key: &str| step[key].as_str().map(|text| text.to_owned().into());
    let mut env = Envelope::new(event);
    env.seq = step["seq"].as_u64();
    env.epoch = text("epoch");
    env.ts_ms = step["ts_ms"].as_u64();
    env.turn_id = text("turn_id");
    env.session_id = text("session_id");
    env.channel = step["channel"].as_str().map_or(Channel::Turn, |c| Channel::parse(c).unwrap());
    if matches!(env.event, Event::SubagentStarted(_)) {
        env.session_id = None;
    }
    env
}

fn step(fold: &mut Fold, step: &Value, name: &str) {
    let text = |key: &str| step[key].as_str().unwrap_or_default();
    match step["do"].as_str() {
        None => fold.apply(&envelope(step), AT),
        Some("submit") => {
            let answer = fold.submit(text("prompt"), step["client_id"].as_str(), AT);
            let code = answer.err().map(|error| error.code.as_str());
            assert_eq!(code, step["refused"].as_str(), "{name}");
        }
        Some("eof") => fold.end_of_input(Channel::parse(text("channel")).unwrap(), AT),
        Some("stop") => fold.stop(AT),
        Some("detach") => fold.detach(),
        Some("acknowledge") => fold.acknowledge(step["turn_id"].as_str()),
        Some("refuse") => {
            let status = u16::try_from(step["status"].as_u64().unwrap()).unwrap();
            fold.refuse(&Failure::new(text("message")).with_status(status), AT);
        }
        Some("json") => {
            let trace: Vec<TraceEntry<'_>> = serde_json::from_value(step["trace"].clone()).unwrap();
            fold.answer_json(text("text"), &trace, step["cwd"].as_str(), AT);
        }
        Some("text") => assert_eq!(fold.text(), text("is"), "{name}"),
        Some("rows") => check_rows(fold, &step["are"], name),
        Some("state") => {
            let value = fold.state().get(text("key")).cloned().unwrap_or(Value::Null);
            assert_eq!(value, step["is"], "{name}");
        }
        Some(other) => panic!("no step {other}"),
    }
}

/// Each key that a vector names must be there with that value.
fn check_rows(fold: &Fold, expected: &Value, name: &str) {
    let rows: Vec<Value> = fold.rows().iter().map(|row| json!(row)).collect();
    let expected = expected.as_array().unwrap();
    let kinds = |rows: &[Value]| rows.iter().map(|r| r["kind"].clone()).collect::<Vec<_>>();
    assert_eq!(kinds(&rows), kinds(expected), "{name}: {rows:#?}");
    for (row, expected) in rows.iter().zip(expected) {
        for (key, value) in expected.as_object().unwrap() {
            assert_eq!(&row[key], value, "{name}: {key} of {row:#}");
        }
    }
}

/// Drains the fold into a painter's view.
pub fn paint(fold: &mut Fold, view: Value) -> Value {
    let mut ops = Vec::new();
    fold.drain(&mut |op| ops.push(serde_json::to_value(op).unwrap()));
    apply_ops(view, &ops)
}

#[test]
fn steps_lead_to_rows() {
    let file: Value = serde_json::from_str(include_str!("../vectors/fold.json")).unwrap();
    let cases = file["cases"].as_array().unwrap();
    assert!(cases.len() > 80);
    for case in cases {
        let name = case["name"].as_str().unwrap();
        let rules_name = case["rules"].as_str().unwrap();
        let mut fold = fold(rules_name);
        let mut view = empty_view();
        for s in case["steps"].as_array().unwrap() {
            step(&mut fold, s, name);
            view = paint(&mut fold, view);
            assert_eq!(view, fold.view(), "{name}");
            fold = again(fold, rules_name);
        }
        check_rows(&fold, &case["rows"], name);
        check_rest(&mut fold, case, name);
        whole(case, name);
    }
}

/// The same fold out of its snapshot, with the diagnostics it had.
fn again(mut fold: Fold, rules_name: &str) -> Fold {
    let mut restored = Fold::restore(&fold.snapshot(), rules(rules_name)).unwrap();
    restored.diagnostics_mut().absorb(fold.diagnostics_mut());
    restored
}

/// All steps before one drain: the same rows and the same view.
fn whole(case: &Value, name: &str) {
    let mut fold = fold(case["rules"].as_str().unwrap());
    for s in case["steps"].as_array().unwrap() {
        step(&mut fold, s, name);
    }
    check_rows(&fold, &case["rows"], name);
    assert_eq!(paint(&mut fold, empty_view()), fold.view(), "{name}");
}

fn check_rest(fold: &mut Fold, case: &Value, name: &str) {
    if let Some(session) = case.get("session") {
        let rows: Vec<_> = fold.messages().map(|m| json!([m.role.as_str(), m.text()])).collect();
        assert_eq!(&json!(rows), session, "{name}");
    }
    if let Some(lifecycle) = case.get("lifecycle") {
        assert_eq!(fold.lifecycle().as_str(), lifecycle, "{name}");
    }
    if let Some(outcome) = case.get("outcome") {
        assert_eq!(&json!(fold.outcome()), outcome, "{name}");
    }
    if let Some(cwd) = case.get("cwd") {
        assert_eq!(&json!(fold.cwd()), cwd, "{name}");
    }
    if let Some(codes) = case.get("diagnostics") {
        let found: Vec<_> = fold.diagnostics().map(|d| d.code.as_str()).collect();
        assert_eq!(&json!(found), codes, "{name}");
    }
    let ignored = fold.ignored();
    for (key, count) in case.get("ignored").and_then(Value::as_object).into_iter().flatten() {
        let found = match key.as_str() {
            "late" => ignored.late,
            "muted" => ignored.muted,
            "unknown" => ignored.unknown,
            other => panic!("no counter {other}"),
        };
        assert_eq!(json!(found), *count, "{name}: {key}");
    }
}

#[test]
fn card_bodies_are_read_and_written_to_the_byte() {
    let file: Value = serde_json::from_str(include_str!("../vectors/card.json")).unwrap();
    for case in file["decode"].as_array().unwrap() {
        let body = case["body"].as_str().unwrap();
        let card = Card::decode(body);
        assert_eq!(card.is_none(), case["items"].is_null(), "{body:?}");
        let Some(card) = card else { continue };
        assert_eq!(json!([card.ok(), card.fail(), card.pending()]), case["counts"], "{body:?}");
        for (item, expected) in card.items().iter().zip(case["items"].as_array().unwrap()) {
            let found = json!({"id": item.id, "status": item.status.as_str(), "name": item.name,
                "brief": item.brief, "detail": item.detail});
            assert_eq!(&found, expected, "{body:?}");
        }
        assert_eq!(card.items().len(), case["items"].as_array().unwrap().len(), "{body:?}");
        assert_eq!(Card::decode(&card.encode()).map(|c| c.encode()), Some(card.encode()));
    }
    for case in file["brief"].as_array().unwrap() {
        let mut card = Card::default();
        let id = card.start(case["name"].as_str().unwrap(), None).unwrap();
        card.finish(id, case["ok"] == true, case["summary"].as_str().unwrap(), None);
        assert_eq!(card.items()[0].brief, case["is"].as_str().unwrap());
    }
}

#[test]
fn history_folds_as_the_vectors_say() {
    let file: Value = serde_json::from_str(include_str!("../vectors/history.json")).unwrap();
    for case in file["cases"].as_array().unwrap() {
        let times = case["times"].as_u64().unwrap_or(1);
        let list = case.get("repeat").unwrap_or(&case["messages"]).as_array().unwrap();
        let mut messages = Vec::new();
        for n in 0..times {
            for (place, m) in list.iter().enumerate() {
                messages.push(json!({"id": format!("m{n}-{place}"), "role": m[0], "text": m[1]}));
            }
        }
        let mut fold = fold("agent");
        fold.hydrate(&json!({"id": "s", "messages": messages, "updatedAt": 1})).unwrap();
        let max = case["max_chars"].as_u64().map_or(usize::MAX, |max| max.try_into().unwrap());
        let text = fold.history_within(case["prompt"].as_str().unwrap(), max);
        match case.get("is") {
            Some(is) => assert_eq!(&json!(text), is, "{}", case["name"]),
            None => assert_eq!(json!(text.lines().count()), case["lines"], "{}", case["name"]),
        }
    }
}

#[test]
fn load_earlier_goes_back_by_512_messages_whatever_rows_left_the_ring() {
    let mut fold = fold("agent");
    for turn in 0..1000 {
        fold.submit(&format!("{turn}"), None, AT).unwrap();
        for event in [json!({"type": "text_delta", "text": "Yes"}), json!({"type": "done"})] {
            fold.apply(&envelope(&event), AT);
        }
        fold.drain(&mut |_| {});
    }
    // Three messages a turn, of which the ring has the newest 2,048.
    assert_eq!(fold.view()["earlier"], 3000 - 2048);
    assert!(fold.load_earlier());
    assert_eq!(fold.view()["earlier"], 3000 - 2048 - 512);
    assert!(fold.rows().iter().next().is_some_and(|row| row.text.ends_with("finished")));
}

#[test]
fn a_snapshot_while_a_turn_is_told_anew_keeps_what_it_said() {
    let mut rules = rules("fifo");
    rules.resync = turnwire::event::OnResync::Turn;
    let mut fold = Fold::new(FoldOptions::new(rules)).unwrap();
    for event in [
        json!({"type": "tool_result", "name": "read", "ok": true, "summary": "read"}),
        json!({"type": "resync", "reason": "epoch"}),
        json!({"type": "text_delta", "text": "Yes"}),
    ] {
        fold.apply(&envelope(&event), AT);
    }
    let again = Fold::restore(&fold.snapshot(), rules).unwrap();
    assert_eq!((again.session(), again.view()), (fold.session(), fold.view()));
    let kept = &fold.session()["messages"][0];
    assert_eq!(kept["text"], "toolrun\t1\t1/0/0\n1\tok\tread\tread\t");
}
