//! A slow and obvious fold for `agent`'s events: a list of rows, nothing bounded or incremental.

use serde_json::Value;
use turnwire::host::Failure;

#[derive(Default)]
pub struct Reference {
    rows: Vec<(&'static str, Body)>,
    turn: Option<Turn>,
}

enum Body {
    Text(String),
    Card(Vec<(String, &'static str, String)>),
}

#[derive(Default)]
struct Turn {
    /// Text that counts, in the order in which it came; `None` marks where a bubble begins.
    said: Vec<(usize, String)>,
    bubbles: usize,
    bubble_open: bool,
    thinking_open: bool,
    card_open: bool,
    held: String,
    lead: String,
}

impl Reference {
    pub fn rows(&self) -> Vec<(String, String)> {
        let text = |body: &Body| match body {
            Body::Text(text) => text.clone(),
            Body::Card(items) => {
                let count = |s: &str| items.iter().filter(|item| item.1 == s).count();
                let mut out =
                    format!("toolrun\t1\t{}/{}/{}", count("ok"), count("fail"), count("running"));
                for (n, (name, status, brief)) in items.iter().enumerate() {
                    let brief = brief.replace('\\', "\\\\");
                    out += &format!("\n{}\t{status}\t{name}\t{brief}\t", n + 1);
                }
                out
            }
        };
        self.rows.iter().map(|(kind, body)| ((*kind).to_owned(), text(body))).collect()
    }

    fn push(&mut self, kind: &'static str, text: &str) {
        self.rows.push((kind, Body::Text(text.to_owned())));
    }

    fn last_text(&mut self) -> &mut String {
        match &mut self.rows.last_mut().unwrap().1 {
            Body::Text(text) => text,
            Body::Card(_) => panic!("the newest row is a card"),
        }
    }

    pub fn submit(&mut self, prompt: &str) {
        if self.turn.is_none() {
            self.push("user", prompt);
            self.turn = Some(Turn::default());
        }
    }

    pub fn stop(&mut self) {
        if self.turn.take().is_some() {
            self.push("system", "Turn ended · you stopped");
        }
    }

    pub fn eof(&mut self) {
        if self.turn.is_some() {
            self.done("");
        }
    }

    pub fn event(&mut self, event: &Value) {
        let kind = event["type"].as_str().unwrap();
        if kind == "unknown" {
            return;
        }
        if self.turn.is_none() {
            // After an end all is late; before the first turn a stream may begin in the middle.
            if self
                .rows
                .iter()
                .any(|row| matches!(&row.1, Body::Text(t) if t.starts_with("Turn ended")))
            {
                return;
            }
            self.turn = Some(Turn::default());
        }
        let text = |key: &str| event[key].as_str().unwrap_or_default().to_owned();
        match kind {
            "text_delta" => self.text(&text("text")),
            "reasoning_delta" => self.reasoning(&text("text")),
            "tool_start" => self.tool(&text("name"), None),
            "tool_result" => {
                self.tool(&text("name"), Some((event["ok"] == true, text("summary"))));
            }
            "error" => {
                self.turn = None;
                let (kind, line) = Failure::new(text("message")).classify().line();
                self.push(kind.as_str(), &line);
            }
            "done" => self.done(&text("text")),
            other => panic!("no reference for {other}"),
        }
    }

    fn text(&mut self, text: &str) {
        let turn = self.turn.as_mut().unwrap();
        if turn.bubble_open {
            turn.said.last_mut().unwrap().1 += text;
            *self.last_text() += text;
        } else if text.trim().is_empty() {
            let waits = if turn.bubbles == 0 { &mut turn.lead } else { &mut turn.held };
            *waits += text;
        } else {
            let text = std::mem::take(&mut turn.held) + text;
            turn.bubbles += 1;
            turn.bubble_open = true;
            turn.thinking_open = false;
            turn.card_open = false;
            turn.said.push((self.rows.len(), text.clone()));
            self.push("assistant", &text);
        }
    }

    fn reasoning(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        let turn = self.turn.as_mut().unwrap();
        if turn.thinking_open {
            *self.last_text() += text;
        } else {
            turn.thinking_open = true;
            turn.bubble_open = false;
            turn.card_open = false;
            self.push("thinking", text);
        }
    }

    fn tool(&mut self, name: &str, result: Option<(bool, String)>) {
        let turn = self.turn.as_mut().unwrap();
        if !turn.card_open {
            self.rows.push(("tool_run", Body::Card(Vec::new())));
        }
        turn.card_open = true;
        turn.thinking_open = false;
        turn.bubble_open = false;
        let Body::Card(items) = &mut self.rows.last_mut().unwrap().1 else { panic!("no card") };
        let Some((ok, summary)) = result else {
            items.push((name.to_owned(), "running", format!("{name} · running…")));
            return;
        };
        let status = if ok { "ok" } else { "fail" };
        let word = if ok { "ok" } else { "failed" };
        let line = summary.split_whitespace().collect::<Vec<_>>().join(" ");
        let brief = if line.is_empty() { format!("{name} · {word}") } else { line };
        let item = (name.to_owned(), status, brief);
        match items.iter_mut().rev().find(|item| item.0 == name && item.1 == "running") {
            Some(running) => *running = item,
            None => items.push(item),
        }
    }

    fn done(&mut self, given: &str) {
        let turn = self.turn.take().unwrap();
        let all = turn.lead.clone() + &turn.said.iter().map(|s| s.1.as_str()).collect::<String>();
        let text = if given.trim().is_empty() { all.trim() } else { given.trim() };
        if text.is_empty() {
            return self.push("error", "Turn ended · empty model response");
        }
        let earlier: String =
            turn.said.iter().take(turn.said.len().max(1) - 1).map(|s| s.1.as_str()).collect();
        if turn.said.is_empty() {
            self.push("assistant", text);
        } else if turn.bubble_open {
            let rest = if turn.said.len() == 1 {
                Some(text)
            } else {
                text.strip_prefix(earlier.trim_start())
            };
            if let Some(rest) = rest.filter(|rest| !rest.trim().is_empty()) {
                let row = turn.said.last().unwrap().0;
                self.rows[row].1 = Body::Text(rest.to_owned());
            }
        } else if all.trim() != text {
            let rest = text.strip_prefix(all.trim_start()).unwrap_or(text);
            self.push("assistant", rest.trim_start());
        }
        self.push("system", "Turn ended · model finished");
    }
}
