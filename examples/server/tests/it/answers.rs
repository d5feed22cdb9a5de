//! Both answers, and what the built-in model makes of its sentences.

use serde_json::json;

use crate::server::{Request, Server, joined, of, shape};

#[test]
fn say_is_streamed_to_the_character() {
    let server = Server::start(&[]);
    let response = server.send(&Request::prompt("say Olá,  \"x\"\n<b>").stream());
    assert_eq!(response.status, 200);
    assert_eq!(
        response.text(),
        concat!(
            "data: {\"type\":\"text_delta\",\"text\":\"Olá,\"}\n\n",
            "data: {\"type\":\"text_delta\",\"text\":\"  \\\"x\\\"\"}\n\n",
            "data: {\"type\":\"text_delta\",\"text\":\"\\n<b>\"}\n\n",
            "data: {\"type\":\"done\",\"text\":\"Olá,  \\\"x\\\"\\n<b>\"}\n\n",
        )
    );
    let expected = [
        ("content-type", "text/event-stream; charset=utf-8"),
        ("cache-control", "no-cache, no-transform"),
        ("x-accel-buffering", "no"),
    ];
    for (name, value) in expected {
        assert_eq!(response.header(name), Some(value));
    }
}

#[test]
fn without_the_accept_header_the_answer_is_json() {
    let server = Server::start(&[]);
    for accept in ["", "*/*", "application/json", "text/event-streams"] {
        let response = server.send(&Request::prompt("say Olá  x").header("Accept", accept));
        assert_eq!((response.status, response.text()), (200, "{\"text\":\"Olá  x\"}"));
        assert_eq!(response.header("content-type"), Some("application/json; charset=utf-8"));
    }
    for accept in ["TEXT/Event-Stream", "text/html, text/event-stream;q=0.5"] {
        let response = server.send(&Request::prompt("say x").header("Accept", accept));
        assert_eq!(response.header("content-type"), Some("text/event-stream; charset=utf-8"));
    }
}

#[test]
fn what_it_can_do_is_said_once_in_a_row() {
    let server = Server::start(&[]);
    let text = |prompt: &str| server.ask(prompt).json()["text"].as_str().unwrap().to_owned();
    let once = text("hello");
    assert!(once.contains("read P"), "{once}");
    assert_eq!(text("hello, then goodbye, then what?"), once);
}

#[test]
fn sentences_joined_are_one_turn_with_one_streak_of_tools() {
    let server = Server::start(&[]);
    server.write("src/a.txt", "one\ntwo\n");
    let prompt = "List ., then cd src, then say first, then read a.txt, then wait 0 seconds, \
                  then find two, then pwd";
    let events = server.events(prompt);
    let mut expected = vec!["reasoning_delta"];
    expected.extend(["tool_start", "tool_result"].repeat(5));
    expected.extend(["text_delta", "done"]);
    assert_eq!(shape(&events), expected);

    let summaries: Vec<_> =
        of(&events, "tool_result").map(|e| e["summary"].as_str().unwrap()).collect();
    assert_eq!(
        summaries,
        [
            "list_dir · ✓ ok · .: 1 entries — src/",
            "change_dir · ✓ ok · src · cwd=src",
            "read_file · ✓ ok · a.txt · cwd=src · 2 lines · 7 B",
            "find · ✓ ok · 2 lines · 36 B · find two: 1 matches",
            "pwd · ✓ ok · src",
        ]
    );
    let starts: Vec<_> = of(&events, "tool_start").map(|e| e["id"].clone()).collect();
    let results: Vec<_> = of(&events, "tool_result").map(|e| e["id"].clone()).collect();
    assert_eq!(starts, results);
    let done = events.last().unwrap();
    assert_eq!(
        (&done["cwd"], &done["text"]),
        (&json!("src"), &json!(joined(&events, "text_delta")))
    );
    assert!(done["text"].as_str().unwrap().ends_with("first"));

    let whole = server.ask(prompt).json();
    assert_eq!(whole["text"], done["text"]);
    assert_eq!(whole["toolTrace"], done["toolTrace"]);
    assert_eq!(whole["toolTrace"].as_array().unwrap().len(), 5);
    assert_eq!(whole["cwd"], "src");
}

