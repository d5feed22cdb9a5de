//! Callbacks in, events out: the cases of the vectors, and what cannot be said as data.

use serde_json::Value;
use turnwire::error::{CallerError, Code};
use turnwire::event::{Event, EventKind, ToolStart};
use turnwire::time::Millis;
use turnwire::turn::{Emitter, EmitterOptions, Ending, Failure, Finish, Output, ToolOutcome};

use crate::turn_calls::{Args, call};

fn options(row: &Value) -> EmitterOptions {
    let mut options = EmitterOptions::default();
    let given = &row["options"];
    options.cwd = given["cwd"].as_str().map(String::from);
    if let Some(tools) = given["fs_tools"].as_array() {
        options.fs_tools = tools.iter().map(|tool| tool.as_str().unwrap().into()).collect();
    }
    options
}

#[test]
fn callbacks_become_the_events_of_the_vectors() {
    let rows: Vec<Value> = serde_json::from_str(include_str!("../vectors/produce.json")).unwrap();
    assert!(rows.len() > 30);
    for row in &rows {
        let case = &row["case"];
        let mut turn = Emitter::new(options(row)).unwrap();
        let mut events = Vec::new();
        let mut now = Millis(0);
        for step in row["calls"].as_array().unwrap() {
            now = step["at"].as_u64().map_or(now, Millis);
            let args = Args(step["args"].as_object().unwrap());
            let sink = &mut |event: &Event<'_>| events.push(serde_json::to_value(event).unwrap());
            let result = call(&mut turn, step["verb"].as_str().unwrap(), &args, now, sink);
            let (raised, outcome) = match result {
                Ok(()) => (None, None),
                Err(error) => (Some(error.code.as_str()), error.outcome),
            };
            assert_eq!(raised, step["raises"].as_str(), "{case}: {step}");
            assert_eq!(outcome, step["outcome"].as_str(), "{case}: {step}");
            if let Some(expected) = step.get("settled") {
                let settled = serde_json::to_value(turn.settled()).unwrap();
                assert_eq!(settled, *expected, "{case}: {step}");
            }
            if let Some(expected) = step.get("timeout") {
                let timeout = turn.poll_timeout().map(|(at, reason)| (at.0, reason.as_str()));
                assert_eq!(serde_json::to_value(timeout).unwrap(), *expected, "{case}: {step}");
            }
        }
        assert_eq!(Value::from(events), row["events"], "{case}");
        let noted = turn.diagnostics().drain();
        let noted: Vec<_> = noted.map(|found| (found.code.as_str(), found.at)).collect();
        let expected = row["diagnostics"].as_array().cloned().unwrap_or_default();
        let expected: Vec<_> = expected
            .iter()
            .map(|found| (found["code"].as_str().unwrap(), found["at"].as_u64().unwrap()))
            .collect();
        assert_eq!(noted, expected, "{case}");
    }
}

