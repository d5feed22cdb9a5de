//! Payloads of what waits for a person: questions, approvals, plans.

use alloc::format;
use alloc::vec::Vec;

use crate::dialect::fields::{Fields, Slot, slots};
use crate::event::{
    Answer, ApprovalRequired, ApprovalResolved, Choice, Decision, Effect, Event, PlanProposed,
    PlanResolved, Question, QuestionItem, QuestionOutcome, QuestionResolved, Str,
};
use crate::wire::json::{ArrayWriter, Kind, ObjectWriter, Value};

pub(super) fn write_question(p: &mut ObjectWriter<'_>, e: &Question<'_>) {
    p.str("question_id", &e.question_id);
    let mut list = p.array("questions");
    for item in &e.questions {
        let mut o = list.object();
        o.str("id", &item.id).str("text", &item.text).opt_str("header", item.header.as_deref());
        if !item.options.is_empty() {
            let mut options = o.array("options");
            for option in &item.options {
                let mut o = options.object();
                o.str("id", &option.id).str("label", &option.label);
                o.opt_str("description", option.description.as_deref());
            }
        }
        flag(&mut o, "multiple", item.multiple);
        flag(&mut o, "free_text", item.free_text);
    }
    list.end();
    p.opt_str("kind", e.kind.as_deref()).opt_u64("timeout_ms", e.timeout_ms);
}

/// The id may be called `ask_id`, as in the answer to it (`workspace` A17).
pub(super) fn read_question<'a>(payload: &'a str, f: &mut Fields<'_>) -> Option<Event<'a>> {
    let names = ["question_id", "ask_id", "questions", "kind", "timeout_ms"];
    let [id, ask_id, questions, kind, timeout] = slots(payload, &names)?;
    let id = f.need_text(id.or(ask_id), "question_id")?;
    let mut items = Vec::new();
    for (index, value) in f.elements(questions, "questions").enumerate() {
        items.extend(read_item(value, index, f));
    }
    let question = Question {
        kind: f.text(kind, "kind"),
        timeout_ms: f.u64(timeout, "timeout_ms"),
        ..Question::new(id, items)
    };
    Some(question.into())
}

/// One question: an object, or its text alone; without an id it is the first, second, … `q1`, `q2`.
fn read_item<'a>(value: Value<'a>, index: usize, f: &mut Fields<'_>) -> Option<QuestionItem<'a>> {
    let made_id = || Str::Owned(format!("q{}", index + 1));
    if let Some(text) = value.str() {
        return Some(QuestionItem::new(made_id(), text));
    }
    let names = ["id", "text", "question", "header", "options", "multiple", "free_text"];
    let Some([id, text, question, header, options, multiple, free]) = slots(value.raw(), &names)
    else {
        f.wrong("questions");
        return None;
    };
    let text = f.need_text(text.or(question), "text")?;
    Some(QuestionItem {
        header: f.text(header, "header"),
        options: read_choices(options, f),
        multiple: f.bool(multiple, "multiple").unwrap_or(false),
        free_text: f.bool(free, "free_text").unwrap_or(false),
        ..QuestionItem::new(f.text(id, "id").unwrap_or_else(made_id), text)
    })
}

/// Options: objects with a label, or labels alone; an option without an id is named by its label.
fn read_choices<'a>(list: Slot<'a>, f: &mut Fields<'_>) -> Vec<Choice<'a>> {
    let mut choices = Vec::new();
    for value in f.elements(list, "options") {
        if let Some(label) = value.str() {
            choices.push(Choice::new(label.clone(), label));
            continue;
        }
        let Some([id, label, description]) = slots(value.raw(), &["id", "label", "description"])
        else {
            f.wrong("options");
            continue;
        };
        let Some(label) = f.need_text(label, "label") else { continue };
        choices.push(Choice {
            description: f.text(description, "description"),
            ..Choice::new(f.text(id, "id").unwrap_or_else(|| label.clone()), label)
        });
    }
    choices
}

pub(super) fn write_question_resolved(p: &mut ObjectWriter<'_>, e: &QuestionResolved<'_>) {
    p.str("question_id", &e.question_id).str("outcome", e.outcome.as_str());
    if !e.answers.is_empty() {
        write_answers(&mut p.array("answers"), &e.answers);
    }
}

/// Answers as an event and the body that gives them have them.
pub(super) fn write_answers(list: &mut ArrayWriter<'_>, answers: &[Answer<'_>]) {
    for answer in answers {
        let mut o = list.object();
        o.str("id", &answer.id);
        let mut selected = o.array("selected");
        for id in &answer.selected {
            selected.str(id);
        }
        selected.end();
        o.opt_str("text", answer.text.as_deref());
    }
}

