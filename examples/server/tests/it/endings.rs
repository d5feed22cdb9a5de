//! Turns that end early: the client hangs up, or the server is told to stop.

use std::fs;
use std::net::TcpStream;

use rustix::process::Signal;

use crate::server::{Connection, Request, Server, eventually, joined, of, shape};

/// A command that notes its own number and that of a child, and then runs for a long time.
const LONG: &str = "run sleep 600 & echo $! > child; echo $$ > leader; wait; touch finished";

/// Whether a process runs; one that is dead and not reaped does not.
pub fn runs(pid: &str) -> bool {
    let status = fs::read_to_string(format!("/proc/{pid}/stat"));
    status.is_ok_and(|text| text.rsplit_once(") ").is_some_and(|(_, rest)| !rest.starts_with('Z')))
}

/// Starts [`LONG`] and gives its two numbers once both run.
fn running(server: &Server, request: &Request) -> (Connection, [String; 2]) {
    let connection = server.open(request);
    let read = |name: &str| fs::read_to_string(server.workspace().join(name)).unwrap_or_default();
    eventually("the command runs", || {
        read("leader").ends_with('\n') && read("child").ends_with('\n')
    });
    let pids = ["leader", "child"].map(|name| read(name).trim().to_owned());
    assert!(pids.iter().all(|pid| runs(pid)));
    (connection, pids)
}

fn gone(server: &Server, pids: &[String; 2]) {
    eventually("the processes are gone", || !pids.iter().any(|pid| runs(pid)));
    assert!(!server.workspace().join("finished").exists());
}

/// The turn was ended for want of a reader, and its tool with it: neither came to its own end.
fn hung_up(server: &Server) {
    eventually("the turn is ended", || server.log().contains("turn ended"));
    let log = server.log();
    assert!(log.contains("outcome=\"hung up\"") && !log.contains("tool ended"), "{log}");
}

#[test]
fn a_hang_up_ends_the_running_tool_of_a_stream() {
    let server = Server::start(&["--allow-exec", "--max-turns", "1"]);
    let (mut connection, pids) = running(&server, &Request::prompt(LONG).stream());
    connection.read_until("tool_start");
    drop(connection);
    gone(&server, &pids);
    hung_up(&server);
    eventually("the place is free", || server.ask("say hi").status == 200);
}

#[test]
fn a_hang_up_ends_the_running_tool_of_a_json_answer() {
    let server = Server::start(&["--allow-exec", "--max-turns", "1"]);
    let (connection, pids) = running(&server, &Request::prompt(LONG));
    drop(connection);
    gone(&server, &pids);
    hung_up(&server);
    eventually("the place is free", || server.ask("say hi").status == 200);
}

#[test]
fn a_hang_up_ends_a_turn_that_waits_for_its_reader() {
    let server = Server::start(&["--max-turns", "1"]);
    let mut connection = server.open(&Request::prompt("count to 1000000").stream());
    connection.read_until("text_delta");
    assert_eq!(server.ask("say hi").status, 429, "it runs while nobody reads");
    drop(connection);
    hung_up(&server);
    eventually("the place is free", || server.ask("say hi").status == 200);
}

#[test]
fn a_whole_answer_that_nobody_takes_keeps_its_place() {
    let server = Server::start(&["--max-turns", "1"]);
    let connection = server.open(&Request::prompt("count to 1000000"));
    eventually("the turn is ended", || server.log().contains("turn ended"));
    assert_eq!(server.ask("say hi").status, 429);
    let whole = connection.read();
    assert!(whole.json()["text"].as_str().unwrap().ends_with(" 1000000"));
    eventually("the place is free", || server.ask("say hi").status == 200);
}

#[test]
fn a_running_turn_gets_a_legal_ending_when_the_server_stops() {
    for signal in [Signal::TERM, Signal::INT] {
        let mut server = Server::start(&["--allow-exec"]);
        let (mut stream, pids) = running(&server, &Request::prompt(LONG).stream());
        stream.read_until("tool_start");
        let mut waiting = server.open(&Request::prompt("say hi, then wait 600 seconds").stream());
        waiting.read_until("text_delta");
        let json = server.open(&Request::prompt("run touch third; sleep 600"));
        eventually("the third turn runs", || server.workspace().join("third").exists());
        server.signal(signal);

        let events = waiting.read().events();
        assert_eq!(shape(&events), ["text_delta", "error"]);
        assert_eq!(joined(&events, "text_delta"), "hi");
        assert_eq!(shape(&stream.read().events()).last(), Some(&"error"));
        let whole = json.read();
        assert_eq!(whole.status, 503);
        whole.refusal();
        assert!(server.wait().success());
        gone(&server, &pids);
    }
}

#[test]
fn a_turn_that_ends_in_time_is_finished_when_the_server_stops() {
    let mut server = Server::start(&["--allow-exec"]);
    let prompt = "run touch started; while [ ! -e go ]; do sleep 0.02; done; echo went";
    let connection = server.open(&Request::prompt(prompt).stream());
    eventually("the command runs", || server.workspace().join("started").exists());
    server.signal(Signal::TERM);
    eventually("no one else is let in", || TcpStream::connect(server.address).is_err());
    server.write("go", "");
    let events = connection.read().events();
    assert_eq!(of(&events, "done").count(), 1);
    assert!(events.last().unwrap()["text"].as_str().unwrap().contains("went"));
    assert!(server.wait().success());
}

#[test]
fn a_connection_without_a_request_does_not_hold_the_server_up() {
    let mut server = Server::start(&[]);
    let idle = TcpStream::connect(server.address).unwrap();
    let mut half = TcpStream::connect(server.address).unwrap();
    std::io::Write::write_all(&mut half, b"POST /api/agent HTTP/1.1\r\nHost:").unwrap();
    // Accepted in order: once this one is answered, the two are.
    assert_eq!(server.ask("say hi").status, 200);
    server.signal(Signal::TERM);
    assert!(server.wait().success());
    drop((idle, half));
}
