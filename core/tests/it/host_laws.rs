//! Laws of the fold over random lists of operations.

use quickcheck::{Arbitrary, Gen, TestResult, quickcheck};
use serde_json::{Value, json};
use turnwire::event::{Channel, Envelope, Event, SideChannel};
use turnwire::host::{Fold, FoldOptions, RowKind, Status, apply_ops, empty_view};

use crate::host_reference::Reference;
use crate::host_vectors::{AT, paint, rules};

/// Something that happens to a host.
#[derive(Clone, Debug)]
pub enum Step {
    Submit(u8),
    Event(Value),
    /// Over the channel that watches.
    Beside(Value),
    Reconnect,
    Eof,
    Stop,
    Earlier,
}

const TEXTS: [&str; 8] = ["", " ", "\n", "a", "é🎈", " b ", "line\n", "\\\t"];
const NAMES: [&str; 3] = ["ls", "exec", "read"];
const IDS: [&str; 4] = ["c1", "c2", "c3", "c4"];

fn pick<'a>(g: &mut Gen, list: &[&'a str]) -> &'a str {
    g.choose(list).copied().unwrap_or_default()
}

/// An event of those that `agent` has.
fn plain_event(g: &mut Gen) -> Value {
    let text = pick(g, &TEXTS);
    let name = pick(g, &NAMES);
    let ok = bool::arbitrary(g);
    match u8::arbitrary(g) % 16 {
        0..=4 => json!({"type": "text_delta", "text": text}),
        5..=6 => json!({"type": "reasoning_delta", "text": text}),
        7..=9 => json!({"type": "tool_start", "name": name}),
        10..=12 => json!({"type": "tool_result", "name": name, "ok": ok, "summary": text}),
        13 => json!({"type": "unknown", "name": "x", "raw": "{}"}),
        14 if ok => json!({"type": "error", "message": text}),
        14 => json!({"type": "done", "text": text}),
        _ if ok => json!({"type": "done"}),
        _ => json!({"type": "tool_start", "name": name}),
    }
}

/// Any event at all.
fn any_event(g: &mut Gen) -> Value {
    let (text, name, id) = (pick(g, &TEXTS), pick(g, &NAMES), pick(g, &IDS));
    let ok = bool::arbitrary(g);
    match u8::arbitrary(g) % 96 {
        0 => json!({"type": "turn_started", "turn_id": id, "user_text": text}),
        1 => json!({"type": "user_message", "text": text}),
        2 => json!({"type": "progress", "phase": text}),
        3 => json!({"type": "message", "role": "assistant", "text": text}),
        4 => json!({"type": "tool_call", "call_id": id, "name": name}),
        5 => json!({"type": "tool_args_delta", "call_id": id, "delta": text}),
        6 => json!({"type": "tool_args", "call_id": id, "name": name, "args": text}),
        7 => json!({"type": "tool_output", "call_id": id, "stream": "stdout", "text": text}),
        8 => json!({"type": "tool_start", "call_id": id, "name": name}),
        9 => json!({"type": "tool_result", "call_id": id, "name": name, "ok": ok, "summary": "",
                    "preview": text}),
        10 => json!({"type": "question", "question_id": id, "questions": []}),
        11 => json!({"type": "question_resolved", "question_id": id, "outcome": "answered"}),
        12 => json!({"type": "approval_required", "approval_id": id, "effects": []}),
        13 => json!({"type": "approval_resolved", "approval_id": id, "decision": "allow",
                     "by": "user"}),
        14 => json!({"type": "plan_proposed", "plan": text}),
        15 => json!({"type": "plan_resolved", "approved": ok, "edits": text}),
        16 => json!({"type": "subagent_started", "call_id": id}),
        17 => json!({"type": "subagent_text", "call_id": id, "text": text}),
        18 => json!({"type": "subagent_finished", "call_id": id, "ok": ok}),
        19 => json!({"type": "image_started", "image_id": id, "call_id": id, "prompt": text}),
        20 => json!({"type": "continuation", "provider": "p", "model": "m", "from_mode": "a",
                     "to_mode": "b", "reason_code": text}),
        21 => json!({"type": "error", "message": text, "recoverable": ok}),
        22 => json!({"type": "compacted", "phase": "start"}),
        23 => json!({"type": "text_delta", "text": "long\n".repeat(40_000)}),
        24 => json!({"type": "reasoning_delta", "text": "é".repeat(90_000)}),
        25 => json!({"type": "tool_result", "name": name, "ok": ok, "summary": "",
                     "preview": "\\".repeat(60_000)}),
        26 => json!({"type": "cancelled", "by": "user"}),
        27 => json!({"type": "resync", "reason": if ok { "epoch" } else { "overflow" },
                     "oldest_seq": 9}),
        28 => json!({"type": "notice", "code": text}),
        29 => json!({"type": "turn_started", "user_text": text}),
        30 => {
            json!({"type": "media", "call_id": id, "kind": "image", "mime_type": "m", "url": "u"})
        }
        _ => plain_event(g),
    }
}

