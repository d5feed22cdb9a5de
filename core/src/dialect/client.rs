//! What a host sends over HTTP, and how it reads an answer that is no stream.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::error::{CallerError, Code};
use crate::event::{Channel, Decision, PlanResolved, TraceEntry};
use crate::request::EVENT_STREAM;
use crate::wire::json::{ObjectWriter, RawJson, read_object};

/// The media type of bodies and of answers that are no stream.
const JSON: &str = "application/json";

/// What a request is about.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct Ask<'a> {
    /// Goes in front of every path.
    pub base_path: &'a str,
    /// The workspace, where paths name one.
    pub workspace_id: &'a str,
    /// The session, where paths name one.
    pub session_id: &'a str,
    /// The user's text, as it is to be sent.
    pub prompt: &'a str,
    /// The model to use; blank leaves it to the server.
    pub model_id: &'a str,
    /// The working directory; blank leaves it to the server.
    pub cwd: &'a str,
    /// The host's own id of the message, so that it knows it again.
    pub client_id: Option<&'a str>,
    /// Where to go on in a stream.
    pub last_event_id: Option<&'a str>,
    /// More fields of the body: name and JSON text.
    pub fields: &'a [(String, String)],
    /// The question that is answered.
    pub question_id: &'a str,
    /// The answers to it; none to leave it unanswered.
    pub answers: &'a [crate::event::Answer<'a>],
    /// The approval that is settled, in the place of a question.
    pub approval: Option<(&'a str, Decision)>,
    /// How a plan is settled, in the place of a question.
    pub plan: Option<&'a PlanResolved<'a>>,
}

/// What a request is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(clippy::exhaustive_enums, reason = "the roles of the design's `request` op")]
pub enum Role {
    /// Starts a turn.
    Turn,
    /// Watches a session.
    Watch,
    /// Settles a question, an approval or a plan.
    Answer,
    /// Stops a turn.
    Cancel,
    /// Loads a session.
    Load,
}

impl Role {
    /// The word in JSON.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Turn => "turn",
            Self::Watch => "watch",
            Self::Answer => "answer",
            Self::Cancel => "cancel",
            Self::Load => "load",
        }
    }
}

/// An HTTP request, complete but for the host's address.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct HttpCall {
    /// The channel that its answer is.
    pub channel: Channel,
    /// The method.
    pub method: &'static str,
    /// The path.
    pub path: String,
    /// Headers with lower-case names.
    pub headers: Vec<(&'static str, String)>,
    /// The body.
    pub body: Option<String>,
}

/// An answer that is no stream.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Answer {
    /// The whole turn at once.
    Whole {
        /// The answer's text.
        text: String,
        /// The tools of the turn, in order.
        trace: Vec<TraceEntry<'static>>,
        /// The working directory, where file tools ran.
        cwd: Option<String>,
    },
    /// The turn was started and is watched elsewhere.
    Started {
        /// The turn, where the answer names it.
        turn_id: Option<String>,
    },
    /// The server refused.
    Refused {
        /// Why, for people.
        message: String,
        /// Why, as a code.
        code: Option<String>,
    },
}

/// Writes the fields of a body.
type BodyOf = fn(&Ask<'_>, &mut ObjectWriter<'_>);

/// The requests of one dialect; its file holds the one value.
pub(super) struct ClientSpec {
    /// Where a turn is started, with `{ws}` and `{session}` to be filled in.
    pub(super) turn: &'static str,
    /// Where a session is watched.
    pub(super) watch: Option<&'static str>,
    /// Where a turn is stopped.
    pub(super) cancel: Option<&'static str>,
    /// Where a question is answered.
    pub(super) answer: Option<&'static str>,
    /// Where an approval is settled.
    pub(super) approval: Option<&'static str>,
    /// Where a plan is approved, and where it is rejected.
    pub(super) plan: Option<[&'static str; 2]>,
    /// Where a session is loaded.
    pub(super) load: Option<&'static str>,
    /// The media type that the answer to a turn is asked for in.
    pub(super) turn_accept: &'static str,
    /// The prompt is the whole conversation as text (design, Prompts).
    pub(super) folds_history: bool,
    /// Writes the body that starts a turn.
    pub(super) turn_body: BodyOf,
    /// Writes the body that settles a question, an approval or a plan.
    pub(super) answer_body: BodyOf,
    /// Writes the body that stops a turn.
    pub(super) cancel_body: BodyOf,
    /// Reads a good answer that is no stream.
    pub(super) read: fn(&str) -> Option<Answer>,
    /// What a refusal without words says, where the dialect has a sentence for the status.
    pub(super) refusal: fn(u16) -> Option<&'static str>,
}

impl ClientSpec {
    /// Starts turns with an empty body and does nothing else.
    pub(super) const fn new(turn: &'static str) -> Self {
        Self {
            turn,
            watch: None,
            cancel: None,
            answer: None,
            approval: None,
            plan: None,
            load: None,
            turn_accept: JSON,
            folds_history: false,
            turn_body: |_, _| {},
            answer_body: |_, _| {},
            cancel_body: |_, _| {},
            read: |_| None,
            refusal: |_| None,
        }
    }

