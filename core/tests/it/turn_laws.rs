//! Laws that hold for any order of callbacks.

use quickcheck::{Arbitrary, Gen, QuickCheck};
use turnwire::event::{
    Answer, Decision, Event, Message, OutputStream, QuestionItem, Role, Rules, SubagentText,
    TextDelta, ToolArgs, ToolStart, TurnStarted,
};
use turnwire::time::Millis;
use turnwire::turn::{
    ApprovalOptions, Checker, Emitter, EmitterOptions, Failure, Finding, Finish, Output, Settled,
    ToolOutcome,
};

/// One callback: which, and a small number that its ids and texts are made of.
#[derive(Clone, Copy, Debug)]
struct Op {
    verb: u8,
    n: u8,
}

/// Verbs before these do not end the turn.
const ENDINGS: u8 = 34;
const VERBS: u8 = 38;

/// A moment, where any does.
const NOW: Millis = Millis(0);

impl Arbitrary for Op {
    fn arbitrary(g: &mut Gen) -> Self {
        // An ending is rare, or most turns would be short.
        let verbs = if u8::arbitrary(g) < 8 { VERBS } else { ENDINGS };
        Self { verb: u8::arbitrary(g) % verbs, n: u8::arbitrary(g) }
    }

    fn shrink(&self) -> Box<dyn Iterator<Item = Self>> {
        let verb = self.verb;
        Box::new(self.n.shrink().map(move |n| Self { verb, n }))
    }
}

fn event(json: &str, n: u8) -> Event<'static> {
    serde_json::from_str(&json.replace('#', &(n % 3).to_string())).unwrap()
}