impl Arbitrary for Step {
    fn arbitrary(g: &mut Gen) -> Self {
        match u8::arbitrary(g) % 24 {
            0..=1 => Self::Submit(u8::arbitrary(g)),
            2 => Self::Stop,
            3 => Self::Eof,
            4 => Self::Earlier,
            5 => Self::Beside(any_event(g)),
            6 => Self::Reconnect,
            _ => Self::Event(any_event(g)),
        }
    }
}

/// What `agent` can do, for the reference.
#[derive(Clone, Debug)]
struct Plain(Step);

impl Arbitrary for Plain {
    fn arbitrary(g: &mut Gen) -> Self {
        Self(match u8::arbitrary(g) % 24 {
            0..=1 => Step::Submit(u8::arbitrary(g)),
            2 => Step::Stop,
            3 => Step::Eof,
            _ => Step::Event(plain_event(g)),
        })
    }
}

const RULES: [&str; 9] =
    ["agent", "canonical", "fifo", "outlives", "muted", "respond", "run", "workspace", "chat"];

fn make(rules_at: u8, max_rows: usize, bridge: bool) -> (Fold, &'static str) {
    let name = RULES[usize::from(rules_at) % RULES.len()];
    let mut options = FoldOptions::new(rules(name));
    options.max_rows = max_rows;
    options.bridge = bridge;
    (Fold::new(options).unwrap(), name)
}

fn run(fold: &mut Fold, step: &Step, seq: Option<u64>) {
    match step {
        Step::Submit(n) => {
            let _ = fold.submit(&format!("prompt {n}"), None, AT);
        }
        Step::Event(event) | Step::Beside(event) => {
            let event: Event<'static> = serde_json::from_value(event.clone()).unwrap();
            let mut env = Envelope::new(event);
            env.seq = seq;
            if matches!(step, Step::Beside(_)) {
                env.channel = Channel::Events;
            }
            fold.apply(&env, AT);
        }
        Step::Reconnect => fold.reconnected(),
        Step::Eof => fold.end_of_input(Channel::Turn, AT),
        Step::Stop => fold.stop(AT),
        Step::Earlier => {
            fold.load_earlier();
        }
    }
}

fn rows(fold: &Fold) -> Value {
    json!(fold.rows())
}