    pub(super) fn call(&self, role: Role, ask: &Ask<'_>) -> Result<HttpCall, CallerError> {
        let path = match role {
            Role::Turn => Some(self.turn),
            Role::Watch => self.watch,
            Role::Cancel => self.cancel,
            Role::Answer => self.settle(ask),
            Role::Load => self.load,
        };
        let path = path.ok_or_else(|| CallerError::new(Code::NoRoute).with(role.as_str()))?;
        let reads = matches!(role, Role::Watch | Role::Load);
        let mut call = HttpCall {
            channel: if role == Role::Watch { Channel::Events } else { Channel::Turn },
            method: if reads { "GET" } else { "POST" },
            path: fill(path, ask),
            headers: Vec::new(),
            body: None,
        };
        let accept = match role {
            Role::Turn => self.turn_accept,
            Role::Watch => EVENT_STREAM,
            Role::Answer | Role::Cancel | Role::Load => JSON,
        };
        call.headers.push(("accept", String::from(accept)));
        if role == Role::Watch
            && let Some(id) = ask.last_event_id.filter(|id| !id.is_empty())
        {
            call.headers.push(("last-event-id", String::from(id)));
        }
        if reads {
            return Ok(call);
        }
        call.headers.push(("content-type", String::from(JSON)));
        let mut body = Vec::new();
        let mut object = ObjectWriter::begin(&mut body);
        match role {
            Role::Turn => (self.turn_body)(ask, &mut object),
            Role::Answer => (self.answer_body)(ask, &mut object),
            Role::Cancel => (self.cancel_body)(ask, &mut object),
            Role::Watch | Role::Load => {}
        }
        if role == Role::Turn {
            for (name, json) in ask.fields {
                let Ok(json) = RawJson::check(json) else {
                    return Err(CallerError::new(Code::BadJson).with(name));
                };
                object.raw(name, &json);
            }
        }
        object.end();
        call.body = String::from_utf8(body).ok();
        Ok(call)
    }

    /// Where what waits for a person is settled.
    fn settle(&self, ask: &Ask<'_>) -> Option<&'static str> {
        match (ask.plan, ask.approval) {
            (Some(plan), _) => self.plan.map(|[yes, no]| if plan.approved { yes } else { no }),
            (None, Some(_)) => self.approval,
            (None, None) => self.answer,
        }
    }

    pub(super) fn answer(&self, status: u16, body: &str) -> Answer {
        if (200..300).contains(&status)
            && let Some(answer) = (self.read)(body)
        {
            return answer;
        }
        let said = read_object(body, &["error", "message", "code"]).ok();
        let text = |slot: Option<crate::wire::json::Value<'_>>| {
            slot.and_then(|value| value.str()).map(|text| text.into_owned())
        };
        let [error, message, code] = said.map_or([None, None, None], |slots| slots.map(text));
        let said = error.or(message).filter(|text| !crate::text::is_blank(text));
        let message = said.unwrap_or_else(|| match (self.refusal)(status) {
            Some(sentence) => String::from(sentence),
            None => format!("Request failed ({status})."),
        });
        Answer::Refused { message, code }
    }
}

/// Puts base, workspace and session into a path, each percent-encoded as one part.
fn fill(path: &str, ask: &Ask<'_>) -> String {
    let mut filled = String::from(ask.base_path.trim_end_matches('/'));
    let mut rest = path;
    while let Some((before, after)) = rest.split_once('{') {
        filled.push_str(before);
        let (name, after) = after.split_once('}').unwrap_or((after, ""));
        encode_part(if name == "ws" { ask.workspace_id } else { ask.session_id }, &mut filled);
        rest = after;
    }
    filled.push_str(rest);
    filled
}

fn encode_part(part: &str, out: &mut String) {
    const HEX: &[u8; 16] = b"0123456789ABCDEF";
    for byte in part.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~') {
            out.push(char::from(byte));
        } else {
            out.push('%');
            out.push(char::from(HEX[usize::from(byte >> 4)]));
            out.push(char::from(HEX[usize::from(byte & 15)]));
        }
    }
}
