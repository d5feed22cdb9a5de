//! The built-in model: no key, no network, plain sentences.
//!
//! It is a function of the history alone. The sentences of the prompt become tasks; the results in
//! the history tell how many of the tool tasks are done.

use std::collections::VecDeque;
use std::time::Duration;

use futures_util::{StreamExt, future, stream};
use serde_json::{Value, json};

use super::telling::{ABILITIES, intention, told};
use super::tokens::tokens;
use super::{Message, ModelError, Part, Parts, Provider, Request, Sentence, ToolCall, parse};

/// The highest number that is counted to. Its text stays below what a `done` may carry.
const COUNT_MAX: u64 = 1_000_000;

/// The model's ids. Only the first reasons without being told to.
const MODELS: [&str; 2] = ["builtin-reasoning", "builtin-non-reasoning"];

/// See the module.
#[derive(Clone, Copy, Debug, Default)]
pub struct Builtin;

impl Provider for Builtin {
    fn models(&self) -> &[&'static str] {
        &MODELS
    }

    fn step(&self, request: Request) -> Parts {
        let acts = plan(&request).into_iter().map(move |act| act.play(request.reasoning));
        stream::iter(acts).flatten().boxed()
    }
}

/// A stretch of a step.
enum Act {
    Think(String),
    Say(String),
    Count(u64),
    /// Seconds, and whether it is told afterwards.
    Wait(u64, bool),
    Call(ToolCall),
    Fail,
}

impl Act {
    fn play(self, reasoning: bool) -> Parts {
        match self {
            Self::Think(_) if !reasoning => stream::empty().boxed(),
            Self::Think(text) => pieces(text, Part::Reasoning),
            Self::Say(text) => pieces(text, Part::Text),
            Self::Count(to) => {
                let numbers = (1..=to.clamp(1, COUNT_MAX))
                    .map(|n| Ok(Part::Text(if n == 1 { n.to_string() } else { format!(" {n}") })));
                stream::iter(numbers).boxed()
            }
            Self::Wait(seconds, told) => stream::once(async move {
                tokio::time::sleep(Duration::from_secs(seconds)).await;
                told.then(|| Ok(Part::Text(format!("I have waited {seconds} seconds.\n"))))
            })
            .filter_map(future::ready)
            .boxed(),
            Self::Call(call) => stream::iter([Ok(Part::Call(call))]).boxed(),
            Self::Fail => {
                let message = "The built-in model was told to fail.".to_owned();
                stream::iter([Err(ModelError { message, status: 502 })]).boxed()
            }
        }
    }
}

fn pieces(text: String, part: fn(String) -> Part) -> Parts {
    let pieces: Vec<_> = tokens(&text).map(|t| Ok(part(t.to_owned()))).collect();
    stream::iter(pieces).boxed()
}

/// What the next step is made of.
fn plan(request: &Request) -> VecDeque<Act> {
    let prompt = request.history.iter().find_map(|message| match message {
        Message::User(text) => Some(newest(text)),
        _ => None,
    });
    let results: Vec<&str> = request
        .history
        .iter()
        .filter_map(|message| match message {
            Message::Tool { output, .. } => Some(output.as_str()),
            _ => None,
        })
        .collect();
    Tasks::new(parse(prompt.unwrap_or_default())).step(&results)
}

/// The prompt's sentences, in the order in which they are done: what is said before the first tool,
/// the tools in one streak (waits among them stay where they are), and the rest.
struct Tasks {
    before: Vec<Sentence>,
    tools: Vec<Sentence>,
    after: Vec<Sentence>,
}

impl Tasks {
    fn new(sentences: Vec<Sentence>) -> Self {
        let mut tasks = Self { before: Vec::new(), tools: Vec::new(), after: Vec::new() };
        for sentence in sentences {
            let last = matches!(sentence, Sentence::Fail);
            if call(&sentence).is_some() {
                tasks.tools.push(sentence);
            } else if tasks.tools.is_empty() {
                tasks.before.push(sentence);
            } else if matches!(sentence, Sentence::Wait(_)) {
                tasks.tools.push(sentence);
            } else {
                tasks.after.push(sentence);
            }
            if last {
                break;
            }
        }
        tasks
    }