/// What must hold of any host, and of one whose turn has ended.
fn check_legal(fold: &Fold, name: &str, max_rows: usize) -> Result<(), String> {
    let mut last = 0;
    for row in fold.rows().iter() {
        let id = row.id;
        if id <= last {
            return Err(format!("row {id} after {last}"));
        }
        last = id;
        if row.text.len() > 262_144 {
            return Err(format!("row {id} has {} bytes", row.text.len()));
        }
        if fold.is_busy() {
            continue;
        }
        // A second channel asks outside of turns.
        let rules = rules(name);
        let outlives = row.kind == RowKind::Question
            && (rules.question_outlives_turn || rules.side_channel == SideChannel::MutedWhileBusy);
        if row.status.is_some_and(Status::is_open) && !outlives {
            return Err(format!("row {id} is open after the end"));
        }
        if row.collapsed == Some(false) {
            return Err(format!("row {id} is not folded up"));
        }
        if row.card().is_some_and(|card| card.pending() > 0) && name != "agent" {
            return Err(format!("row {id} has running calls after the end"));
        }
    }
    if fold.rows().len() > max_rows { Err("too many rows".into()) } else { Ok(()) }
}

quickcheck! {
    fn any_order_leaves_the_host_legal(steps: Vec<Step>, which: u8, small: bool) -> TestResult {
        let max_rows = if small { 5 } else { 2048 };
        let (mut fold, name) = make(which, max_rows, false);
        for step in &steps {
            run(&mut fold, step, None);
            if let Err(fault) = check_legal(&fold, name, max_rows) {
                return TestResult::error(fault);
            }
        }
        let fits = fold.rows().iter().all(|row| row.body().len() <= 262_144);
        TestResult::from_bool(fits)
    }

    fn ops_give_the_view(steps: Vec<Step>, which: u8, small: bool, bridge: bool) -> bool {
        let (mut fold, _) = make(which, if small { 5 } else { 2048 }, bridge);
        let mut view = empty_view();
        for (n, step) in steps.iter().enumerate() {
            run(&mut fold, step, None);
            if n % 3 != 0 {
                view = paint(&mut fold, view);
                assert_eq!(view, fold.view());
            }
        }
        paint(&mut fold, view) == fold.view()
    }

    fn chunks_change_ops_but_no_rows(steps: Vec<Step>, which: u8, small: bool) -> bool {
        let max_rows = if small { 5 } else { 2048 };
        let ((mut one, _), (mut all, _)) = (make(which, max_rows, true), make(which, max_rows, true));
        let mut view = empty_view();
        for step in &steps {
            run(&mut one, step, None);
            view = paint(&mut one, view);
            run(&mut all, step, None);
        }
        let whole = paint(&mut all, empty_view());
        rows(&one) == rows(&all) && view["rows"] == whole["rows"] && one.session() == all.session()
    }

    fn one_op_a_row_and_drain(steps: Vec<Step>, which: u8) -> bool {
        let (mut fold, _) = make(which, 2048, false);
        let half = steps.len() / 2;
        let mut ops: Vec<Value> = Vec::new();
        for (n, step) in steps.iter().enumerate() {
            run(&mut fold, step, None);
            if n == half {
                fold.drain(&mut |_| {});
            }
        }
        fold.drain(&mut |op| ops.push(serde_json::to_value(op).unwrap()));
        let ids: Vec<_> = ops.iter()
            .filter(|op| matches!(op["op"].as_str(), Some("grow" | "update" | "patch")))
            .map(|op| op["row_id"].clone())
            .collect();
        ids.iter().enumerate().all(|(n, id)| !ids[..n].contains(id))
    }

    fn repeats_change_nothing(steps: Vec<Step>, which: u8) -> bool {
        // After a resync numbers count anew.
        let resync = |step: &Step| {
            matches!(step, Step::Event(e) | Step::Beside(e) if e["type"] == "resync")
        };
        let steps: Vec<_> = steps.into_iter().filter(|step| !resync(step)).collect();
        let (mut fold, _) = make(which, 2048, false);
        for (step, seq) in steps.iter().zip(1..) {
            run(&mut fold, step, Some(seq));
        }
        let before = (fold.view(), fold.session());
        for (step, seq) in steps.iter().zip(1..) {
            if matches!(step, Step::Event(_) | Step::Beside(_)) {
                run(&mut fold, step, Some(seq));
            }
        }
        before == (fold.view(), fold.session())
    }

    fn a_snapshot_loses_nothing(steps: Vec<Step>, which: u8, at: usize, small: bool) -> bool {
        let max_rows = if small { 5 } else { 2048 };
        let ((mut whole, name), (mut cut, _)) =
            (make(which, max_rows, false), make(which, max_rows, false));
        let at = at % (steps.len() + 1);
        for (n, step) in steps.iter().enumerate() {
            if n == at {
                cut = Fold::restore(&cut.snapshot(), rules(name)).unwrap();
            }
            run(&mut whole, step, None);
            run(&mut cut, step, None);
        }
        let painted = (paint(&mut whole, empty_view()), paint(&mut cut, empty_view()));
        painted.0 == painted.1 && whole.session() == cut.session() && whole.text() == cut.text()
    }

    fn the_fold_is_the_slow_one(steps: Vec<Plain>) -> bool {
        let (mut fold, _) = make(0, 1 << 20, false);
        let mut slow = Reference::default();
        for Plain(step) in &steps {
            run(&mut fold, step, None);
            match step {
                Step::Submit(n) => slow.submit(&format!("prompt {n}")),
                Step::Event(event) => slow.event(event),
                Step::Eof => slow.eof(),
                Step::Stop => slow.stop(),
                Step::Earlier | Step::Beside(_) | Step::Reconnect => {}
            }
        }
        let found: Vec<_> = fold.rows().iter()
            .map(|row| (row.kind.as_str().to_owned(), row.body().into_owned()))
            .collect();
        assert_eq!(found, slow.rows());
        true
    }

    fn a_small_ring_forgets_rows_but_no_session(steps: Vec<Plain>) -> bool {
        let ((mut small, _), (mut large, _)) = (make(0, 2, false), make(0, 2048, false));
        for Plain(step) in &steps {
            run(&mut small, step, None);
            run(&mut large, step, None);
        }
        small.session() == large.session() && small.text() == large.text()
    }

    fn no_bytes_make_restore_panic(at: usize, byte: u8, cut: bool) -> bool {
        let (mut fold, name) = make(1, 8, false);
        fold.submit("hi", None, AT).unwrap();
        for event in [json!({"type": "text_delta", "text": "a"}),
                      json!({"type": "tool_start", "name": "ls", "call_id": "c"})] {
            run(&mut fold, &Step::Event(event), None);
        }
        let mut bytes = fold.snapshot();
        let at = at % bytes.len();
        if cut { bytes.truncate(at) } else { bytes[at] = byte }
        match Fold::restore(&bytes, rules(name)) {
            Err(error) => error.code.as_str() == "bad_snapshot",
            Ok(mut fold) => {
                run(&mut fold, &Step::Event(json!({"type": "text_delta", "text": "b"})), None);
                run(&mut fold, &Step::Stop, None);
                fold.drain(&mut |_| {});
                true
            }
        }
    }
}