fn kinds(work: impl FnOnce(&mut Emitter, &mut dyn FnMut(&Event<'_>))) -> Vec<EventKind> {
    let mut turn = Emitter::new(EmitterOptions::default()).unwrap();
    let mut kinds = Vec::new();
    work(&mut turn, &mut |event| kinds.push(event.kind()));
    kinds
}

#[test]
fn made_ids_come_from_the_seed_and_pair_a_start_with_its_result() {
    let mut ids = Vec::new();
    let mut turn = Emitter::new(EmitterOptions::default()).unwrap();
    let sink = &mut |event: &Event<'_>| match event {
        Event::ToolStart(e) => ids.push(e.call_id.clone().unwrap().into_owned()),
        Event::ToolResult(e) => ids.push(e.call_id.clone().unwrap().into_owned()),
        _ => {}
    };
    turn.tool_start(ToolStart::new("a"), sink).unwrap();
    turn.tool_start(ToolStart::new("b"), sink).unwrap();
    turn.tool_result(ToolOutcome::new("a", Output::Text("")), sink).unwrap();
    turn.tool_result(ToolOutcome::new("c", Output::Text("")), sink).unwrap();
    assert!(ids[0].starts_with("call_") && ids[0].ends_with("-1"), "{}", ids[0]);
    assert!(ids[1].ends_with("-2") && ids[2] == ids[0]);
    assert!(ids[3].ends_with("-3") && ids[4] == ids[3]);
}

#[test]
fn no_ids_are_made_where_the_rules_want_none() {
    let mut options = EmitterOptions::default();
    options.rules.makes_call_ids = false;
    let mut turn = Emitter::new(options).unwrap();
    let mut events = Vec::new();
    let sink = &mut |event: &Event<'_>| events.push(serde_json::to_value(event).unwrap());
    turn.tool_start(ToolStart::new("a"), sink).unwrap();
    turn.tool_start(ToolStart::new("a"), sink).unwrap();
    turn.tool_result(ToolOutcome::new("a", Output::Text("")), sink).unwrap();
    turn.finish(Finish::default(), sink).unwrap();
    assert!(events.iter().all(|event| event.get("call_id").is_none()));
    let results = events.iter().filter(|event| event["type"] == "tool_result");
    let statuses: Vec<_> = results.map(|event| event["status"].as_str()).collect();
    assert_eq!(statuses, [None, Some("interrupted")]);
}

#[test]
fn a_question_outlives_done_where_the_rules_say_so() {
    for (outlives, settled) in [(true, 0), (false, 1)] {
        let mut options = EmitterOptions::default();
        options.rules.question_outlives_turn = outlives;
        let mut turn = Emitter::new(options).unwrap();
        let mut count = 0;
        let sink = &mut |event: &Event<'_>| {
            count += usize::from(event.kind() == EventKind::QuestionResolved);
        };
        let asked = r#"{"type":"question","question_id":"q","questions":[]}"#;
        turn.emit(&serde_json::from_str(asked).unwrap(), Millis(0), sink).unwrap();
        turn.finish(Finish::default(), sink).unwrap();
        assert_eq!(count, settled);
    }
}

#[test]
fn open_calls_are_bounded() {
    let mut turn = Emitter::new(EmitterOptions::default()).unwrap();
    let mut given = 0;
    let sink = &mut |_: &Event<'_>| given += 1;
    for n in 0..1024 {
        let mut start = ToolStart::new("f");
        start.call_id = Some(n.to_string().into());
        turn.tool_start(start, sink).unwrap();
    }
    let full = Err(Code::TooManyOpen);
    let code = |result: Result<(), CallerError>| result.map_err(|error| error.code);
    assert_eq!(code(turn.tool_start(ToolStart::new("f"), sink)), full);
    assert_eq!(code(turn.tool_call("x", "f", sink)), full);
    assert_eq!(code(turn.tool_result(ToolOutcome::new("g", Output::Text("")), sink)), full);
    turn.tool_result(ToolOutcome::new("f", Output::Text("")), sink).unwrap();
    turn.tool_start(ToolStart::new("f"), sink).unwrap();
    turn.finish(Finish::default(), sink).unwrap();
    assert_eq!(given, 1 + 1024 + 2 + 1024 + 1);
}

#[test]
fn settled_ids_are_remembered_to_a_bound() {
    let mut turn = Emitter::new(EmitterOptions::default()).unwrap();
    let mut given = 0;
    let sink = &mut |_: &Event<'_>| given += 1;
    let result = |id: &str, turn: &mut Emitter, sink: &mut dyn FnMut(&Event<'_>)| {
        let mut outcome = ToolOutcome::new("f", Output::Text(""));
        outcome.call_id = Some(id);
        turn.tool_result(outcome, sink).unwrap();
    };
    for n in 0..1025 {
        result(&n.to_string(), &mut turn, sink);
    }
    result("1", &mut turn, sink);
    assert_eq!(turn.diagnostics().drain().count(), 1);
    result("0", &mut turn, sink);
    assert_eq!(turn.diagnostics().drain().count(), 0);
    assert_eq!(given, 1 + 2 * 1026);
}

