//! Laws over random legal turns: through each protocol and back the same rows; through two of them
//! a stream in order.

use std::collections::BTreeSet;

use quickcheck::{Arbitrary, Gen, QuickCheck};
use serde_json::{Value, json};
use turnwire::dialect::{Carriage, Decoder, Dialect, Encoder, Stamp};
use turnwire::event::{
    Channel, Envelope, Event, EventKind, Notice, OutputStream, Severity, ToolStart, TurnStarted,
};
use turnwire::host::{Fold, FoldOptions};
use turnwire::time::Millis;
use turnwire::turn::{Checker, Emitter, EmitterOptions, Failure, Finish, Output, ToolOutcome};
use turnwire::{Host, HostOptions, Transcoder};

use crate::ends_support::WALL;

const NOW: Millis = Millis(0);

/// One callback: which, and a number that its ids and texts are made of.
#[derive(Clone, Copy, Debug)]
struct Call {
    verb: u8,
    n: u8,
}

impl Arbitrary for Call {
    fn arbitrary(g: &mut Gen) -> Self {
        Self { verb: u8::arbitrary(g) % 32, n: u8::arbitrary(g) }
    }

    fn shrink(&self) -> Box<dyn Iterator<Item = Self>> {
        let verb = self.verb;
        Box::new(self.n.shrink().map(move |n| Self { verb, n }))
    }
}

/// A turn: its callbacks, and how it ends.
#[derive(Clone, Debug)]
struct Script {
    calls: Vec<Call>,
    ending: u8,
}

impl Arbitrary for Script {
    fn arbitrary(g: &mut Gen) -> Self {
        Self { calls: Vec::arbitrary(g), ending: u8::arbitrary(g) % 6 }
    }

    fn shrink(&self) -> Box<dyn Iterator<Item = Self>> {
        let ending = self.ending;
        Box::new(self.calls.shrink().map(move |calls| Self { calls, ending }))
    }
}

fn other(verb: u8, n: u8) -> Option<Event<'static>> {
    let id = n % 3;
    let json = match verb {
        12 => json!({"type": "question", "question_id": format!("q{id}"),
            "questions": [{"id": "q1", "text": "Which?",
                "options": [{"id": "a", "label": "a"}, {"id": "b", "label": "b"}]}]}),
        13 => json!({"type": "question_resolved", "question_id": format!("q{id}"),
            "outcome": "answered", "answers": [{"id": "q1", "selected": ["a"]}]}),
        14 => json!({"type": "approval_required", "approval_id": format!("a{id}"),
            "effects": [{"kind": "write", "text": "Write a.md", "target": "a.md"}]}),
        15 => json!({"type": "approval_resolved", "approval_id": format!("a{id}"),
            "decision": if n & 4 == 0 { "allow" } else { "deny" }, "by": "user"}),
        16 => json!({"type": "plan_proposed", "plan": "First this."}),
        17 => json!({"type": "plan_resolved", "approved": n.is_multiple_of(2)}),
        18 => json!({"type": "subagent_started", "call_id": format!("s{id}"), "agent_id": "x",
            "name": "helper", "task": "Look."}),
        19 => json!({"type": "subagent_text", "call_id": format!("s{id}"), "text": "Found."}),
        20 => json!({"type": "subagent_finished", "call_id": format!("s{id}"),
            "ok": n.is_multiple_of(2), "summary": "Done."}),
        21 => json!({"type": "image_started", "image_id": format!("i{id}"), "call_id": "t0",
            "prompt": "A cat"}),
        22 => json!({"type": "image_finished", "image_id": format!("i{id}"), "call_id": "t0",
            "ok": true, "url": "u"}),
        23 => json!({"type": "media", "call_id": "t0", "kind": "image", "mime_type": "image/png",
            "url": format!("u{id}")}),
        24 => json!({"type": "notice", "code": "n", "detail": "Hm."}),
        25 => json!({"type": "fallback", "from": "stateful", "to": "replay", "reason": "moved"}),
        26 => json!({"type": "continuation", "provider": "p", "model": "m",
            "from_mode": "responses", "to_mode": "replay", "reason_code": "model_changed"}),
        27 => json!({"type": "compacted", "phase": "end", "reason": "full"}),
        28 => json!({"type": "error", "message": "Trying again.", "recoverable": true}),
        29 => json!({"type": "title", "title": "A title"}),
        30 => json!({"type": "todo", "items": [{"text": "one", "id": "1"}]}),
        _ => return None,
    };
    Some(serde_json::from_value(json).unwrap())
}