#[test]
fn a_session_survives_the_store() {
    let (mut fold, name) = make(0, 2048, false);
    let mut store: Vec<Value> = Vec::new();
    for step in [
        json!({"type": "text_delta", "text": "a"}),
        json!({"type": "tool_start", "name": "ls"}),
        json!({"type": "tool_result", "name": "ls", "ok": true, "summary": "ls · ✓ ok"}),
        json!({"type": "done", "cwd": "src"}),
    ] {
        let _ = fold.submit("hi", None, AT);
        run(&mut fold, &Step::Event(step), None);
        fold.drain(&mut |op| {
            let op = serde_json::to_value(op).unwrap();
            match (op["op"].as_str(), op["action"].as_str()) {
                (Some("store"), Some("append")) => store.push(op["row"].clone()),
                (Some("store"), _) => {
                    let old = store.iter_mut().find(|row| row["id"] == op["row"]["id"]).unwrap();
                    *old = op["row"].clone();
                }
                _ => {}
            }
        });
    }
    let session = fold.session();
    assert_eq!(session["messages"], json!(store));
    assert_eq!(session["cwd"], "src");
    let mut again = Fold::new(FoldOptions::new(rules(name))).unwrap();
    again.hydrate(&session).unwrap();
    assert_eq!(again.session(), session);
    let kinds: Vec<_> = again.rows().iter().map(|row| row.kind.as_str()).collect();
    assert_eq!(kinds, ["user", "tool_run", "assistant", "system"]);
}

