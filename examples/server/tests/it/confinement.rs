//! No path, link or `..` leads out of the workspace.

use std::fs;
use std::os::unix::fs::symlink;
use std::process::Command;

use serde_json::json;

use crate::server::{Request, Server, of};

const SECRET: &str = "the secret outside";

/// A workspace with a secret beside it and links to it of every kind.
fn trapped() -> Server {
    let server = Server::start(&[]);
    let outside = server.outside().join("outside");
    fs::create_dir(&outside).unwrap();
    fs::write(outside.join("secret.txt"), SECRET).unwrap();
    let inside = server.workspace();
    server.write("real/a.txt", "inside");
    symlink(outside.join("secret.txt"), inside.join("file")).unwrap();
    symlink(&outside, inside.join("dir")).unwrap();
    symlink("../outside", inside.join("relative")).unwrap();
    symlink("file", inside.join("chain")).unwrap();
    symlink("real/../../outside/secret.txt", inside.join("winding")).unwrap();
    symlink(outside.join("new.txt"), inside.join("dangling")).unwrap();
    symlink("/", inside.join("root")).unwrap();
    symlink("/proc/self/cwd", inside.join("magic")).unwrap();
    symlink("loop", inside.join("loop")).unwrap();
    symlink("real/a.txt", inside.join("good")).unwrap();
    symlink("real", inside.join("gooddir")).unwrap();
    server
}

/// The prompt's one tool fails, and nothing of the secret is in the answer.
fn refused(server: &Server, prompt: &str) {
    let response = server.send(&Request::prompt(prompt).stream());
    assert!(!response.text().contains(SECRET), "{prompt}");
    let events = response.events();
    let ok: Vec<_> = of(&events, "tool_result").map(|e| e["ok"].clone()).collect();
    assert_eq!(ok, [json!(false)], "{prompt}: {}", response.text());
}

#[test]
fn nothing_outside_is_read() {
    let server = trapped();
    let secret = server.outside().join("outside/secret.txt");
    for path in [
        "../outside/secret.txt",
        "real/../../outside/secret.txt",
        "..\\outside\\secret.txt",
        "file",
        "chain",
        "winding",
        "dir/secret.txt",
        "relative/secret.txt",
        "gooddir/../../outside/secret.txt",
        "dir/../outside/secret.txt",
        "loop",
        "root/etc/passwd",
        "magic/secret.txt",
        "file:///etc/passwd",
        "~/secret.txt",
        "C:\\secret.txt",
        secret.to_str().unwrap(),
    ] {
        refused(&server, &format!("read {path}"));
    }
    for path in ["..", "dir", "relative", "root", "/", "real/../..", "magic"] {
        refused(&server, &format!("list {path}"));
        refused(&server, &format!("cd {path}"));
    }
}

#[test]
fn nothing_outside_is_written() {
    let server = trapped();
    let outside = server.outside().join("outside");
    let absolute = outside.join("new.txt");
    for path in [
        "../outside/new.txt",
        "dangling",
        "file",
        "dir/new.txt",
        "dir/deep/new.txt",
        "relative/new.txt",
        absolute.to_str().unwrap(),
    ] {
        refused(&server, &format!("write pwned to {path}"));
    }
    for path in ["file", "dir/secret.txt", "chain"] {
        refused(&server, &format!("replace secret with pwned in {path}"));
    }
    let names: Vec<_> = fs::read_dir(&outside).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert_eq!(names, ["secret.txt"]);
    assert_eq!(fs::read_to_string(outside.join("secret.txt")).unwrap(), SECRET);
}

#[test]
fn a_search_follows_no_link() {
    let server = trapped();
    for (word, matches) in [("secret", 0), ("inside", 1)] {
        let events = server.events(&format!("find {word}"));
        let result = of(&events, "tool_result").next().unwrap();
        let summary = result["summary"].as_str().unwrap();
        assert!(summary.contains(&format!("find {word}: {matches} matches")), "{summary}");
    }
}

#[test]
fn a_turn_does_not_begin_outside() {
    let server = trapped();
    for cwd in ["dir", "relative", "root", "file", "loop", "real/../.."] {
        let body = json!({ "prompt": "list .", "cwd": cwd }).to_string();
        let response = server.send(&Request::post(body));
        assert_eq!(response.status, 400, "{cwd}");
        response.refusal();
    }
}

#[test]
fn links_inside_are_followed() {
    let server = trapped();
    for (prompt, body) in [("read good", "inside"), ("cd gooddir, then read a.txt", "inside")] {
        let text = server.ask(prompt).json()["text"].as_str().unwrap().to_owned();
        assert!(text.contains(body), "{prompt}: {text}");
    }
    let text = server.ask("cd real, then read ../good").json()["text"].to_string();
    assert!(text.contains("inside"), "{text}");
}

#[test]
fn what_is_no_regular_file_holds_nobody_up() {
    let server = trapped();
    let pipe = server.workspace().join("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    refused(&server, "read pipe");
    let events = server.events("write x to pipe, then write x to dir/pipe");
    let reasons: Vec<_> = of(&events, "tool_result").map(|e| e["summary"].to_string()).collect();
    assert!(reasons[0].contains("not a regular file"), "{reasons:?}");
    assert!(reasons[1].contains("leads out of the workspace"), "{reasons:?}");
    refused(&server, "replace a with b in pipe");
    let text = server.ask("find inside").json()["text"].to_string();
    assert!(text.contains("real/a.txt:1"), "{text}");
}
