//! Questions: dialogs of the engine as parts of a tool `Question` (seed of `chat`, Interactive
//! questions; `chat` 4).
//!
//! A dialog asks one thing: `{kind, title}` with `message`, `options` or `placeholder`. What does
//! not fit, several questions among it, stands beside that in fields of ours.

use alloc::vec;
use alloc::vec::Vec;

use crate::dialect::asking::{made_id, read_items, read_options, write_items, write_options};
use crate::dialect::fields::{Fields, Slot, slots};
use crate::event::{
    Answer, Choice, Event, Question, QuestionItem, QuestionOutcome, QuestionResolved, Str,
};
use crate::limits::DIALOG_TIMEOUT_MS;
use crate::wire::json::{Kind, ObjectWriter, Value};

/// The type of a dialog's part.
pub(super) const PART: &str = "tool-Question";

/// The options of a dialog of kind `confirm`, which it does not list (A12).
const CONFIRM: [(&str, &str); 2] = [("yes", "Yes"), ("no", "No")];

fn confirms(options: &[Choice<'_>]) -> bool {
    let plain = |(option, (id, label)): (&Choice<'_>, &(&str, &str))| {
        option.id == *id && option.label == *label && option.description.is_none()
    };
    options.len() == CONFIRM.len() && options.iter().zip(&CONFIRM).all(plain)
}

/// The form of a dialog that was given none.
fn usual_kind(item: Option<&QuestionItem<'_>>) -> &'static str {
    match item {
        Some(item) if !item.options.is_empty() => "select",
        _ => "text",
    }
}

/// Whether a dialog of this kind is answered by text of one's own.
fn asks_text(kind: &str) -> bool {
    matches!(kind, "text" | "input")
}

/// What a dialog is headed by.
pub(super) fn title<'q>(question: &'q Question<'_>) -> &'q str {
    let item = question.questions.first();
    item.map_or("", |item| item.header.as_deref().unwrap_or(&item.text))
}

/// Writes the part's fields after its type.
pub(super) fn write(part: &mut ObjectWriter<'_>, question: &Question<'_>) {
    part.str("toolCallId", &question.question_id).str("state", "input-streaming");
    let mut input = part.object("input");
    let item = question.questions.first();
    let kind = question.kind.as_deref().unwrap_or_else(|| usual_kind(item));
    input.str("kind", kind).str("title", title(question));
    match question.questions.as_slice() {
        [item] => {
            if item.header.is_some() {
                input.str("message", &item.text);
            }
            if kind != "confirm" || !confirms(&item.options) {
                write_options(&mut input, &item.options);
            }
            if item.multiple {
                input.bool("allowMultiple", true);
            }
            if item.free_text != asks_text(kind) {
                input.bool("freeText", item.free_text);
            }
            input.opt_str("questionId", Some(&*item.id).filter(|id| *id != made_id(0)));
        }
        items => write_items(&mut input.array("questions"), items),
    }
    match question.timeout_ms {
        Some(DIALOG_TIMEOUT_MS) => {}
        Some(ms) => _ = input.u64("timeoutMs", ms),
        None => _ = input.null("timeoutMs"),
    }
}

/// Writes the part's fields after its type: the frame that closes a dialog. The seed has one for a
/// dialog that nobody answered; the other tells the other tabs (A15).
pub(super) fn write_end(part: &mut ObjectWriter<'_>, end: &QuestionResolved<'_>, title: &str) {
    part.str("toolCallId", &end.question_id);
    let reason = match end.outcome {
        QuestionOutcome::Answered => {
            part.str("state", "output-available");
            let mut output = part.object("output");
            let mut list = output.array("answers");
            for answer in &end.answers {
                let mut o = list.object();
                o.str("id", &answer.id);
                if !answer.selected.is_empty() {
                    let mut selected = o.array("selected");
                    for id in &answer.selected {
                        selected.str(id);
                    }
                }
                o.opt_str("text", answer.text.as_deref());
            }
            return;
        }
        QuestionOutcome::Timeout => "timeout",
        QuestionOutcome::Cancelled => "user-abort",
        QuestionOutcome::Shutdown => "server-shutdown",
    };
    part.str("state", "output-error");
    part.object("output").bool("cancelled", true).str("reason", reason).str("title", title);
}

/// Reads a dialog's part: its opening, or how it ended.
pub(super) fn read<'a>(
    id: Slot<'a>,
    state: &str,
    input: Slot<'a>,
    output: Slot<'a>,
    f: &mut Fields<'_>,
) -> Option<Event<'a>> {
    let id = f.need_text(id, "toolCallId")?;
    match state {
        "output-available" => {
            let mut end = QuestionResolved::new(id, QuestionOutcome::Answered);
            end.answers = answers(output, f);
            Some(end.into())
        }
        "output-error" | "output-denied" => {
            let output = output.filter(|value| value.kind() == Kind::Object);
            let reason = output.and_then(|value| slots(value.raw(), &["reason"]));
            let reason = reason.and_then(|[reason]| f.text(reason, "reason"));
            let outcome = match reason.as_deref() {
                Some("timeout") => QuestionOutcome::Timeout,
                Some("server-shutdown") => QuestionOutcome::Shutdown,
                _ => QuestionOutcome::Cancelled,
            };
            Some(QuestionResolved::new(id, outcome).into())
        }
        _ => question(id, f.object(input, "input")?, f).map(Event::from),
    }
}