fn opens(event: &Event<'_>) -> Option<String> {
    Some(match event {
        Event::Question(e) => e.question_id.to_string(),
        Event::ApprovalRequired(e) => e.approval_id.to_string(),
        Event::SubagentStarted(e) => e.call_id.to_string(),
        Event::ImageStarted(e) => e.image_id.to_string(),
        _ => return None,
    })
}

/// The events of a turn for a dialect. What an emitter refuses is left out.
fn events(dialect: Dialect, script: &Script) -> Vec<Event<'static>> {
    let mut options = EmitterOptions::default();
    options.rules = *dialect.rules();
    let mut turn = Emitter::new(options).unwrap();
    let mut events = Vec::new();
    let mut opened = BTreeSet::new();
    let sink = &mut |event: &Event<'_>| events.push(event.clone().into_owned());
    let mut start = TurnStarted::new();
    start.user_text = Some("Hello?".into());
    start.message_id = Some("m1".into());
    start.user_message_id = Some("u1".into());
    turn.start(start, sink).unwrap();
    for call in &script.calls {
        let n = call.n;
        let id = ["t0", "t1", "t2"][usize::from(n % 3)];
        let name = ["ls", "read"][usize::from(n % 3 % 2)];
        let text = ["a", " ", "那😀", "line\n", "\"\\"][usize::from(n % 5)];
        let _ = match call.verb {
            0..=2 => turn.text(text, sink),
            3 => turn.step(sink),
            4 => turn.reasoning(text, sink),
            5 => turn.tool_call(id, name, sink),
            6 => turn.tool_args_delta(id, "{\"p\":", sink),
            7 => turn.tool_args(id, "{\"p\":1}", sink),
            8 | 9 => {
                let mut start = ToolStart::new(name);
                start.call_id = Some(id.into());
                turn.tool_start(start, sink)
            }
            10 => turn.tool_output(id, OutputStream::Stdout, text, sink),
            11 => {
                let mut outcome = ToolOutcome::new(name, Output::Text("first\nsecond"));
                outcome.call_id = Some(id);
                outcome.ok = Some(n & 64 == 0);
                turn.tool_result(outcome, sink)
            }
            verb => match other(verb, n) {
                // An id is used once: not every dialect says when what it names was settled.
                Some(event) if opens(&event).is_some_and(|id| !opened.insert(id)) => Ok(()),
                Some(event) => turn.emit(&event, NOW, sink),
                None => Ok(()),
            },
        };
    }
    match script.ending {
        0..=3 => turn.finish(Finish::default(), sink).unwrap(),
        4 => turn.fail(Failure::new("Broken."), sink).unwrap(),
        _ => turn.cancel("user", sink).unwrap(),
    }
    events
}

