//! What the tools do to real files, processes and sockets of this machine.

use std::fs;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::thread;

use serde_json::Value;

use crate::server::{Server, of};

/// The one tool result of a prompt.
fn result(server: &Server, prompt: &str) -> Value {
    let events = server.events(prompt);
    let results: Vec<_> = of(&events, "tool_result").collect();
    assert_eq!(results.len(), 1, "{events:?}");
    results[0].clone()
}

fn summary(server: &Server, prompt: &str) -> String {
    result(server, prompt)["summary"].as_str().unwrap().to_owned()
}

#[test]
fn files_are_written_and_changed() {
    let server = Server::start(&[]);
    assert_eq!(
        summary(&server, "write Olá to new/deep/a.txt"),
        "write_file · ✓ ok · new/deep/a.txt · 4 B written"
    );
    assert_eq!(fs::read_to_string(server.workspace().join("new/deep/a.txt")).unwrap(), "Olá");
    summary(&server, "write a a b a to x.txt");
    assert_eq!(
        summary(&server, "replace a with cc in x.txt"),
        "str_replace · ✓ ok · x.txt · 3 replacements · 10 B"
    );
    assert_eq!(fs::read_to_string(server.workspace().join("x.txt")).unwrap(), "cc cc b cc");
    summary(&server, "write short to x.txt");
    assert_eq!(fs::read_to_string(server.workspace().join("x.txt")).unwrap(), "short");
    for prompt in ["replace z with y in x.txt", "read none", "list x.txt", "cd x.txt", "read new"] {
        assert_eq!(result(&server, prompt)["ok"], false, "{prompt}");
    }
}

#[test]
fn what_is_too_long_is_marked() {
    let server = Server::start(&[]);
    server.write("long.txt", &"é".repeat(400_000));
    let text = summary(&server, "read long.txt");
    assert!(text.starts_with("read_file · ✓ ok · long.txt truncated · cwd=. · "), "{text}");
    fs::write(server.workspace().join("binary"), b"\xff\x00").unwrap();
    assert_eq!(result(&server, "read binary")["ok"], false);
    for n in 0..300 {
        server.write(&format!("many/{n}.txt"), "needle");
    }
    let text = summary(&server, "find needle");
    assert!(text.contains("find needle: 200 matches (truncated)"), "{text}");
}

#[test]
fn commands_need_the_flag() {
    let server = Server::start(&[]);
    let refused = result(&server, "run touch made");
    assert_eq!(refused["ok"], false);
    assert!(refused["summary"].as_str().unwrap().contains("--allow-exec"));
    assert!(!server.workspace().join("made").exists());
}

#[test]
fn commands_run_in_the_folder_without_the_servers_environment() {
    let server = Server::with_env(&["--allow-exec"], &[("SECRET_OF_THE_SERVER", "hunter2")]);
    server.write("src/a.txt", "a");
    let ran = server.events("cd src, then run ls; echo oops >&2; exit 3");
    let ran = of(&ran, "tool_result").last().unwrap().clone();
    assert_eq!(
        ran["preview"],
        "exec ls; echo oops >&2; exit 3\nexit=3\nstdout:\na.txt\nstderr:\noops"
    );
    let environment = result(&server, "run echo \"[$SECRET_OF_THE_SERVER]\"; echo ${PATH:+set}");
    assert!(
        environment["preview"].as_str().unwrap().ends_with("stdout:\n[]\nset"),
        "{environment}"
    );

    let long = result(&server, "run yes | head -c 1000000");
    assert!(long["preview"].as_str().unwrap().contains("more bytes)"), "{}", long["summary"]);
}

#[test]
fn what_a_command_leaves_running_ends_with_it() {
    let server = Server::start(&["--allow-exec"]);
    let ran = result(&server, "run sleep 600 & echo $! > pid; echo done");
    assert_eq!(ran["ok"], true);
    let pid = fs::read_to_string(server.workspace().join("pid")).unwrap();
    crate::server::eventually("the process is gone", || !crate::endings::runs(pid.trim()));
}