fn question<'a>(id: Str<'a>, input: Value<'a>, f: &mut Fields<'_>) -> Option<Question<'a>> {
    let [kind, title, message, options, several, free, item_id, questions, timeout] = slots(
        input.raw(),
        &[
            "kind",
            "title",
            "message",
            "options",
            "allowMultiple",
            "freeText",
            "questionId",
            "questions",
            "timeoutMs",
        ],
    )?;
    let kind = f.text(kind, "kind");
    let items = if questions.is_some() {
        read_items(f, questions)
    } else {
        let (title, message) = (f.text(title, "title"), f.text(message, "message"));
        let (header, text) = match (title, message) {
            (title, None) => (None, title.unwrap_or_default()),
            (title, Some(message)) => (title, message),
        };
        let mut item = QuestionItem::new(f.text(item_id, "questionId").unwrap_or(made_id(0)), text);
        item.header = header;
        item.options = read_options(f, options);
        if kind.as_deref() == Some("confirm") && options.is_none() {
            item.options = CONFIRM.iter().map(|(id, label)| Choice::new(*id, *label)).collect();
        }
        item.multiple = f.bool(several, "allowMultiple").unwrap_or(false);
        let usual = kind.as_deref().is_some_and(asks_text);
        item.free_text = f.bool(free, "freeText").unwrap_or(usual);
        vec![item]
    };
    let timeout_ms = match timeout {
        None => Some(DIALOG_TIMEOUT_MS),
        Some(_) => f.u64(timeout, "timeoutMs"),
    };
    Some(Question { kind, timeout_ms, ..Question::new(id, items) })
}

fn answers<'a>(output: Slot<'a>, f: &mut Fields<'_>) -> Vec<Answer<'a>> {
    let output = output.filter(|value| value.kind() == Kind::Object);
    let Some([list]) = output.and_then(|value| slots(value.raw(), &["answers"])) else {
        return Vec::new();
    };
    let mut answers = Vec::new();
    for value in f.elements(list, "answers") {
        let Some([id, selected, text]) = slots(value.raw(), &["id", "selected", "text"]) else {
            f.wrong("answers");
            continue;
        };
        let Some(id) = f.need_text(id, "id") else { continue };
        answers.push(Answer {
            selected: f.texts(selected, "selected"),
            text: f.text(text, "text"),
            ..Answer::new(id)
        });
    }
    answers
}

/// Writes what the browser posts (`chat` 4, *Answer body*). A dialog asks one thing, so the first
/// answer counts; without one it is skipped.
pub(in crate::dialect) fn write_answer(body: &mut ObjectWriter<'_>, answers: &[Answer<'_>]) {
    let Some(answer) = answers.first() else {
        body.str("kind", "skip");
        return;
    };
    let kind = match (answer.selected.len(), &answer.text) {
        (0, None) => "skip",
        (0, Some(_)) => "text",
        (1, _) => "single",
        _ => "multi",
    };
    body.str("kind", kind).str("questionId", &answer.id);
    if !answer.selected.is_empty() {
        let mut selected = body.array("selectedIds");
        for id in &answer.selected {
            selected.str(id);
        }
    }
    body.opt_str("text", answer.text.as_deref());
}
