//! What a turn gives fits a decoder, whatever its callbacks say (fault 15 and its kind).

use turnwire::dialect::Dialect;
use turnwire::error::{CallerError, Code};
use turnwire::event::{
    Event, Message, Notice, OutputStream, Role, SubagentText, TextDelta, ToolArgs, ToolStart,
    TurnStarted,
};
use turnwire::limits::{EVENT_MAX_BYTES, TOOL_OUTPUT_MAX_ESCAPED_BYTES};
use turnwire::time::Millis;
use turnwire::turn::{Emitter, EmitterOptions, Failure, Finish, Output, ToolOutcome};
use turnwire::wire::json::escaped_len;
use turnwire::{Turn, TurnOptions};

const NOW: Millis = Millis(0);

/// Texts that grow in different ways when they are written.
const HARD: [&str; 4] = ["\"", "\u{1}", "😀", "\u{2028}"];

/// A text that would take more than half of what a decoder takes. A separator alone is blank.
fn huge(unit: &str) -> String {
    format!("x{}", unit.repeat((9 << 20) / escaped_len(unit)))
}

fn code(result: Result<(), CallerError>) -> Option<Code> {
    result.err().map(|error| error.code)
}

/// The longest line of an event stream, its frame's syntax included, in bytes.
fn longest_line(stream: &[u8]) -> usize {
    stream.split(|byte| *byte == b'\n').map(<[u8]>::len).max().unwrap()
}

#[test]
fn no_callback_makes_a_frame_that_outgrows_a_decoder() {
    for (dialect, units) in [(Dialect::AGENT, &HARD[..1]), (Dialect::WORKSPACE, &HARD)] {
        for unit in units {
            let huge = huge(unit);
            let mut turn = Turn::new(Some(dialect), TurnOptions::default()).unwrap();
            let mut out = Vec::new();
            let mut start = TurnStarted::new();
            start.user_text = Some(huge.as_str().into());
            assert_eq!(code(turn.start(NOW, start, &mut out)), Some(Code::EventTooLarge));
            turn.reasoning(NOW, &huge, &mut out).unwrap();
            turn.text(NOW, &huge, &mut out).unwrap();
            turn.tool_call(NOW, "c", "f", &mut out).unwrap();
            turn.tool_args_delta(NOW, "c", &huge, &mut out).unwrap();
            let refused = turn.tool_args(NOW, "c", &huge, &mut out);
            assert_eq!(code(refused), Some(Code::EventTooLarge));
            let mut start = ToolStart::new("f");
            start.call_id = Some("c".into());
            turn.tool_start(NOW, start.clone(), &mut out).unwrap();
            turn.tool_output(NOW, "c", OutputStream::Stdout, &huge, &mut out).unwrap();
            turn.tool_result(NOW, ToolOutcome::new("f", Output::Text(&huge)), &mut out).unwrap();
            let message = Event::from(Message::new(Role::Assistant, huge.as_str()));
            assert_eq!(code(turn.emit(NOW, &message, &mut out)), Some(Code::EventTooLarge));
            turn.fail(NOW, Failure::new(&huge), &mut out).unwrap();
            let longest = longest_line(&out);
            assert!(longest <= EVENT_MAX_BYTES / 2, "{dialect:?} {unit:?}: {longest}");
        }
    }
}

#[test]
fn a_final_text_that_was_not_streamed_comes_in_messages_that_fit() {
    for unit in HARD {
        let huge = huge(unit);
        let mut turn = Turn::new(Some(Dialect::WORKSPACE), TurnOptions::default()).unwrap();
        let mut out = Vec::new();
        let mut finish = Finish::default();
        finish.text = Some(&huge);
        turn.finish(NOW, finish, &mut out).unwrap();
        assert!(longest_line(&out) <= EVENT_MAX_BYTES / 2);
    }
}