/// Makes the callback; whether it was refused.
fn make(op: Op, turn: &mut Emitter, sink: &mut dyn FnMut(&Event<'_>)) -> bool {
    let id = ["a", "b", "c", "", "d"][usize::from(op.n % 5)];
    let name = ["f", "g"][usize::from(op.n / 5 % 2)];
    let text = ["", "x", " ", "那😀"][usize::from(op.n % 4)];
    let now = Millis(u64::from(op.n));
    let with_id = (op.n & 64 != 0).then_some(id);
    let result = match op.verb {
        0 => turn.start(TurnStarted::default(), sink),
        1 => turn.step(sink),
        2 => turn.step_usage(if op.n.is_multiple_of(2) { r#"{"n":1}"# } else { "1" }),
        3 => turn.reasoning(text, sink),
        4 | 5 => turn.text(text, sink),
        6 => turn.tool_call(id, name, sink),
        7 => turn.tool_args_delta(id, text, sink),
        8 => turn.tool_args(id, text, sink),
        9 | 10 => {
            let mut start = ToolStart::new(name);
            start.call_id = with_id.map(Into::into);
            start.args = (op.n & 32 != 0).then_some(text.into());
            turn.tool_start(start, sink)
        }
        11 => turn.tool_output(id, OutputStream::Stdout, text, sink),
        12 | 13 => {
            let mut outcome = ToolOutcome::new(name, Output::Text(text));
            outcome.call_id = with_id;
            turn.tool_result(outcome, sink)
        }
        14 => turn.emit(
            &event(r##"{"type":"question","question_id":"#","questions":[]}"##, op.n),
            now,
            sink,
        ),
        15 => turn.emit(
            &event(
                r##"{"type":"question_resolved","question_id":"#","outcome":"answered"}"##,
                op.n,
            ),
            now,
            sink,
        ),
        16 => turn.emit(
            &event(r##"{"type":"approval_required","approval_id":"#","effects":[]}"##, op.n),
            now,
            sink,
        ),
        17 => turn.emit(
            &event(
                r##"{"type":"approval_resolved","approval_id":"#","decision":"deny","by":"u"}"##,
                op.n,
            ),
            now,
            sink,
        ),
        18 => turn.emit(&event(r#"{"type":"plan_proposed","plan":"p"}"#, 0), now, sink),
        19 => turn.emit(&event(r#"{"type":"plan_resolved","approved":true}"#, 0), now, sink),
        20 => turn.emit(&event(r##"{"type":"subagent_started","call_id":"#"}"##, op.n), now, sink),
        21 => turn.emit(&SubagentText::new(id, text).into(), now, sink),
        22 => turn.emit(
            &event(r##"{"type":"subagent_finished","call_id":"#","ok":true}"##, op.n),
            now,
            sink,
        ),
        23 => turn.emit(
            &event(r##"{"type":"image_finished","image_id":"#","call_id":"1","ok":true}"##, op.n),
            now,
            sink,
        ),
        24 => turn.emit(&ToolArgs::new(id, name, text).into(), now, sink),
        25 => {
            let mut delta = TextDelta::new(text);
            delta.step = Some(u64::from(op.n % 8));
            turn.emit(&delta.into(), now, sink)
        }
        26 => turn.emit(&event(r#"{"type":"title","title":"t"}"#, 0), now, sink),
        27 => {
            let items = [QuestionItem::new("1", "?")];
            turn.ask(id, &items, u64::from(op.n % 64), now, sink)
        }
        28 => turn.answer(id, &[Answer::new(if op.n & 32 == 0 { "1" } else { "2" })], sink),
        29 => {
            let mut options = ApprovalOptions::default();
            options.timeout_ms = (op.n & 32 == 0).then_some(u64::from(op.n % 64));
            turn.require_approval(id, &[], options, now, sink)
        }
        30 => {
            let decision = if op.n & 32 == 0 { Decision::Allow } else { Decision::Deny };
            turn.resolve_approval(id, decision, "u", sink)
        }
        31 => turn.propose_plan(text, sink),
        32 => turn.resolve_plan(op.n & 32 == 0, None, Some(text), sink),
        33 => {
            turn.handle_timeout(now, sink);
            Ok(())
        }
        34 => {
            let mut finish = Finish::default();
            finish.usage = (op.n.is_multiple_of(2)).then_some("{");
            turn.finish(finish, sink)
        }
        35 => turn.fail(Failure::new(text), sink),
        36 => turn.shutdown(sink),
        _ => turn.cancel("user", sink),
    };
    result.is_err()
}

fn emitter() -> Emitter {
    Emitter::new(EmitterOptions::default()).unwrap()
}

/// Everything that a turn of these callbacks gives, with a finish at the end.
fn run(ops: &[Op]) -> Vec<Event<'static>> {
    let mut turn = emitter();
    let mut events = Vec::new();
    let sink = &mut |event: &Event<'_>| events.push(event.clone().into_owned());
    for op in ops {
        make(*op, &mut turn, sink);
    }
    turn.finish(Finish::default(), sink).unwrap();
    events
}

fn check(events: &[Event<'_>]) -> Vec<Finding> {
    let mut checker = Checker::new(Rules::CANONICAL);
    let mut findings: Vec<_> = events.iter().flat_map(|event| checker.check(event)).collect();
    findings.extend(checker.finish());
    findings
}

#[test]
fn any_callbacks_give_a_stream_in_order() {
    fn law(ops: Vec<Op>) -> bool {
        check(&run(&ops)).is_empty()
    }
    QuickCheck::new().tests(1000).quickcheck(law as fn(Vec<Op>) -> bool);
}

#[test]
fn there_is_one_terminal_and_one_trailer() {
    fn law(ops: Vec<Op>) -> bool {
        let events = run(&ops);
        let ends: Vec<_> = events.iter().filter(|event| event.is_terminal()).collect();
        let last_are_ends = events.iter().rev().take(ends.len()).all(Event::is_terminal);
        last_are_ends
            && match &ends[..] {
                [Event::Done(done)] => done.status.is_none(),
                [Event::Error(_) | Event::Cancelled(_), Event::Done(done)] => done.status.is_some(),
                _ => false,
            }
    }
    QuickCheck::new().tests(1000).quickcheck(law as fn(Vec<Op>) -> bool);
}

#[test]
fn every_delta_is_covered_by_the_next_message_of_its_step() {
    fn law(ops: Vec<Op>) -> bool {
        let mut gathered = String::new();
        let mut step = None;
        for event in run(&ops) {
            match event {
                Event::TextDelta(delta) => {
                    if !gathered.is_empty() && delta.step != step {
                        return false;
                    }
                    step = delta.step;
                    gathered.push_str(&delta.text);
                }
                Event::Message(message) => {
                    if message.text != gathered || message.step != step {
                        return false;
                    }
                    gathered.clear();
                }
                _ => {}
            }
        }
        gathered.is_empty()
    }
    QuickCheck::new().tests(1000).quickcheck(law as fn(Vec<Op>) -> bool);
}

#[test]
fn what_is_opened_is_settled_once() {
    fn law(ops: Vec<Op>) -> bool {
        let mut open: Vec<String> = Vec::new();
        for event in run(&ops) {
            match event {
                Event::ToolCall(call) => open.push(call.call_id.into_owned()),
                Event::ToolStart(start) => {
                    let id = start.call_id.unwrap().into_owned();
                    if !open.contains(&id) {
                        open.push(id);
                    }
                }
                Event::ToolResult(result) => {
                    let id = result.call_id.unwrap();
                    let Some(index) = open.iter().position(|open| *open == id) else {
                        return false;
                    };
                    open.remove(index);
                }
                _ => {}
            }
        }
        open.is_empty()
    }
    QuickCheck::new().tests(1000).quickcheck(law as fn(Vec<Op>) -> bool);
}

#[test]
fn a_refused_call_gives_nothing_and_changes_nothing() {
    fn law(before: Vec<Op>, op: Op, after: Vec<Op>) -> bool {
        let mut turn = emitter();
        for earlier in before {
            make(earlier, &mut turn, &mut |_| {});
        }
        let mut untouched = turn.clone();
        let mut given = 0;
        if !make(op, &mut turn, &mut |_| given += 1) {
            return true;
        }
        let (mut with, mut without) = (Vec::new(), Vec::new());
        for later in after {
            make(later, &mut turn, &mut |event| with.push(event.clone().into_owned()));
            make(later, &mut untouched, &mut |event| without.push(event.clone().into_owned()));
        }
        given == 0 && with == without && turn.settled() == untouched.settled()
    }
    let law = law as fn(Vec<Op>, Op, Vec<Op>) -> bool;
    QuickCheck::new().tests(2000).quickcheck(law);
}

#[test]
fn done_has_the_text_of_all_messages() {
    fn law(ops: Vec<Op>, text: String) -> bool {
        let mut turn = emitter();
        let mut events = Vec::new();
        let sink = &mut |event: &Event<'_>| events.push(event.clone().into_owned());
        for op in ops {
            make(op, &mut turn, sink);
        }
        // An authoritative message takes the place of the draft of its step.
        let authoritative = format!("m{text}");
        turn.step(sink).unwrap();
        turn.text("draft", sink).unwrap();
        turn.emit(&Message::new(Role::Assistant, authoritative).into(), NOW, sink).unwrap();
        turn.finish(Finish::default(), sink).unwrap();
        let said = events.iter().filter_map(|event| match event {
            Event::Message(message) => Some(&*message.text),
            _ => None,
        });
        let said: String = said.collect();
        match events.last() {
            Some(Event::Done(done)) => {
                done.status.is_some() || done.text.as_deref().unwrap_or_default() == said
            }
            _ => false,
        }
    }
    QuickCheck::new().tests(500).quickcheck(law as fn(Vec<Op>, String) -> bool);
}

/// How a closing event of what waits would be told to the code that waits.
fn settled_by(event: &Event<'_>) -> Option<Settled> {
    Some(match event {
        Event::QuestionResolved(e) => Settled::Question {
            id: e.question_id.to_string(),
            outcome: e.outcome,
            answers: e.answers.iter().map(|answer| answer.clone().into_owned()).collect(),
        },
        Event::ApprovalResolved(e) => Settled::Approval {
            id: e.approval_id.to_string(),
            decision: e.decision,
            by: e.by.to_string(),
        },
        Event::PlanResolved(e) => Settled::Plan {
            approved: e.approved,
            edits: e.edits.as_deref().map(Into::into),
            reason: e.reason.as_deref().map(Into::into),
        },
        _ => return None,
    })
}

#[test]
fn what_waits_is_settled_once_and_told_once() {
    fn law(ops: Vec<Op>) -> bool {
        let mut turn = emitter();
        let (mut opened, mut closed, mut told) = (0, Vec::new(), Vec::new());
        let sink = &mut |event: &Event<'_>| {
            opened += usize::from(matches!(
                event,
                Event::Question(_) | Event::ApprovalRequired(_) | Event::PlanProposed(_)
            ));
            closed.extend(settled_by(event));
        };
        for op in ops {
            make(op, &mut turn, sink);
            if op.n % 3 == 0 {
                told.extend(turn.settled());
            }
        }
        turn.finish(Finish::default(), sink).unwrap();
        told.extend(turn.settled());
        opened == closed.len() && told == closed && turn.settled().is_empty()
    }
    QuickCheck::new().tests(1000).quickcheck(law as fn(Vec<Op>) -> bool);
}

#[test]
fn nothing_but_a_call_that_says_so_is_consent() {
    fn law(ops: Vec<Op>) -> bool {
        let mut turn = emitter();
        let mut consents = Vec::new();
        for op in ops {
            let mut given = false;
            make(op, &mut turn, &mut |event| {
                given |= settled_by(event).is_some_and(|settled| settled.is_consent());
            });
            // The verbs of `make` that allow or approve.
            consents.push(!given || matches!(op.verb, 19 | 30 | 32));
        }
        let _ = turn.shutdown(&mut |event| {
            consents.push(!settled_by(event).is_some_and(|settled| settled.is_consent()));
        });
        consents.into_iter().all(|fair| fair)
    }
    QuickCheck::new().tests(1000).quickcheck(law as fn(Vec<Op>) -> bool);
}

#[test]
fn a_deadline_is_kept_and_a_spurious_wake_up_does_nothing() {
    fn law(ops: Vec<Op>, now: u8) -> bool {
        let mut turn = emitter();
        for op in ops {
            make(op, &mut turn, &mut |_| {});
        }
        let now = Millis(u64::from(now));
        let before = turn.poll_timeout();
        let mut given = 0;
        turn.handle_timeout(now, &mut |_| given += 1);
        let due = before.is_some_and(|(at, _)| at <= now);
        let after = turn.poll_timeout();
        (given > 0) == due && after.is_none_or(|(at, _)| at > now) && (due || after == before)
    }
    QuickCheck::new().tests(2000).quickcheck(law as fn(Vec<Op>, u8) -> bool);
}
