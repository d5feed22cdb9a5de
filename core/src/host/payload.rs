//! What rows carry beside their text, by kind (design, Rows).

use alloc::boxed::Box;
use alloc::vec::Vec;

use serde::ser::SerializeMap;
use serde::{Deserialize, Serialize};

use super::card::Card;
use super::row::{entry, list};
use crate::event::{Answer, Effect, QuestionItem};

/// What a row carries beside its text.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Payload {
    /// Nothing.
    #[default]
    None,
    /// A card of tool calls.
    Card(Card),
    /// A question.
    Question(QuestionPayload),
    /// An approval.
    Approval(ApprovalPayload),
    /// A subagent.
    Subagent(SubagentPayload),
    /// An image or a resource.
    Media(MediaPayload),
    /// A plan; its words are the row's text.
    Plan(PlanPayload),
    /// A notice.
    Notice(NoticePayload),
}

/// A question to the user.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct QuestionPayload {
    /// Its id.
    pub question_id: Box<str>,
    /// What is asked.
    pub questions: Vec<QuestionItem<'static>>,
    /// When it times out, in Unix milliseconds.
    pub deadline_ms: Option<u64>,
    /// The answers, once given.
    pub answers: Vec<Answer<'static>>,
}

/// Something that needs consent.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ApprovalPayload {
    /// Its id.
    pub approval_id: Box<str>,
    /// The call that waits.
    pub call_id: Option<Box<str>>,
    /// The tool.
    pub name: Option<Box<str>>,
    /// What would happen.
    pub effects: Vec<Effect<'static>>,
    /// When it times out, in Unix milliseconds.
    pub deadline_ms: Option<u64>,
    /// Who decided.
    pub by: Option<Box<str>>,
}

/// A subagent; its words are the row's text.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SubagentPayload {
    /// The call that started it.
    pub call_id: Box<str>,
    /// The subagent.
    pub agent_id: Option<Box<str>>,
    /// Its name.
    pub name: Option<Box<str>>,
    /// What it is to do.
    pub task: Option<Box<str>>,
    /// What it found.
    pub summary: Option<Box<str>>,
    /// What went wrong.
    pub error: Option<Box<str>>,
    /// Tools that it called.
    pub tool_calls: u64,
}

/// An image or a resource.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct MediaPayload {
    /// `image` or `resource`.
    pub media_kind: Box<str>,
    /// The call that made it.
    pub call_id: Box<str>,
    /// The image, where it is one that is being made.
    pub image_id: Option<Box<str>>,
    /// Where it is.
    pub url: Option<Box<str>>,
    /// Its media type.
    pub mime_type: Option<Box<str>>,
    /// What it is to show.
    pub prompt: Option<Box<str>>,
    /// What went wrong.
    pub error: Option<Box<str>>,
}

/// A plan.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct PlanPayload {
    /// Why it was rejected.
    pub reason: Option<Box<str>>,
}

/// A notice.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct NoticePayload {
    /// What, as a code.
    pub code: Box<str>,
    /// More, for people.
    pub detail: Option<Box<str>>,
}

impl Payload {
    /// Writes the fields into a row's JSON or a patch's `set`; absent ones as `null` if `nulls`.
    pub(super) fn write<M: SerializeMap>(
        &self,
        text: &str,
        map: &mut M,
        nulls: bool,
    ) -> Result<(), M::Error> {
        match self {
            Self::None => Ok(()),
            Self::Card(card) => map.serialize_entry("card", &card.json()),
            Self::Question(p) => {
                map.serialize_entry("question_id", &p.question_id)?;
                map.serialize_entry("questions", &p.questions)?;
                entry(map, "deadline_ms", p.deadline_ms.as_ref(), nulls)?;
                list(map, "answers", &p.answers, nulls)
            }
            Self::Approval(p) => {
                map.serialize_entry("approval_id", &p.approval_id)?;
                entry(map, "call_id", p.call_id.as_ref(), nulls)?;
                entry(map, "name", p.name.as_ref(), nulls)?;
                map.serialize_entry("effects", &p.effects)?;
                entry(map, "deadline_ms", p.deadline_ms.as_ref(), nulls)?;
                entry(map, "by", p.by.as_ref(), nulls)
            }
            Self::Subagent(p) => {
                map.serialize_entry("call_id", &p.call_id)?;
                entry(map, "agent_id", p.agent_id.as_ref(), nulls)?;
                entry(map, "name", p.name.as_ref(), nulls)?;
                entry(map, "task", p.task.as_ref(), nulls)?;
                entry(map, "summary", p.summary.as_ref(), nulls)?;
                entry(map, "error", p.error.as_ref(), nulls)?;
                map.serialize_entry("tool_calls", &p.tool_calls)
            }
            Self::Media(p) => {
                map.serialize_entry("media_kind", &p.media_kind)?;
                map.serialize_entry("call_id", &p.call_id)?;
                entry(map, "image_id", p.image_id.as_ref(), nulls)?;
                entry(map, "url", p.url.as_ref(), nulls)?;
                entry(map, "mime_type", p.mime_type.as_ref(), nulls)?;
                entry(map, "prompt", p.prompt.as_ref(), nulls)?;
                entry(map, "error", p.error.as_ref(), nulls)
            }
            Self::Plan(p) => {
                map.serialize_entry("plan", text)?;
                entry(map, "reason", p.reason.as_ref(), nulls)
            }
            Self::Notice(p) => {
                map.serialize_entry("code", &p.code)?;
                entry(map, "detail", p.detail.as_ref(), nulls)
            }
        }
    }
}