fn events(work: impl FnOnce(&mut Emitter, &mut dyn FnMut(&Event<'_>))) -> Vec<Event<'static>> {
    let mut turn = Emitter::new(EmitterOptions::default()).unwrap();
    let mut events = Vec::new();
    work(&mut turn, &mut |event| events.push(event.clone().into_owned()));
    events
}

#[test]
fn long_text_is_split_and_nothing_of_it_lost() {
    for unit in HARD {
        let text = format!("{}end", unit.repeat((5 << 20) / escaped_len(unit)));
        let seen = events(|turn, sink| {
            turn.text(&text, sink).unwrap();
            turn.tool_start(ToolStart::new("f"), sink).unwrap();
        });
        let (mut deltas, mut messages) = (String::new(), String::new());
        for event in &seen {
            match event {
                Event::TextDelta(delta) => deltas.push_str(&delta.text),
                Event::Message(message) => {
                    messages.push_str(&message.text);
                    // Each message covers what was streamed since the one before.
                    assert!(messages == deltas);
                }
                _ => {}
            }
        }
        assert!(deltas == text && messages == text, "{unit:?}");
    }
}

#[test]
fn an_output_at_the_bound_is_whole_and_over_it_has_head_and_tail() {
    for unit in HARD {
        let escaped = escaped_len(unit);
        let fitting = "a".repeat(TOOL_OUTPUT_MAX_ESCAPED_BYTES % escaped)
            + &unit.repeat(TOOL_OUTPUT_MAX_ESCAPED_BYTES / escaped);
        let over = format!("{fitting}z");
        for (text, whole) in [(&fitting, true), (&over, false)] {
            let seen = events(|turn, sink| {
                turn.tool_result(ToolOutcome::new("f", Output::Text(text)), sink).unwrap();
            });
            let Some(Event::ToolResult(result)) = seen.last() else { panic!("no result") };
            let output = result.output.as_deref().unwrap();
            assert_eq!(output == text, whole);
            if whole {
                continue;
            }
            let (head, rest) = output.split_once("\n… (").unwrap();
            let (skipped, tail) = rest.split_once(" more bytes)\n").unwrap();
            assert!(text.starts_with(head) && text.ends_with(tail) && tail.ends_with('z'));
            let skipped: usize = skipped.parse().unwrap();
            assert_eq!(head.len() + skipped + tail.len(), text.len());
            assert!(escaped_len(output) <= TOOL_OUTPUT_MAX_ESCAPED_BYTES);
            assert!(skipped < 100);
        }
    }
}

#[test]
fn what_cannot_be_split_is_refused() {
    let long = "x".repeat(1 << 17);
    let huge = "x".repeat(5 << 20);
    let seen = events(|turn, sink| {
        let refused = |result, code_| assert_eq!(code(result), Some(code_));
        refused(turn.tool_call(&long, "f", sink), Code::BadField);
        refused(turn.tool_call("c", &long, sink), Code::BadField);
        refused(turn.tool_result(ToolOutcome::new(&long, Output::Text("")), sink), Code::BadField);
        let mut outcome = ToolOutcome::new("f", Output::Text(""));
        outcome.files_changed = vec![long.as_str().into()];
        refused(turn.tool_result(outcome, sink), Code::EventTooLarge);
        refused(turn.ask(&long, &[], 1, NOW, sink), Code::BadField);
        refused(turn.propose_plan(&huge, sink), Code::EventTooLarge);
        let mut notice = Notice::new("n");
        notice.detail = Some(huge.as_str().into());
        refused(turn.emit(&notice.into(), NOW, sink), Code::EventTooLarge);
        let piece = SubagentText::new("c", huge.as_str());
        refused(turn.emit(&piece.into(), NOW, sink), Code::EventTooLarge);
        // What an event would open or go on to does not happen either.
        let args = ToolArgs::new("c", "f", huge.as_str());
        refused(turn.emit(&args.into(), NOW, sink), Code::EventTooLarge);
        let mut delta = TextDelta::new("x");
        delta.step = Some(9);
        delta.message_id = Some(long.as_str().into());
        refused(turn.emit(&delta.into(), NOW, sink), Code::BadField);
        refused(turn.step_usage(&format!("{{\"n\":\"{long}\"}}")), Code::EventTooLarge);
        let mut finish = Finish::default();
        finish.finish_reason = Some(&long);
        refused(turn.finish(finish, sink), Code::BadField);
        finish = Finish::default();
        let usage = format!("\"{long}\"");
        finish.usage = Some(&usage);
        refused(turn.finish(finish, sink), Code::EventTooLarge);
    });
    assert_eq!(seen, []);
}

#[test]
fn the_tool_trace_is_cut_with_a_diagnostic() {
    let mut turn = Emitter::new(EmitterOptions::default()).unwrap();
    let mut entries = 0;
    let sink = &mut |event: &Event<'_>| {
        if let Event::Done(done) = event {
            entries = done.tool_trace.len();
        }
    };
    let name = "n".repeat(60_000);
    for _ in 0..40 {
        turn.tool_result(ToolOutcome::new(&name, Output::Text("")), sink).unwrap();
    }
    turn.finish(Finish::default(), sink).unwrap();
    assert_eq!((entries, turn.trace().len()), (34, 40));
    let codes: Vec<_> = turn.diagnostics().drain().map(|found| found.code).collect();
    assert_eq!(codes, [Code::DoneTraceCut]);
}

#[test]
fn the_sum_of_usage_keeps_so_many_names() {
    let seen = events(|turn, sink| {
        for n in 0..300 {
            turn.step_usage(&format!("{{\"n{n}\":1,\"all\":1}}")).unwrap();
        }
        turn.finish(Finish::default(), sink).unwrap();
    });
    let Some(Event::Done(done)) = seen.last() else { panic!("no end") };
    let usage: serde_json::Value =
        serde_json::from_str(done.usage.as_ref().unwrap().text()).unwrap();
    assert_eq!((usage.as_object().unwrap().len(), &usage["all"]), (256, &300.into()));
}