#[test]
fn windows_go_back_by_512_and_return() {
    let messages: Vec<_> = (0..3000)
        .map(|n| json!({"id": format!("m{n}"), "role": "user", "text": n.to_string(), "at": n}))
        .chain([json!({"id": "bad", "role": "nobody", "text": ""})])
        .collect();
    let (mut fold, _) = make(0, 2048, false);
    fold.hydrate(&json!({"id": "s", "messages": messages, "updatedAt": 5})).unwrap();
    assert_eq!(fold.diagnostics().count(), 1);
    let first = |fold: &Fold| fold.rows().iter().next().unwrap().text.clone();
    assert_eq!((first(&fold), fold.rows().len()), ("952".into(), 2048));
    assert!(fold.load_earlier());
    assert_eq!((first(&fold), fold.rows().len()), ("440".into(), 2048));
    assert!(fold.load_earlier());
    assert_eq!(first(&fold), "0");
    assert!(!fold.load_earlier());
    fold.submit("new", None, AT).unwrap();
    assert_eq!(fold.rows().last().unwrap().text, "new");
    assert_eq!(first(&fold), "953");
    assert!(!fold.load_earlier(), "refused while busy");
    assert_eq!(paint(&mut fold, empty_view()), fold.view());
    assert_eq!(apply_ops(json!(7), &[]), json!(7));
}

#[test]
fn hydrated_cards_merge_and_roll_at_200() {
    let body = |n: usize| {
        let items: String = (1..=n).map(|i| format!("\n{i}\tok\tls\tls · ok\t")).collect();
        format!("toolrun\t1\t{n}/0/0{items}")
    };
    let message =
        |id: &str, text: &str| json!({"id": id, "role": "tool_run", "text": text, "at": 1});
    let messages = [
        message("a", &body(150)),
        message("b", &body(100)),
        message("c", "not a card"),
        message("d", &body(1)),
    ];
    let (mut fold, _) = make(0, 2048, false);
    fold.hydrate(&json!({"messages": messages})).unwrap();
    let found: Vec<_> = fold
        .rows()
        .iter()
        .map(|row| {
            (
                row.message_id.as_deref().unwrap().to_owned(),
                row.card().map_or(0, |c| c.items().len()),
            )
        })
        .collect();
    let expected = [("a", 200), ("b", 50), ("c", 0), ("d", 1)].map(|(id, n)| (id.to_owned(), n));
    assert_eq!(found, expected);
}

#[test]
fn text_goes_on_in_rows_of_one_segment_and_nothing_is_lost() {
    let (mut fold, _) = make(1, 2048, false);
    let piece = "12345678é\n";
    for _ in 0..100_000 {
        run(&mut fold, &Step::Event(json!({"type": "text_delta", "text": piece})), None);
    }
    let rows: Vec<_> = fold.rows().iter().cloned().collect();
    assert_eq!(rows.len(), 5);
    assert!(rows.iter().all(|row| row.segment == rows[0].segment && row.segment.is_some()));
    assert!(rows.iter().all(|row| row.text.len() <= 262_144 && row.text.ends_with('\n')));
    let text: String = rows.iter().map(|row| row.text.as_str()).collect();
    assert_eq!(text, piece.repeat(100_000));
    assert_eq!(fold.text(), text);
    let corrected = text.replace('1', "0");
    let message = json!({"type": "message", "role": "assistant", "text": corrected});
    run(&mut fold, &Step::Event(message), None);
    let text: String = fold.rows().iter().map(|row| row.text.as_str()).collect();
    assert_eq!(text, corrected);
}