/// The bytes of a stream, and what of its events was said.
fn encode(dialect: Dialect, events: &[Event<'static>]) -> (Vec<u8>, Vec<Event<'static>>) {
    let mut encoder = Encoder::new(dialect, None).unwrap();
    let (mut out, mut all) = (Vec::new(), Vec::new());
    for (seq, event) in (1_u64..).zip(events) {
        let seq = encoder.numbers_events().then_some(seq);
        let carriage = encoder.encode(&Stamp::new(seq, None, Some(WALL)), event, &mut out);
        all.extend(said(dialect, carriage, event));
    }
    (out, all)
}

fn bytes(dialect: Dialect, events: &[Event<'static>]) -> Vec<u8> {
    encode(dialect, events).0
}

fn fold(dialect: Dialect) -> Fold {
    let mut fold = Fold::new(FoldOptions::new(*dialect.rules())).unwrap();
    fold.submit("Hello?", None, WALL).unwrap();
    fold
}

fn through(dialect: Dialect, bytes: &[u8], size: usize) -> Fold {
    let mut fold = fold(dialect);
    let mut decoder = Decoder::new(dialect, None).unwrap();
    for chunk in bytes.chunks(size) {
        decoder.feed(chunk, &mut |envelope| fold.apply(envelope, WALL));
    }
    decoder.finish(&mut |envelope| fold.apply(envelope, WALL));
    fold.end_of_input(dialect.turn_channel(), WALL);
    fold
}

/// What a reader sees of each row, as far as every dialect that has the row can say it.
fn rows(fold: &Fold) -> Vec<Value> {
    let row = |row: Value| {
        let Some(items) = row["card"]["items"].as_array() else {
            return json!([row["kind"], row["text"], row["status"], row["answers"]]);
        };
        let items: Vec<_> = items.iter().map(|i| json!([i["name"], i["status"]])).collect();
        json!([row["kind"], items])
    };
    fold.rows().iter().map(|r| row(json!(r))).collect()
}

/// The event as its dialect said it; `None` for what it had no word for.
fn said(dialect: Dialect, carriage: Carriage, event: &Event<'static>) -> Option<Event<'static>> {
    match (dialect.name(), event) {
        // Of reasoning only that there is some (`chat` 2).
        ("chat", Event::ReasoningDelta(_)) => None,
        ("respond", Event::Compacted(compacted)) => {
            let mut notice = Notice::new("compacted");
            notice.detail = compacted.reason.clone();
            Some(notice.into())
        }
        // A stopped turn has no word: its stream ends (`respond` 2).
        ("respond", Event::Done(done)) if done.status.is_some() => None,
        // A call is there when it runs.
        ("run" | "chat", Event::ToolCall(_) | Event::ToolArgs(_)) => None,
        // Text of two steps is one text where no step is named.
        ("agent" | "respond" | "chat", Event::TextDelta(delta)) => {
            let mut delta = delta.clone();
            delta.step = None;
            Some(delta.into())
        }
        // What it says is what the deltas said.
        (_, Event::Message(_)) if carriage == Carriage::Derived => None,
        _ => (carriage != Carriage::Dropped).then(|| event.clone()),
    }
}

#[test]
fn through_each_protocol_and_back_the_rows_are_the_same() {
    fn law(script: Script, at: u8, size: u8) -> Result<(), String> {
        let dialect = Dialect::ALL[usize::from(at) % Dialect::ALL.len()];
        let events = events(dialect, &script);
        let mut direct = fold(dialect);
        let (wire, said) = encode(dialect, &events);
        for event in said {
            let mut envelope = Envelope::new(event);
            envelope.channel = dialect.turn_channel();
            direct.apply(&envelope, WALL);
        }
        direct.end_of_input(dialect.turn_channel(), WALL);
        let read = through(dialect, &wire, usize::from(size) + 1);
        let (left, right) = (rows(&direct), rows(&read));
        if left == right && direct.text() == read.text() {
            return Ok(());
        }
        Err(format!(
            "{}\n{events:#?}\n{}\n{left:#?}\nbut\n{right:#?}",
            dialect.name(),
            String::from_utf8_lossy(&wire)
        ))
    }
    QuickCheck::new().tests(500).quickcheck(law as fn(Script, u8, u8) -> Result<(), String>);
}

/// The events that come out of a transcoder, judged by the rules of its target.
fn judge(target: Dialect, bytes: &[u8]) -> (Vec<Event<'static>>, Vec<String>) {
    let mut decoder = Decoder::new(target, None).unwrap();
    let (mut events, mut bad) = (Vec::new(), Vec::new());
    let mut checker = Checker::new(*target.rules());
    let mut take = |envelope: &Envelope<'_>| {
        events.push(envelope.event.clone().into_owned());
        let found = checker.check(&envelope.event);
        bad.extend(found.into_iter().filter(|f| f.severity == Severity::Error));
    };
    decoder.feed(bytes, &mut take);
    decoder.finish(&mut take);
    let bad = bad.iter().map(|finding| format!("{finding:?}")).collect();
    (events, bad)
}

#[test]
fn any_protocol_becomes_any_other_in_order_wherever_it_is_cut() {
    fn law(script: Script, pair: u8, cut: u16, size: u8) -> Result<(), String> {
        let dialects = Dialect::ALL;
        let source = dialects[usize::from(pair) % dialects.len()];
        let target = dialects[usize::from(pair) / dialects.len() % dialects.len()];
        let wire = bytes(source, &events(source, &script));
        let end = match cut % 3 {
            0 => usize::from(cut) % (wire.len() + 1),
            _ => wire.len(),
        };
        let run = |size: usize| {
            let mut transcoder = Transcoder::new(source, target).unwrap();
            let mut out = Vec::new();
            for chunk in wire[..end].chunks(size) {
                transcoder.feed(chunk, &mut out);
            }
            transcoder.finish(&mut out);
            out
        };
        let whole = run(wire.len().max(1));
        let (found, bad) = judge(target, &whole);
        let ends = found.iter().filter(|event| event.is_terminal()).count();
        // `respond` has no word for a stop.
        let stopped = target.name() == "respond" && script.ending == 5;
        let ended = found.is_empty() || ends > 0 || stopped;
        if bad.is_empty() && ended && run(usize::from(size) + 1) == whole {
            return Ok(());
        }
        let out = String::from_utf8_lossy(&whole).into_owned();
        Err(format!("{} to {}: {bad:?}\n{out}", source.name(), target.name()))
    }
    QuickCheck::new().tests(600).quickcheck(law as fn(Script, u8, u16, u8) -> Result<(), String>);
}

#[test]
fn a_turn_that_is_told_twice_is_shown_once() {
    fn law(script: Script, at: u8, again: bool) -> Result<(), String> {
        let dialect = Dialect::ALL[usize::from(at) % Dialect::ALL.len()];
        let wire = bytes(dialect, &events(dialect, &script));
        let mut host = Host::new(dialect, HostOptions::default()).unwrap();
        host.submit(NOW, "Hello?", None, &[], &mut |_| {}).unwrap();
        let channel = Some(dialect.turn_channel());
        host.feed(NOW, &wire, channel, &mut |_| {}).unwrap();
        if host.fold().is_busy() {
            // The turn was stopped, which `respond` has no word for.
            host.finish(NOW, channel, &mut |_| {}).unwrap();
        }
        let shown = rows(host.fold());
        if again {
            // Over another connection.
            host.finish(NOW, channel, &mut |_| {}).unwrap();
            if dialect.turn_channel() == Channel::Events {
                host.response(NOW, 200, "text/event-stream", channel, None, &mut |_| {}).unwrap();
            }
        }
        let before = rows(host.fold());
        host.feed(NOW, &wire, channel, &mut |_| {}).unwrap();
        let after = rows(host.fold());
        if shown == before && before == after {
            return Ok(());
        }
        let out = String::from_utf8_lossy(&wire).into_owned();
        Err(format!("{}\n{out}\n{shown:#?}\n{before:#?}\n{after:#?}", dialect.name()))
    }
    QuickCheck::new().tests(500).quickcheck(law as fn(Script, u8, bool) -> Result<(), String>);
}

#[test]
fn what_the_target_cannot_say_is_counted() {
    let mut transcoder = Transcoder::new(Dialect::RESPOND, Dialect::AGENT).unwrap();
    let mut out = Vec::new();
    let chunks = concat!(
        "data: {\"type\":\"todo_update\",\"toolCallId\":\"t\",\"todos\":[],\"done\":false}\n\n",
        "data: {\"type\":\"who_knows\",\"done\":false}\n\n",
    );
    transcoder.feed(chunks.as_bytes(), &mut out);
    let losses = transcoder.losses();
    assert!(losses.contains(&(EventKind::Todo, 1)), "{losses:?}");
    assert!(losses.contains(&(EventKind::Unknown, 1)), "{losses:?}");
}