    fn step(&self, results: &[&str]) -> VecDeque<Act> {
        let mut acts = VecDeque::new();
        if results.is_empty() {
            for sentence in &self.before {
                speak(sentence, &mut acts);
            }
            self.reason(&mut acts);
        }
        let mut done = 0;
        for sentence in &self.tools {
            let Some((name, args)) = call(sentence) else {
                // Silent between two tools, so that the streak is not broken.
                if done == results.len()
                    && let Sentence::Wait(seconds) = sentence
                {
                    acts.push_back(Act::Wait(*seconds, false));
                }
                continue;
            };
            done += 1;
            if done > results.len() {
                let id = format!("call_{done}");
                let call = ToolCall { id, name: name.to_owned(), args: args.to_string() };
                acts.push_back(Act::Call(call));
                return acts;
            }
        }
        let asked = self.tools.iter().filter(|s| call(s).is_some());
        for (sentence, output) in asked.zip(results) {
            acts.push_back(Act::Say(told(sentence, output)));
        }
        for sentence in &self.after {
            speak(sentence, &mut acts);
        }
        acts
    }

    /// Before the first tool: what is going to be done.
    fn reason(&self, acts: &mut VecDeque<Act>) {
        let steps: Vec<_> =
            self.tools.iter().filter(|s| call(s).is_some()).map(intention).collect();
        if !steps.is_empty() {
            acts.push_back(Act::Think(format!("I am to {}.", steps.join(", then "))));
        }
    }
}

fn speak(sentence: &Sentence, acts: &mut VecDeque<Act>) {
    match sentence {
        Sentence::Say(text) => acts.push_back(Act::Say(text.clone())),
        Sentence::Count(to) => acts.push_back(Act::Count(*to)),
        Sentence::Wait(seconds) => acts.push_back(Act::Wait(*seconds, true)),
        Sentence::Think(what) => {
            let thought = format!("Let me think about {what}. What is it, and who asks?");
            acts.push_back(Act::Think(thought));
            acts.push_back(Act::Say(format!("I have thought about {what}.\n")));
        }
        Sentence::Fail => {
            acts.push_back(Act::Say("This is going to fail.\n".to_owned()));
            acts.push_back(Act::Fail);
        }
        // Once in a row is enough, however many sentences are none.
        _ if matches!(acts.back(), Some(Act::Say(said)) if said == ABILITIES) => {}
        _ => acts.push_back(Act::Say(ABILITIES.to_owned())),
    }
}

/// The tool that a sentence asks for, with its arguments.
fn call(sentence: &Sentence) -> Option<(&'static str, Value)> {
    Some(match sentence {
        Sentence::List(path) => ("list_dir", json!({ "path": path })),
        Sentence::Read(path) => ("read_file", json!({ "path": path })),
        Sentence::Find(word) => ("find", json!({ "word": word })),
        Sentence::Pwd => ("pwd", json!({})),
        Sentence::Cd(path) => ("change_dir", json!({ "path": path })),
        Sentence::Write { text, path } => ("write_file", json!({ "path": path, "text": text })),
        Sentence::Replace { old, new, path } => {
            ("str_replace", json!({ "path": path, "old": old, "new": new }))
        }
        Sentence::Run(command) => ("exec", json!({ "command": command })),
        Sentence::Fetch(url) => ("http_get", json!({ "url": url })),
        _ => return None,
    })
}

/// The newest message of a prompt that a host folded its history into (`agent` 9): between the
/// last `User: ` and the `Assistant:` that the prompt ends with.
fn newest(prompt: &str) -> &str {
    let folded = prompt.trim_end().strip_suffix("\n\nAssistant:");
    folded.and_then(|text| text.rsplit_once("\n\nUser: ")).map_or(prompt, |(_, newest)| newest)
}
