//! Summary lines, previews, flattened outputs, `ok` and reasoning effort.

use serde_json::Value;
use turnwire::error::Code;
use turnwire::turn::{Effort, changed_dir, flatten, judge, preview, reasoning_effort, summary};

/// A text of a vector: a string, or a list of strings and `[string, times]` pairs.
fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts
            .iter()
            .map(|part| match part {
                Value::Array(pair) => {
                    let times = usize::try_from(pair[1].as_u64().unwrap()).unwrap();
                    pair[0].as_str().unwrap().repeat(times)
                }
                part => part.as_str().unwrap().to_owned(),
            })
            .collect(),
        _ => panic!("no text: {value}"),
    }
}

fn rows(json: &str) -> Vec<Value> {
    let rows: Vec<Value> = serde_json::from_str(json).unwrap();
    assert!(!rows.is_empty());
    rows
}

#[test]
fn summaries_follow_the_table() {
    for row in rows(include_str!("../vectors/summary.json")) {
        let name = row["name"].as_str().unwrap();
        let line = summary(name, row["ok"].as_bool().unwrap(), &text(&row["output"]));
        assert_eq!(line, row["summary"].as_str().unwrap(), "{}", row["case"]);
    }
}

#[test]
fn previews_follow_the_steps() {
    for row in rows(include_str!("../vectors/preview.json")) {
        let expected = (!row["preview"].is_null()).then(|| text(&row["preview"]));
        let made = preview(&text(&row["output"]));
        assert!(made == expected, "{}: {:?}", row["case"], made.map(|p| p.len()));
        assert!(expected.is_none_or(|p| p.chars().count() <= 100_000), "{}", row["case"]);
    }
}

#[test]
fn outputs_are_flattened() {
    for row in rows(include_str!("../vectors/flatten.json")) {
        let json = text(&row["json"]);
        let expected = (!row["text"].is_null()).then(|| text(&row["text"]));
        assert_eq!(flatten(&json).ok().map(String::from), expected, "{}", row["case"]);
    }
}

#[test]
fn ok_is_judged_at_word_ends() {
    for failed in ["ERROR", "  error: x", "Error\nx", "a TIMED_OUT b", "x\nTIMED_OUT"] {
        assert!(!judge(failed), "{failed}");
    }
    for ok in ["", "Errors: 0", "ERROR_COUNT=0", "errоr", "no error", "NOT_TIMED_OUT", "timed_out"]
    {
        assert!(judge(ok), "{ok}");
    }
}

#[test]
fn a_successful_change_dir_says_where_it_went() {
    assert_eq!(changed_dir(" change_dir a: ok cwd=a/b \nmore"), Some("a/b"));
    assert_eq!(changed_dir("change_dir a: ERROR no such folder"), None);
    assert_eq!(changed_dir("change_dir a: ok cwd= "), None);
}

#[test]
fn effort_follows_the_setting_then_the_model() {
    for effort in Effort::ALL {
        assert_eq!(reasoning_effort(Some(effort.as_str()), "m"), Ok(Some(*effort)));
    }
    let default = Ok(Some(Effort::ProviderDefault));
    assert_eq!(reasoning_effort(None, "big-Thinking-1"), default);
    assert_eq!(reasoning_effort(Some(" "), "grok-reasoning"), default);
    assert_eq!(reasoning_effort(None, "grok-non-reasoning"), Ok(None));
    assert_eq!(reasoning_effort(None, "plain"), Ok(None));
    assert_eq!(reasoning_effort(Some("max"), "m").unwrap_err().code, Code::BadOption);
}
