//! The vectors of requests: `requests_run.json`.

use serde_json::{Value as Json, json};
use turnwire::dialect::{Answer, Ask, Dialect, Role};
use turnwire::event::{Decision, PlanResolved};
use turnwire::request::{ParseOptions, parse};

use crate::vectors::load;

#[test]
fn requests() {
    for case in load(include_str!("../vectors/requests_run.json")) {
        let name = case["name"].as_str().unwrap();
        let dialect = Dialect::parse(case["dialect"].as_str().unwrap()).unwrap();
        let got = match case["way"].as_str().unwrap() {
            "parse" => parsed(dialect, &case),
            "call" => called(dialect, &case),
            "answer" => answered(dialect, &case),
            other => panic!("{name}: no way {other}"),
        };
        assert_eq!(got, case["expect"], "{name}");
    }
}

fn parsed(dialect: Dialect, case: &Json) -> Json {
    let mut options = ParseOptions::default();
    options.route = case["route"].as_str().unwrap_or("turn");
    options.content_type = case["content_type"].as_str();
    if let Some(max) = case["max_body_bytes"].as_u64() {
        options.max_body_bytes = max.try_into().unwrap();
    }
    let body = match case["repeat"].as_u64() {
        Some(times) => {
            case["body"].as_str().unwrap().replace('*', &"é".repeat(times.try_into().unwrap()))
        }
        None => case["body"].as_str().unwrap().into(),
    };
    match parse(dialect.requests(), body.as_bytes(), &options) {
        Ok(request) if case["repeat"].is_u64() => {
            json!({"chars": request.prompt.chars().count()})
        }
        Ok(request) => json!({"prompt": request.prompt, "fields": request.fields}),
        Err(refused) => {
            assert!(refused.headers.iter().any(|(name, value)| {
                *name == "content-type" && value.starts_with("application/json")
            }));
            let body: Json = serde_json::from_slice(&refused.body).unwrap();
            json!({"status": refused.status, "body": body})
        }
    }
}

fn called(dialect: Dialect, case: &Json) -> Json {
    let said = &case["ask"];
    let text = |key: &str| said[key].as_str().unwrap_or_default();
    let role = [Role::Turn, Role::Watch, Role::Answer, Role::Cancel, Role::Load]
        .into_iter()
        .find(|role| Some(role.as_str()) == case["role"].as_str())
        .unwrap();
    let answers: Vec<_> = said["answers"].as_array().into_iter().flatten().cloned().collect();
    let answers: Vec<_> = answers.into_iter().map(|a| serde_json::from_value(a).unwrap()).collect();
    let plan: Option<PlanResolved<'static>> =
        said.get("plan").map(|plan| serde_json::from_value(plan.clone()).unwrap());
    let mut ask = Ask::default();
    (ask.base_path, ask.workspace_id, ask.session_id) =
        (text("base_path"), text("workspace_id"), text("session_id"));
    (ask.prompt, ask.client_id, ask.last_event_id) =
        (text("prompt"), said["client_id"].as_str(), said["last_event_id"].as_str());
    (ask.question_id, ask.answers, ask.plan) = (text("question_id"), &answers, plan.as_ref());
    ask.approval = said["approval_id"]
        .as_str()
        .map(|id| (id, Decision::parse(said["decision"].as_str().unwrap()).unwrap()));
    match dialect.http_call(role, &ask) {
        Ok(call) => {
            let headers: serde_json::Map<_, _> =
                call.headers.iter().map(|(name, value)| ((*name).into(), json!(value))).collect();
            json!({"channel": call.channel.as_str(), "method": call.method, "path": call.path,
                "headers": headers, "body": call.body})
        }
        Err(error) => json!({"code": error.code.as_str()}),
    }
}

fn answered(dialect: Dialect, case: &Json) -> Json {
    let status = case["status"].as_u64().unwrap().try_into().unwrap();
    match dialect.http_answer(status, case["body"].as_str().unwrap()) {
        Answer::Whole { text, trace, cwd } => {
            json!({"text": text, "trace": trace, "cwd": cwd})
        }
        Answer::Started { turn_id } => json!({"turn_id": turn_id}),
        Answer::Refused { message, code } => json!({"message": message, "code": code}),
        other => panic!("{other:?}"),
    }
}