#[test]
fn a_text_over_the_bound_is_left_out_of_done() {
    // A quote is two bytes when escaped, so half the bound of them is the most that fits.
    for (extra, fits) in [("", true), ("a", false)] {
        let mut turn = Emitter::new(EmitterOptions::default()).unwrap();
        let mut carried = None;
        let sink = &mut |event: &Event<'_>| {
            if let Event::Done(done) = event {
                carried = Some(done.text.is_some());
            }
        };
        let piece = "\"".repeat(1 << 20);
        for _ in 0..4 {
            turn.text(&piece, sink).unwrap();
        }
        turn.text(extra, sink).unwrap();
        turn.finish(Finish::default(), sink).unwrap();
        assert_eq!(carried, Some(fits));
        assert_eq!(turn.text_so_far().len(), (4 << 20) + extra.len());
        let codes: Vec<_> = turn.diagnostics().drain().map(|found| found.code).collect();
        assert_eq!(codes.is_empty(), fits);
        assert!(codes.iter().all(|code| *code == Code::DoneTextLeftOut));
    }
}

#[test]
fn the_error_of_a_tool_is_a_failure() {
    let mut turn = Emitter::new(EmitterOptions::default()).unwrap();
    let sink = &mut |_: &Event<'_>| {};
    turn.tool_result(ToolOutcome::new("f", Output::Error(" ")), sink).unwrap();
    turn.tool_result(ToolOutcome::new("f", Output::Error("no such file")), sink).unwrap();
    let trace: Vec<_> = turn.trace().iter().map(|entry| (entry.ok, &*entry.summary)).collect();
    let lines = ["f · ✗ failed · ERROR tool-error", "f · ✗ failed · no such file"];
    assert_eq!(trace, [(false, lines[0]), (false, lines[1])]);
}

#[test]
fn an_output_that_is_no_json_is_taken_as_text() {
    let mut turn = Emitter::new(EmitterOptions::default()).unwrap();
    let sink = &mut |_: &Event<'_>| {};
    turn.tool_result(ToolOutcome::new("f", Output::Json("{half")), sink).unwrap();
    assert_eq!(&*turn.trace()[0].summary, "f · ✓ ok · {half");
    let codes: Vec<_> = turn.diagnostics().drain().map(|found| found.code).collect();
    assert_eq!(codes, [Code::BadResult]);
}

#[test]
fn a_bad_cwd_is_refused() {
    for cwd in ["/etc", "..", "a\nb", "C:\\x"] {
        let mut options = EmitterOptions::default();
        options.cwd = Some(cwd.into());
        assert_eq!(Emitter::new(options).unwrap_err().code, Code::BadOption);
    }
}

#[test]
fn the_ending_is_kept() {
    type Work<'w> = &'w dyn Fn(&mut Emitter, &mut dyn FnMut(&Event<'_>));
    let end = |work: Work<'_>| {
        let mut turn = Emitter::new(EmitterOptions::default()).unwrap();
        assert_eq!((turn.ending(), turn.is_finished(), turn.cwd()), (None, false, None));
        work(&mut turn, &mut |_| {});
        assert!(turn.is_finished());
        turn.ending().cloned().unwrap()
    };
    assert_eq!(end(&|t, s| t.finish(Finish::default(), s).unwrap()), Ending::Finished);
    let failed = Ending::Failed { message: "x".into(), status: None, code: None };
    assert_eq!(end(&|t, s| t.fail(Failure::new("x"), s).unwrap()), failed);
    let cancelled = Ending::Cancelled { by: "user".into() };
    assert_eq!(end(&|t, s| t.cancel("user", s).unwrap()), cancelled);
}

#[test]
fn bad_usage_refuses_the_finish_and_leaves_the_turn_open() {
    let seen = kinds(|turn, sink| {
        let mut finish = Finish::default();
        finish.usage = Some("{");
        assert_eq!(turn.finish(finish, sink).unwrap_err().code, Code::BadJson);
        turn.text("still", sink).unwrap();
    });
    assert_eq!(seen, [EventKind::TurnStarted, EventKind::TextDelta]);
}