#[cfg(target_os = "linux")]
#[test]
fn what_leaves_the_process_group_of_a_command_ends_with_it() {
    let server = Server::start(&["--allow-exec"]);
    let pid = || fs::read_to_string(server.workspace().join("pid")).unwrap_or_default();
    let ran = result(&server, "run setsid sleep 600 & echo $! > pid; setsid sleep 600 & echo done");
    assert_eq!(ran["ok"], true);
    crate::server::eventually("it is gone", || !crate::endings::runs(pid().trim()));

    let prompt = "run (setsid sh -c 'echo $$ > pid; exec sleep 600' &); sleep 600";
    fs::remove_file(server.workspace().join("pid")).unwrap();
    let hung_up = server.open(&crate::server::Request::prompt(prompt).stream());
    crate::server::eventually("it runs", || pid().ends_with('\n'));
    drop(hung_up);
    crate::server::eventually("it is gone, too", || !crate::endings::runs(pid().trim()));
}

/// Answers one request with `answer` and gives the port.
fn answering(answer: &'static str) -> (u16, thread::JoinHandle<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let thread = thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut request = Vec::new();
        while !request.ends_with(b"\r\n\r\n") {
            let mut byte = [0];
            stream.read_exact(&mut byte).unwrap();
            request.push(byte[0]);
        }
        stream.write_all(answer.as_bytes()).unwrap();
        String::from_utf8(request).unwrap()
    });
    (port, thread)
}

#[test]
fn urls_of_this_machine_are_fetched() {
    let server = Server::start(&[]);
    let (port, seen) = answering("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nbody");
    let text = summary(&server, &format!("fetch http://localhost:{port}/a?b=c"));
    assert_eq!(text, format!("http_get · ✓ ok · http://localhost:{port}/a?b=c → 200 · 4 B"));
    let request = seen.join().unwrap();
    assert!(request.starts_with("GET /a?b=c HTTP/1.1\r\n"), "{request}");
    assert!(request.contains(&format!("host: localhost:{port}\r\n")), "{request}");
}

#[test]
fn redirects_are_shown_and_not_followed() {
    let server = Server::start(&[]);
    let elsewhere = TcpListener::bind("127.0.0.1:0").unwrap();
    elsewhere.set_nonblocking(true).unwrap();
    let location = elsewhere.local_addr().unwrap();
    let answer =
        format!("HTTP/1.1 302 Found\r\nLocation: http://{location}/\r\nContent-Length: 0\r\n\r\n");
    let (port, seen) = answering(answer.leak());
    let text = summary(&server, &format!("fetch http://127.0.0.1:{port}/"));
    assert!(text.contains("→ 302 redirect"), "{text}");
    seen.join().unwrap();
    assert!(elsewhere.accept().is_err(), "nobody came");
}

#[test]
fn urls_of_other_machines_are_refused() {
    let server = Server::start(&[]);
    let urls = [
        "http://192.0.2.1/",
        "http://0.0.0.0:80/",
        "http://[::ffff:192.0.2.1]/",
        "http://169.254.169.254/latest",
        "https://127.0.0.1/",
        "file:///etc/passwd",
        "http://user@127.0.0.1/",
        "127.0.0.1:80",
        "http://[::127.0.0.1]/",
        "http://0/",
        "http://127.0.0.1:99999/",
        "http://127.0.0.1:-1/",
        "http://127.0.0.1:0/",
    ];
    for url in urls {
        let refused = result(&server, &format!("fetch {url}"));
        assert_eq!(refused["ok"], false, "{url}");
        let text = refused["summary"].as_str().unwrap();
        assert!(
            !text.contains("TIMED_OUT")
                && !text.contains("connection")
                && !text.contains("refused:"),
            "{text}"
        );
    }
}
