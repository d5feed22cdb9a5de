//! The calls of `produce.json`, by name.

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use turnwire::error::CallerError;
use turnwire::event::{
    Answer, Decision, Effect, Event, OutputStream, QuestionItem, ToolStart, TurnStarted,
};
use turnwire::limits::QUESTION_TIMEOUT_MS;
use turnwire::time::Millis;
use turnwire::turn::{ApprovalOptions, Emitter, Failure, Finish, Output, ToolOutcome};

/// The arguments of a call, by name.
pub struct Args<'a>(pub &'a Map<String, Value>);

impl<'a> Args<'a> {
    fn text(&self, name: &str) -> Option<&'a str> {
        self.0.get(name).map(|value| value.as_str().unwrap())
    }

    fn need(&self, name: &str) -> &'a str {
        self.text(name).unwrap()
    }

    fn number(&self, name: &str) -> Option<u64> {
        self.0.get(name).map(|value| value.as_u64().unwrap())
    }

    fn list<T: DeserializeOwned>(&self, name: &str) -> Vec<T> {
        serde_json::from_value(self.0[name].clone()).unwrap()
    }

    fn json(&self, name: &str) -> Option<String> {
        self.0.get(name).map(Value::to_string)
    }
}

/// Makes the call of a vector.
pub fn call(
    turn: &mut Emitter,
    verb: &str,
    args: &Args<'_>,
    now: Millis,
    sink: &mut dyn FnMut(&Event<'_>),
) -> Result<(), CallerError> {
    match verb {
        "start" => {
            let start: TurnStarted<'_> =
                serde_json::from_value(Value::Object(args.0.clone())).unwrap();
            turn.start(start, sink)
        }
        "step" => turn.step(sink),
        "step_usage" => turn.step_usage(&args.json("usage").unwrap()),
        "reasoning" => turn.reasoning(args.need("text"), sink),
        "text" => turn.text(args.need("text"), sink),
        "tool_call" => turn.tool_call(args.need("call_id"), args.need("name"), sink),
        "tool_args_delta" => turn.tool_args_delta(args.need("call_id"), args.need("delta"), sink),
        "tool_args" => turn.tool_args(args.need("call_id"), args.need("args_json"), sink),
        "tool_start" => {
            let mut start = ToolStart::new(args.need("name"));
            start.call_id = args.text("call_id").map(Into::into);
            start.args = args.text("args").map(Into::into);
            turn.tool_start(start, sink)
        }
        "tool_output" => {
            let stream = args.text("stream").map(|name| OutputStream::parse(name).unwrap());
            let stream = stream.unwrap_or_default();
            turn.tool_output(args.need("call_id"), stream, args.need("text"), sink)
        }
        "tool_result" => {
            let json = args.json("output").unwrap();
            let output = match args.0["output"].as_str() {
                Some(text) => Output::Text(text),
                None => Output::Json(&json),
            };
            let mut outcome = ToolOutcome::new(args.need("name"), output);
            outcome.call_id = args.text("call_id");
            outcome.ok = args.0.get("ok").and_then(Value::as_bool);
            outcome.status = args.text("status");
            outcome.exit_code = args.0.get("exit_code").and_then(Value::as_i64);
            outcome.summary = args.text("summary");
            outcome.preview = args.text("preview");
            outcome.cwd = args.text("cwd");
            let files = args.0.get("files_changed").and_then(Value::as_array);
            outcome.files_changed =
                files.into_iter().flatten().map(|file| file.as_str().unwrap().into()).collect();
            turn.tool_result(outcome, sink)
        }
        "emit" => {
            let event: Event<'_> = serde_json::from_value(args.0["event"].clone()).unwrap();
            turn.emit(&event, now, sink)
        }
        "ask" => {
            let questions: Vec<QuestionItem<'_>> = args.list("questions");
            let timeout_ms = args.number("timeout_ms").unwrap_or(QUESTION_TIMEOUT_MS);
            turn.ask(args.need("question_id"), &questions, timeout_ms, now, sink)
        }
        "answer" => {
            let answers: Vec<Answer<'_>> = args.list("answers");
            turn.answer(args.need("question_id"), &answers, sink)
        }
        "require_approval" => {
            let effects: Vec<Effect<'_>> = args.list("effects");
            let mut options = ApprovalOptions::default();
            options.call_id = args.text("call_id");
            options.name = args.text("name");
            options.timeout_ms = args.number("timeout_ms");
            turn.require_approval(args.need("approval_id"), &effects, options, now, sink)
        }
        "resolve_approval" => {
            let decision = Decision::parse(args.need("decision")).unwrap();
            let by = args.text("by").unwrap_or("user");
            turn.resolve_approval(args.need("approval_id"), decision, by, sink)
        }
        "propose_plan" => turn.propose_plan(args.need("plan"), sink),
        "resolve_plan" => {
            let approved = args.0["approved"].as_bool().unwrap();
            turn.resolve_plan(approved, args.text("edits"), args.text("reason"), sink)
        }
        "handle_timeout" => {
            turn.handle_timeout(now, sink);
            Ok(())
        }
        "shutdown" => turn.shutdown(sink),
        "finish" => {
            let usage = args.json("usage");
            let mut finish = Finish::default();
            finish.text = args.text("text");
            finish.finish_reason = args.text("finish_reason");
            finish.usage = usage.as_deref();
            turn.finish(finish, sink)
        }
        "fail" => {
            let mut failure = Failure::new(args.need("message"));
            failure.status = args.0.get("status").map(|s| s.as_u64().unwrap().try_into().unwrap());
            failure.code = args.text("code");
            turn.fail(failure, sink)
        }
        "cancel" => turn.cancel(args.need("by"), sink),
        other => panic!("no such verb: {other}"),
    }
}