pub(super) fn read_question_resolved<'a>(
    payload: &'a str,
    f: &mut Fields<'_>,
) -> Option<Event<'a>> {
    let [id, ask_id, outcome, answers] =
        slots(payload, &["question_id", "ask_id", "outcome", "answers"])?;
    let id = f.need_text(id.or(ask_id), "question_id")?;
    let outcome = f.text(outcome, "outcome").and_then(|word| QuestionOutcome::parse(&word));
    let mut resolved = QuestionResolved::new(id, QuestionOutcome::Answered);
    for value in f.elements(answers, "answers") {
        let Some([id, selected, text]) = slots(value.raw(), &["id", "selected", "text"]) else {
            f.wrong("answers");
            continue;
        };
        let Some(id) = f.need_text(id, "id") else { continue };
        resolved.answers.push(Answer {
            selected: f.texts(selected, "selected"),
            text: f.text(text, "text"),
            ..Answer::new(id)
        });
    }
    // Whoever answered did so; a word that is missing or strange else is as none came in time.
    let silent = resolved.answers.is_empty();
    resolved.outcome = outcome.unwrap_or(if silent {
        QuestionOutcome::Timeout
    } else {
        QuestionOutcome::Answered
    });
    Some(resolved.into())
}

pub(super) fn write_approval(p: &mut ObjectWriter<'_>, e: &ApprovalRequired<'_>) {
    p.str("approval_id", &e.approval_id).opt_str("call_id", e.call_id.as_deref());
    p.opt_str("name", e.name.as_deref());
    let mut list = p.array("effects");
    for effect in &e.effects {
        let mut o = list.object();
        o.str("kind", &effect.kind).opt_str("target", effect.target.as_deref());
        o.str("text", &effect.text);
    }
    list.end();
    p.opt_u64("timeout_ms", e.timeout_ms);
}

pub(super) fn read_approval<'a>(payload: &'a str, f: &mut Fields<'_>) -> Option<Event<'a>> {
    let names = ["approval_id", "call_id", "name", "effects", "timeout_ms"];
    let [id, call, name, effects, timeout] = slots(payload, &names)?;
    let id = f.need_text(id, "approval_id")?;
    let mut list = Vec::new();
    for value in f.elements(effects, "effects") {
        list.extend(read_effect(value, f));
    }
    let approval = ApprovalRequired {
        call_id: f.text(call, "call_id"),
        name: f.text(name, "name"),
        timeout_ms: f.u64(timeout, "timeout_ms"),
        ..ApprovalRequired::new(id, list)
    };
    Some(approval.into())
}

/// One effect: an object, or what a person reads alone. Without words it is shown by what it would
/// happen to: consent must not be asked for nothing.
fn read_effect<'a>(value: Value<'a>, f: &mut Fields<'_>) -> Option<Effect<'a>> {
    if value.kind() == Kind::Str {
        return value.str().map(|text| Effect::new("other", text));
    }
    let Some([kind, target, text]) = slots(value.raw(), &["kind", "target", "text"]) else {
        f.wrong("effects");
        return None;
    };
    let target = f.text(target, "target");
    let kind = f.text(kind, "kind").unwrap_or("other".into());
    let text = f.text(text, "text").or_else(|| target.clone()).unwrap_or_else(|| kind.clone());
    Some(Effect { target, ..Effect::new(kind, text) })
}

pub(super) fn write_approval_resolved(p: &mut ObjectWriter<'_>, e: &ApprovalResolved<'_>) {
    p.str("approval_id", &e.approval_id).str("decision", e.decision.as_str()).str("by", &e.by);
}

/// A decision that cannot be read is no consent.
pub(super) fn read_approval_resolved<'a>(
    payload: &'a str,
    f: &mut Fields<'_>,
) -> Option<Event<'a>> {
    let [id, decision, by] = slots(payload, &["approval_id", "decision", "by"])?;
    let id = f.need_text(id, "approval_id")?;
    let word = f.need_text(decision, "decision");
    let decision = word.as_deref().and_then(Decision::parse);
    if word.is_some() && decision.is_none() {
        f.wrong("decision");
    }
    let by = f.text(by, "by").unwrap_or("user".into());
    Some(ApprovalResolved::new(id, decision.unwrap_or(Decision::Deny), by).into())
}

pub(super) fn read_plan<'a>(payload: &'a str, f: &mut Fields<'_>) -> Option<Event<'a>> {
    let [plan] = slots(payload, &["plan"])?;
    Some(PlanProposed::new(f.need_text(plan, "plan")?).into())
}

pub(super) fn write_plan_resolved(p: &mut ObjectWriter<'_>, e: &PlanResolved<'_>) {
    p.bool("approved", e.approved).opt_str("edits", e.edits.as_deref());
    p.opt_str("reason", e.reason.as_deref());
}

/// A plan of which nobody can tell is not approved.
pub(super) fn read_plan_resolved<'a>(payload: &'a str, f: &mut Fields<'_>) -> Option<Event<'a>> {
    let [approved, edits, reason] = slots(payload, &["approved", "edits", "reason"])?;
    let approved = f.bool(approved, "approved").unwrap_or_else(|| {
        f.missing("approved");
        false
    });
    let resolved = PlanResolved {
        edits: f.text(edits, "edits"),
        reason: f.text(reason, "reason"),
        ..PlanResolved::new(approved)
    };
    Some(resolved.into())
}

fn flag(o: &mut ObjectWriter<'_>, key: &str, set: bool) {
    if set {
        o.bool(key, true);
    }
}
