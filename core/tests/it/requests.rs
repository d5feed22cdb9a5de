//! The vectors of `requests.json`: what a server makes of a body, what a host sends.

use serde_json::{Map, Value as Json, json};
use turnwire::dialect::{Ask, Dialect, HttpCall, Role};
use turnwire::event::Answer;
use turnwire::request::{JSON_HEADERS, ParseOptions, Request, RequestError, parse};

use crate::vectors::load;

#[test]
fn requests() {
    for case in load(include_str!("../vectors/requests.json")) {
        let name = case["name"].as_str().unwrap();
        let dialect = Dialect::parse(case["dialect"].as_str().unwrap()).unwrap();
        if case["role"].is_string() {
            sends(name, dialect, &case);
        } else {
            reads(name, dialect, &case);
        }
    }
}

/// A string, or a list of strings and `[string, times]` pairs to be joined.
fn text(json: &Json) -> String {
    match json {
        Json::Array(parts) => parts
            .iter()
            .map(|part| match part {
                Json::Array(pair) => {
                    let times = usize::try_from(pair[1].as_u64().unwrap()).unwrap();
                    pair[0].as_str().unwrap().repeat(times)
                }
                part => part.as_str().unwrap().to_owned(),
            })
            .collect(),
        json => json.as_str().unwrap().to_owned(),
    }
}

fn reads(name: &str, dialect: Dialect, case: &Json) {
    let mut options = ParseOptions::default();
    options.route = case["route"].as_str().unwrap_or("turn");
    options.content_type = case["content_type"].as_str();
    options.default_cwd = case["default_cwd"].as_str();
    if let Some(max) = case["max_body_bytes"].as_u64() {
        options.max_body_bytes = usize::try_from(max).unwrap();
    }
    match parse(dialect.requests(), text(&case["body"]).as_bytes(), &options) {
        Ok(request) => assert_eq!(said(&request), expected(&case["request"]), "{name}"),
        Err(error) => {
            let body: Json = serde_json::from_slice(&error.body).unwrap();
            assert_eq!(json!({"status": error.status, "body": body}), case["refused"], "{name}");
            assert_eq!(error.headers, JSON_HEADERS, "{name}");
            assert_eq!(body["code"].as_str(), error.code, "{name}");
        }
    }
}

fn expected(request: &Json) -> Json {
    let mut request = request.clone();
    request["prompt"] = json!(text(&request["prompt"]));
    request
}

fn said(request: &Request) -> Json {
    let mut said = Map::new();
    said.insert("prompt".into(), json!(request.prompt));
    let optional = [
        ("model_id", &request.model_id),
        ("cwd", &request.cwd),
        ("session_id", &request.session_id),
    ];
    for (key, value) in optional {
        said.extend(value.as_ref().map(|value| (key.to_owned(), json!(value))));
    }
    said.insert("fields".into(), request.fields.clone().into());
    said.into()
}

fn sends(name: &str, dialect: Dialect, case: &Json) {
    let given = &case["ask"];
    let of = |key: &str| given[key].as_str().unwrap_or_default();
    let answers: Vec<Answer<'static>> = match &given["answers"] {
        Json::Null => Vec::new(),
        list => serde_json::from_value(list.clone()).unwrap(),
    };
    let fields: Vec<(String, String)> = given["fields"]
        .as_object()
        .into_iter()
        .flatten()
        .map(|(key, json)| (key.clone(), json.as_str().unwrap().to_owned()))
        .collect();
    let mut ask = Ask::default();
    ask.base_path = of("base_path");
    ask.workspace_id = of("workspace_id");
    ask.session_id = of("session_id");
    ask.prompt = of("prompt");
    ask.model_id = of("model_id");
    ask.cwd = of("cwd");
    ask.client_id = given["client_id"].as_str();
    ask.last_event_id = given["last_event_id"].as_str();
    ask.question_id = of("question_id");
    ask.answers = &answers;
    ask.fields = &fields;
    let said = dialect.http_call(role(case["role"].as_str().unwrap()), &ask);
    let said = match said {
        Ok(call) => shown(&call),
        Err(error) => {
            assert_eq!(error.code.as_str(), "no_route", "{name}");
            Json::Null
        }
    };
    assert_eq!(said, case["call"], "{name}");
}

fn role(name: &str) -> Role {
    let all = [Role::Turn, Role::Watch, Role::Answer, Role::Cancel, Role::Load];
    all.into_iter().find(|role| role.as_str() == name).unwrap()
}

fn shown(call: &HttpCall) -> Json {
    json!({
        "channel": call.channel.as_str(),
        "method": call.method,
        "path": call.path,
        "headers": call.headers,
        "body": call.body,
    })
}

#[test]
fn a_refusal_can_have_another_code_where_codes_are() {
    let refuse = |dialect: Dialect| {
        RequestError::with_code(dialect.requests(), 400, "PROVIDER_ERROR", "No such model.")
    };
    let respond = refuse(Dialect::RESPOND);
    assert_eq!(respond.body, br#"{"code":"PROVIDER_ERROR","error":"No such model."}"#);
    assert_eq!(respond.code, Some("PROVIDER_ERROR"));
    let chat = refuse(Dialect::CHAT);
    assert_eq!((chat.body.as_slice(), chat.code), (&br#"{"message":"No such model."}"#[..], None));
}