#[test]
fn count_gives_a_delta_a_number() {
    let server = Server::start(&[]);
    let events = server.events("count to 3000");
    assert_eq!(of(&events, "text_delta").count(), 3000);
    let all: Vec<_> = (1..=3000).map(|n| n.to_string()).collect();
    assert_eq!(joined(&events, "text_delta"), all.join(" "));
    assert_eq!(events.last().unwrap()["text"], all.join(" "));
}

#[test]
fn reasoning_comes_first_unless_it_is_turned_off() {
    let server = Server::start(&[]);
    let think = server.events("think about rivers");
    assert_eq!(shape(&think), ["reasoning_delta", "text_delta", "done"]);
    assert!(joined(&think, "reasoning_delta").contains("rivers"));
    assert!(!think.last().unwrap()["text"].as_str().unwrap().contains("Let me think"));

    let model = json!({ "prompt": "think about rivers", "modelId": "builtin-non-reasoning" });
    let plain = server.send(&Request::post(model.to_string()).stream()).events();
    assert_eq!(shape(&plain), ["text_delta", "done"]);
    let off = Server::with_env(&[], &[("AGENT_REASONING", "none")]);
    assert_eq!(shape(&off.events("think about rivers, then pwd"))[0], "text_delta");
}

#[test]
fn a_failure_comes_after_some_text() {
    let server = Server::start(&[]);
    let events = server.events("say well, then fail, then say never");
    assert_eq!(shape(&events), ["text_delta", "error"]);
    assert!(!joined(&events, "text_delta").contains("never"));
    let message = events.last().unwrap()["error"].as_str().unwrap().to_owned();
    let response = server.ask("fail");
    assert_eq!((response.status, response.refusal()), (502, message));
}

#[test]
fn anything_else_is_told_what_can_be_done() {
    let server = Server::start(&[]);
    for prompt in ["How are you?", "list me, then dance"] {
        let text = server.ask(prompt).json()["text"].as_str().unwrap().to_owned();
        for verb in ["list P", "write TEXT to P", "run CMD", "fetch URL", "count to N"] {
            assert!(text.contains(verb), "{prompt}: {text}");
        }
    }
}

#[test]
fn the_newest_message_of_a_folded_history_counts() {
    let server = Server::start(&[]);
    let prompt =
        "What was said before:\n\nUser: say one\nAssistant: one\n\nUser: say two\n\nAssistant:";
    assert_eq!(server.ask(prompt).json()["text"], "two");
}

#[test]
fn the_default_folder_is_the_environments_where_it_is_valid() {
    for (value, cwd) in [("src", "src"), ("/etc", "."), ("../x", ".")] {
        let server = Server::with_env(&[], &[("SANDBOX_DEFAULT_CWD", value)]);
        server.write("src/a.txt", "a");
        assert_eq!(server.ask("pwd").json()["cwd"], cwd);
    }
}

#[test]
fn the_log_tells_what_happens_and_no_prompt_or_secret() {
    let server = Server::start(&["--token", "hunter2"]);
    let request = Request::prompt("say password123, then read private.txt").stream();
    server.send(&request.header("Authorization", "Bearer hunter2"));
    crate::server::eventually("the end is logged", || server.log().contains("turn ended"));
    let log = server.log();
    for line in ["turn started", "tool started tool=\"read_file\"", "outcome=\"finished\""] {
        assert!(log.contains(line), "{line}: {log}");
    }
    for private in ["password123", "private.txt", "hunter2"] {
        assert!(!log.contains(private), "{private}: {log}");
    }
    let ids: Vec<_> = log.lines().filter_map(|line| line.split_once("id=\"t_")).collect();
    assert!(ids.len() >= 4 && ids.iter().all(|(_, id)| *id == ids[0].1), "{log}");
}
