//! The questions inside a question, in the shape of the seed of `respond`: `text`, `header`,
//! `options` with `label` and `description`, `allowMultiple`.
//!
//! The shape has no ids. An id that is not the one a reader would make up is written beside it:
//! `q1`, `q2`, … for the questions, the label for an option, since an answer is text.

use alloc::borrow::Cow;
use alloc::format;
use alloc::vec::Vec;

use super::fields::{Fields, Slot};
use crate::event::{Choice, QuestionItem, Str};
use crate::wire::json::{ArrayWriter, Kind, ObjectWriter, Value, read_object};

/// The id of the question at `index`, from 0, where none is written.
pub(super) fn made_id(index: usize) -> Str<'static> {
    Cow::Owned(format!("q{}", index + 1))
}

pub(super) fn write_items(list: &mut ArrayWriter<'_>, items: &[QuestionItem<'_>]) {
    for (index, item) in items.iter().enumerate() {
        let mut o = list.object();
        o.opt_str("id", Some(&*item.id).filter(|id| *id != made_id(index)));
        o.str("text", &item.text).opt_str("header", item.header.as_deref());
        write_options(&mut o, &item.options);
        if item.multiple {
            o.bool("allowMultiple", true);
        }
        if item.free_text {
            o.bool("freeText", true);
        }
    }
}

pub(super) fn write_options(o: &mut ObjectWriter<'_>, options: &[Choice<'_>]) {
    if options.is_empty() {
        return;
    }
    let mut list = o.array("options");
    for option in options {
        let mut o = list.object();
        o.opt_str("id", Some(&*option.id).filter(|id| *id != option.label));
        o.str("label", &option.label).opt_str("description", option.description.as_deref());
    }
}

/// Reads a list of questions; one without text is left out.
pub(super) fn read_items<'a>(f: &mut Fields<'_>, list: Slot<'a>) -> Vec<QuestionItem<'a>> {
    let mut items = Vec::new();
    for (index, value) in f.elements(list, "questions").enumerate() {
        let names = ["id", "text", "question", "header", "options", "allowMultiple", "freeText"];
        let Ok([id, text, question, header, options, multiple, free]) =
            read_object(value.raw(), &names)
        else {
            f.wrong("questions");
            continue;
        };
        let Some(text) = f.need_text(text.or(question), "text") else { continue };
        items.push(QuestionItem {
            header: f.text(header, "header"),
            options: read_options(f, options),
            multiple: f.bool(multiple, "allowMultiple").unwrap_or(false),
            free_text: f.bool(free, "freeText").unwrap_or(false),
            ..QuestionItem::new(f.text(id, "id").unwrap_or_else(|| made_id(index)), text)
        });
    }
    items
}

/// Reads options: objects with a label, or labels alone.
pub(super) fn read_options<'a>(f: &mut Fields<'_>, list: Slot<'a>) -> Vec<Choice<'a>> {
    let elements = f.elements(list, "options");
    elements.filter_map(|value| read_option(f, value)).collect()
}

fn read_option<'a>(f: &mut Fields<'_>, value: Value<'a>) -> Option<Choice<'a>> {
    if value.kind() == Kind::Str {
        let label = value.str()?;
        return Some(Choice::new(label.clone(), label));
    }
    let Ok([id, label, description]) = read_object(value.raw(), &["id", "label", "description"])
    else {
        f.wrong("options");
        return None;
    };
    let label = f.need_text(label, "label")?;
    Some(Choice {
        description: f.text(description, "description"),
        ..Choice::new(f.text(id, "id").unwrap_or_else(|| label.clone()), label)
    })
}
