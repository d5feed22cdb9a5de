//! How a turn carries its conversation on: the cases of the vectors, and the words around them.

use serde_json::Value;
use turnwire::error::Code;
use turnwire::event::{Event, RawJson};
use turnwire::turn::{
    ContinuationReason, Continuity, CursorLoss, OnLoss, ProviderMode, ProviderSetup, ProviderState,
    Save, context_event, context_severity, estimate_tokens,
};

fn mode(word: &str) -> ProviderMode {
    *ProviderMode::ALL.iter().find(|mode| mode.as_str() == word).unwrap()
}

fn setup(row: &Value) -> ProviderSetup<'_> {
    let text = |name: &str| row[name].as_str();
    let mut setup = ProviderSetup::new(
        text("provider").unwrap(),
        text("model_name").unwrap(),
        text("toolset_hash").unwrap(),
    );
    setup.durable_mode = text("durable_mode").map(mode);
    setup.agent_id = text("agent_id");
    setup.agent_runtime_hash = text("agent_runtime_hash");
    setup.system_prompt_hash = text("system_prompt_hash").unwrap();
    setup
}

/// What the step came to besides its events, in the words of the vectors.
fn make(way: &mut Continuity<'_>, step: &Value, sink: &mut dyn FnMut(&Event<'_>)) {
    match step["do"].as_str().unwrap() {
        "begin" => way.begin(sink),
        "recovered" => way.recovered(sink),
        "advance" => way.advance(step["to"].as_str().unwrap()),
        "lose" => {
            let loss = match step["loss"].as_str().unwrap() {
                "expired" => CursorLoss::Expired,
                "invalid" => CursorLoss::Invalid,
                other => panic!("no such loss: {other}"),
            };
            let (then, reason) =
                match way.lose_cursor(loss, step["in_flight"].as_bool().unwrap(), sink) {
                    OnLoss::Replay => ("replay", None),
                    OnLoss::Abort(reason) => ("abort", Some(reason.as_str())),
                    OnLoss::NotOurs => ("not_ours", None),
                    other => panic!("no word for {other:?}"),
                };
            assert_eq!((Some(then), reason), (step["then"].as_str(), step["reason"].as_str()));
        }
        "save" => {
            let offered = step["offered"].as_str().map(|json| ProviderState::parse(json).unwrap());
            let saved = match way.save(offered.as_ref(), step["aborted"].as_bool().unwrap()) {
                Ok(Save::Keep) => Value::from("keep"),
                Ok(Save::Clear) => Value::Null,
                Ok(Save::Store(json)) => json.into(),
                other => panic!("no word for {other:?}"),
            };
            assert_eq!(saved, step["saved"], "{step}");
        }
        other => panic!("no such step: {other}"),
    }
}

#[test]
fn the_decision_follows_the_vectors() {
    let rows: Vec<Value> =
        serde_json::from_str(include_str!("../vectors/continuation.json")).unwrap();
    assert!(rows.len() > 40);
    for row in &rows {
        let case = &row["case"];
        let mut way = Continuity::decide(row["stored"].as_str(), setup(&row["setup"]));
        for step in row["steps"].as_array().unwrap() {
            let mut events = Vec::new();
            make(&mut way, step, &mut |event| events.push(serde_json::to_value(event).unwrap()));
            let expected = step["events"].as_array().cloned().unwrap_or_default();
            assert_eq!(events, expected, "{case}: {step}");
            if let Some(cursor) = step.get("cursor") {
                assert_eq!(way.cursor(), cursor.as_str(), "{case}: {step}");
            }
            if let Some(mode) = step.get("mode") {
                assert_eq!(Some(way.display_mode()), mode.as_str(), "{case}: {step}");
            }
        }
    }
}

#[test]
fn each_reason_has_a_word_and_a_sentence_of_its_own() {
    for (n, reason) in ContinuationReason::ALL.iter().enumerate() {
        let others = &ContinuationReason::ALL[n + 1..];
        assert!(others.iter().all(|other| other.as_str() != reason.as_str()));
        assert!(others.iter().all(|other| other.sentence() != reason.sentence()));
        let failure = reason.failure();
        assert_eq!((failure.code, failure.message), (Some(reason.as_str()), reason.sentence()));
    }
}

#[test]
fn a_context_that_is_no_json_is_refused() {
    let mut state = ProviderState::new("p", ProviderMode::Responses, "m", "none", "t");
    state.cursor = Some("r".into());
    assert!(state.to_json().is_ok());
    state.context = Some(RawJson::from("{"));
    assert_eq!(state.to_json().unwrap_err().code, Code::BadJson);
    let mut setup = ProviderSetup::new("p", "m", "t");
    setup.durable_mode = Some(ProviderMode::Responses);
    let way = Continuity::decide(None, setup);
    assert_eq!(way.save(Some(&state), false).unwrap_err().code, Code::BadJson);
}

#[test]
fn severity_has_its_edges_below() {
    let edges = [
        (0.0, "normal"),
        (0.699_999, "normal"),
        (0.70, "info"),
        (0.849_999, "info"),
        (0.85, "warning"),
        (0.919_999, "warning"),
        (0.92, "danger"),
        (0.969_999, "danger"),
        (0.97, "critical"),
        (1.5, "critical"),
        (f64::INFINITY, "critical"),
        (f64::NAN, "normal"),
        (-1.0, "normal"),
    ];
    for (ratio, word) in edges {
        assert_eq!(context_severity(ratio), word, "{ratio}");
    }
}

#[test]
fn the_context_is_told_in_numbers_and_words() {
    assert_eq!([0, 1, 4, 5, u64::MAX].map(estimate_tokens), [0, 1, 1, 2, (u64::MAX / 4) + 1]);
    let full = context_event(85, 100, true);
    assert_eq!((&*full.mode, &*full.severity), ("stateful", "warning"));
    let unknown = context_event(85, 0, false);
    assert_eq!((&*unknown.mode, &*unknown.severity, unknown.ratio), ("replay", "normal", 0.0));
}
