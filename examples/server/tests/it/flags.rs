//! The command line.

use std::fs;
use std::io::{BufRead, BufReader};
use std::process::Stdio;

use crate::server::{Request, command, shape};

fn refused(flags: &[&str], named: &str) {
    let output = command().args(flags).output().unwrap();
    let text = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{flags:?}: {text}");
    assert!(text.contains(named), "{flags:?}: {text}");
    assert!(output.stdout.is_empty(), "{flags:?}");
}

#[test]
fn a_mistake_is_named_and_ends_with_status_2() {
    refused(&["--verbose"], "--verbose");
    refused(&["--port", "70000"], "--port");
    refused(&["--port"], "--port");
    refused(&["--max-turns", "0"], "--max-turns");
    refused(&["--max-body-bytes", "many"], "--max-body-bytes");
    refused(&["--store", "sqlite"], "memory");
    refused(&["--token", ""], "--token");
    refused(&["--allow-origin", "http://a.test/path"], "--allow-origin");
    refused(&["--port", "0", "--workspace", "/does/not/exist"], "--workspace");
    refused(&["--port", "0", "--host", "192.0.2.1", "--workspace", "."], "--host");
}

#[test]
fn help_names_every_flag() {
    let output = command().arg("--help").output().unwrap();
    assert!(output.status.success());
    let text = String::from_utf8(output.stdout).unwrap();
    for flag in [
        "--host",
        "--port",
        "--data-dir",
        "--workspace",
        "--store",
        "--token",
        "--allow-origin",
        "--allow-exec",
        "--auto-approve",
        "--max-turns",
        "--max-readers",
        "--max-body-bytes",
        "SANDBOX_DEFAULT_CWD",
        "AGENT_REASONING",
    ] {
        assert!(text.contains(flag), "{flag}");
    }
}

#[test]
fn a_server_whose_output_nobody_reads_serves() {
    let workspace = tempfile::tempdir().unwrap();
    let mut child = command()
        .args(["--port", "0", "--workspace"])
        .arg(workspace.path())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stderr.take());
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let address = line.trim_end().strip_prefix("listening on http://").unwrap();
    let response = Request::prompt("say hi").stream().send_to(address.parse().unwrap());
    child.kill().unwrap();
    child.wait().unwrap();
    let events = response.events();
    assert_eq!(shape(&events), ["text_delta", "done"]);
}

#[test]
fn without_a_workspace_there_is_a_sample_that_stays() {
    let data = tempfile::tempdir().unwrap();
    let readme = data.path().join("scratch/README.md");
    for text in ["A small sample project", "changed by hand"] {
        let mut child = command()
            .args(["--port", "0", "--token", "hunter2", "--data-dir"])
            .arg(data.path())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let url = line.trim_end().strip_prefix("listening on ").unwrap().to_owned();
        assert!(fs::read_to_string(&readme).unwrap().contains(text));
        fs::write(&readme, "changed by hand").unwrap();

        // The line to copy names the address and never the token.
        let mut log = BufReader::new(child.stderr.take().unwrap()).lines().map(Result::unwrap);
        let seen: Vec<_> = log.by_ref().take_while(|line| !line.contains("curl")).collect();
        assert!(!seen.iter().any(|line| line.contains("hunter2")), "{seen:?}");
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(url.starts_with("http://127.0.0.1:"));
    }
}

#[test]
fn the_line_to_copy_works_in_a_shell() {
    let data = tempfile::tempdir().unwrap();
    let mut child = command()
        .args(["--port", "0", "--token", "hunter2", "--data-dir"])
        .arg(data.path())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut log = BufReader::new(child.stderr.take().unwrap()).lines().map(Result::unwrap);
    let line = log.find(|line| line.contains("curl -N")).unwrap();
    assert!(line.contains("/api/agent") && !line.contains("hunter2"), "{line}");
    let mut shell = std::process::Command::new("sh");
    let output = shell.args(["-c", line.trim()]).env("TOKEN", "hunter2").output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(text.contains("\"type\":\"tool_start\"") && text.contains("cities.csv"), "{text}");
    assert!(text.trim_end().lines().last().unwrap().contains("\"type\":\"done\""), "{text}");
}
