//! Many turns at once.

use std::sync::Barrier;
use std::thread;

use serde_json::json;

use crate::server::{Request, Server, joined, of, shape};

#[test]
fn fifty_turns_at_once_are_each_complete_and_in_order() {
    let server = Server::start(&["--allow-exec"]);
    server.write("a.txt", "alpha");
    let barrier = Barrier::new(50);
    thread::scope(|scope| {
        for n in 0..50 {
            let (server, barrier) = (&server, &barrier);
            scope.spawn(move || {
                let prompt = format!(
                    "list ., then run echo number {n}, then write {n} to out/{n}.txt, \
                     then read out/{n}.txt, then count to {}",
                    100 + n
                );
                let request = Request::prompt(&prompt);
                barrier.wait();
                if n % 5 == 0 {
                    let whole = server.send(&request).json();
                    assert_eq!(whole["toolTrace"].as_array().unwrap().len(), 4);
                    assert!(whole["text"].as_str().unwrap().ends_with(&(100 + n).to_string()));
                    return;
                }
                let events = server.send(&request.stream()).events();
                let mut expected = vec!["reasoning_delta"];
                expected.extend(["tool_start", "tool_result"].repeat(4));
                expected.extend(["text_delta", "done"]);
                assert_eq!(shape(&events), expected);
                let names: Vec<_> = of(&events, "tool_result").map(|e| e["name"].clone()).collect();
                assert_eq!(
                    names,
                    ["list_dir", "exec", "write_file", "read_file"].map(|n| json!(n))
                );
                assert!(of(&events, "tool_result").all(|e| e["ok"] == true), "{events:?}");
                let text = joined(&events, "text_delta");
                let numbers: Vec<_> = (1..=100 + n).map(|n: u32| n.to_string()).collect();
                assert!(text.ends_with(&numbers.join(" ")), "{text}");
                assert!(text.contains(&format!("number {n}\n")), "{text}");
                assert_eq!(events.last().unwrap()["text"], text);
            });
        }
    });
}
