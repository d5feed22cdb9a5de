//! A card of tool calls: its items, their counts, and the bounds that keep its encoded body within
//! one row (`agent` 5; decisions A1 to A6).
//!
//! Every change costs time in proportion to the item it concerns. The encoded body is made only
//! when somebody asks for it.

use alloc::borrow::Cow;
use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use serde::ser::{SerializeMap, Serializer};
use serde::{Deserialize, Serialize};

use super::card_text::{decode, encode, escaped_len, head_escaped, header_len, item_len};
use crate::limits::{
    CARD_BRIEF_MAX_CHARS, CARD_DETAIL_BUDGET_BYTES, CARD_ITEMS_MAX, CARD_NAME_MAX_ESCAPED_BYTES,
    ROW_MAX_BYTES,
};
use crate::text::{collapse, head_chars, longer_than};

/// How far a call is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ItemStatus {
    /// It runs, or the model still writes it.
    #[default]
    Running,
    /// It did its work.
    Ok,
    /// It did not.
    Fail,
}

impl ItemStatus {
    /// The word in JSON and in the encoded body.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Ok => "ok",
            Self::Fail => "fail",
        }
    }
}

/// One call of a card.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Item {
    /// Its place in the card, from 1.
    pub id: u32,
    /// How far it is.
    pub status: ItemStatus,
    /// The tool.
    pub name: String,
    /// One short line.
    pub brief: String,
    /// What an expander shows: the arguments or live output of a running call, then its preview.
    pub detail: String,
    /// The call's id, where the stream named one.
    pub call_id: Option<Box<str>>,
    /// Whether `detail` holds arguments, which live output is to replace.
    pub(super) holds_args: bool,
    /// Whether live text was cut, so that no more of it is taken.
    pub(super) cut: bool,
    /// Whether it ended without a result, so that one may still come.
    pub(super) interrupted: bool,
    /// Escaped bytes of `detail`, so that giving them back costs nothing.
    pub(super) charge: usize,
}

/// A card of tool calls.
///
/// ```
/// use turnwire::host::Card;
/// let mut card = Card::default();
/// let item = card.start("exec", None).expect("an empty card has room");
/// card.finish(item, true, "exec · ✓ ok · ls", Some("a\nb"));
/// assert_eq!(card.encode(), "toolrun\t1\t1/0/0\n1\tok\texec\texec · ok · ls\ta\\nb");
/// assert_eq!(Card::decode(&card.encode()).expect("well-formed").items().len(), 1);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Card {
    ok: u32,
    fail: u32,
    pending: u32,
    items: Vec<Item>,
    /// Escaped bytes of all details.
    detail_bytes: usize,
    /// Encoded bytes of all item rows, line ends included.
    row_bytes: usize,
    /// Details that the bound of the row has emptied.
    emptied: u32,
}

impl Card {
    /// Calls that went well.
    #[must_use]
    pub const fn ok(&self) -> u32 {
        self.ok
    }

    /// Calls that failed.
    #[must_use]
    pub const fn fail(&self) -> u32 {
        self.fail
    }

    /// Calls that have not ended.
    #[must_use]
    pub const fn pending(&self) -> u32 {
        self.pending
    }

    /// The calls, in the order in which they came.
    #[must_use]
    pub fn items(&self) -> &[Item] {
        &self.items
    }

    /// The call with this place, from 1.
    #[must_use]
    pub fn item(&self, id: u32) -> Option<&Item> {
        self.items.get((id as usize).checked_sub(1)?)
    }

    /// Whether no further call finds room (200, `agent` 5).
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.items.len() >= CARD_ITEMS_MAX
    }

    /// Adds a running call and gives its place; `None` if the card is full.
    pub fn start(&mut self, name: &str, call_id: Option<&str>) -> Option<u32> {
        self.add(Item {
            status: ItemStatus::Running,
            brief: running_brief(name),
            name: name.into(),
            call_id: call_id.map(Into::into),
            ..Item::default()
        })
    }

    /// Ends a call. Its old detail gives its bytes back before the new one is charged.
    ///
    /// The detail is `detail` unless that only repeats the brief or the summary.
    pub fn finish(&mut self, id: u32, ok: bool, summary: &str, detail: Option<&str>) {
        let Some(item) = self.end(id, ok, summary) else { return };
        let repeats = |detail: &&str| **detail == item.brief || **detail == *summary;
        let detail = detail.filter(|detail| !repeats(detail)).unwrap_or_default();
        self.set_detail(id, detail);
    }

    /// Ends a call with its summary as detail (`agent` 5, JSON path).
    pub fn finish_plain(&mut self, id: u32, ok: bool, summary: &str) {
        if self.end(id, ok, summary).is_some() {
            self.set_detail(id, summary);
        }
    }

    fn end(&mut self, id: u32, ok: bool, summary: &str) -> Option<&Item> {
        let status = if ok { ItemStatus::Ok } else { ItemStatus::Fail };
        let brief = brief(&self.item(id)?.name, ok, summary);
        self.change(id, |item| {
            item.status = status;
            item.brief = brief;
            item.interrupted = false;
        });
        self.item(id)
    }

    /// Ends a running call without a result; what its detail holds stays.
    pub fn interrupt(&mut self, id: u32) {
        self.change(id, |item| {
            if item.status == ItemStatus::Running {
                item.status = ItemStatus::Fail;
                item.interrupted = true;
                item.brief = interrupted_brief(&item.name);
            }
        });
    }

    /// Ends every running call without a result.
    pub fn interrupt_all(&mut self) {
        for id in 1..=u32::try_from(self.items.len()).unwrap_or(u32::MAX) {
            self.interrupt(id);
        }
    }

    /// Replaces the detail, cut to what the card's budget leaves (A3).
    pub fn set_detail(&mut self, id: u32, detail: &str) {
        self.change(id, |item| {
            item.detail.clear();
            item.charge = 0;
            item.cut = false;
            item.holds_args = false;
        });
        self.grow_detail(id, detail);
    }

    /// Adds live text to a detail, with `…` where the budget ends. Returns whether any was taken.
    /// Linear in `text`.
    pub fn grow_detail(&mut self, id: u32, text: &str) -> bool {
        let row = ROW_MAX_BYTES.saturating_sub(self.encoded_len());
        let left = CARD_DETAIL_BUDGET_BYTES.saturating_sub(self.detail_bytes).min(row);
        let mut taken = false;
        self.change(id, |item| {
            if item.cut || text.is_empty() {
                return;
            }
            let need = escaped_len(text);
            if need <= left {
                item.detail.push_str(text);
                item.charge += need;
                taken = true;
                return;
            }
            item.cut = true;
            let head = head_escaped(text, left.saturating_sub('…'.len_utf8()));
            if left < '…'.len_utf8() || (head.is_empty() && item.detail.is_empty()) {
                return;
            }
            item.detail.push_str(head);
            item.detail.push('…');
            item.charge += escaped_len(head) + '…'.len_utf8();
            taken = true;
        });
        taken
    }

    /// Says that the detail holds arguments, which the first output replaces.
    pub(super) fn mark_args(&mut self, id: u32) {
        self.change(id, |item| item.holds_args = true);
    }

    /// Gives a call an id that came later than the call.
    pub(super) fn name_call(&mut self, id: u32, call_id: &str) {
        self.change(id, |item| item.call_id = Some(call_id.into()));
    }

    /// Adds an item as it is, with the next place. Used by starts, decoding and merging.
    pub(super) fn add(&mut self, mut item: Item) -> Option<u32> {
        if self.is_full() {
            return None;
        }
        let id = u32::try_from(self.items.len()).ok()?.checked_add(1)?;
        let detail = core::mem::take(&mut item.detail);
        shorten(&mut item.name);
        if longer_than(&item.brief, CARD_BRIEF_MAX_CHARS + 1) {
            item.brief = cut_brief(&item.brief);
        }
        item.id = id;
        item.charge = 0;
        *self.count(item.status) += 1;
        self.row_bytes += item_len(&item, 0);
        if self.items.is_empty() {
            // Most cards have one, and the ring has thousands of them.
            self.items.reserve_exact(1);
        }
        self.items.push(item);
        self.clamp();
        self.grow_detail(id, &detail);
        Some(id)
    }

    /// How many details the bound of the row has emptied so far.
    pub(super) const fn emptied(&self) -> u32 {
        self.emptied
    }

    fn count(&mut self, status: ItemStatus) -> &mut u32 {
        match status {
            ItemStatus::Running => &mut self.pending,
            ItemStatus::Ok => &mut self.ok,
            ItemStatus::Fail => &mut self.fail,
        }
    }

    /// Applies `edit` to an item and keeps counts and sizes in step.
    fn change(&mut self, id: u32, edit: impl FnOnce(&mut Item)) {
        let Some(index) = (id as usize).checked_sub(1) else { return };
        let Some(item) = self.items.get_mut(index) else { return };
        // The detail's size is known by its charge, so that growth is not measured again.
        let before = (item.status, item_len(item, item.charge), item.charge);
        edit(item);
        let after = (item.status, item_len(item, item.charge), item.charge);
        self.row_bytes = self.row_bytes - before.1 + after.1;
        self.detail_bytes = self.detail_bytes - before.2 + after.2;
        if before.0 != after.0 {
            let old = self.count(before.0);
            *old = old.saturating_sub(1);
            *self.count(after.0) += 1;
        }
        self.clamp();
    }

    pub(super) fn encoded_len(&self) -> usize {
        header_len(self.ok, self.fail, self.pending) + self.row_bytes
    }

    /// Keeps the body within its row: details are emptied from the last item backward (A2). With
    /// every detail empty it fits, because names and briefs were shortened on their way in.
    fn clamp(&mut self) {
        if self.encoded_len() <= ROW_MAX_BYTES {
            return;
        }
        for index in (0..self.items.len()).rev() {
            let Some(item) = self.items.get_mut(index).filter(|item| item.charge > 0) else {
                continue;
            };
            self.row_bytes -= item.charge;
            self.detail_bytes -= item.charge;
            item.charge = 0;
            item.detail = String::new();
            item.cut = true;
            self.emptied = self.emptied.saturating_add(1);
            if self.encoded_len() <= ROW_MAX_BYTES {
                return;
            }
        }
    }

    /// The encoded body, version 1, at most 262,144 bytes. Linear in the card.
    #[must_use]
    pub fn encode(&self) -> String {
        encode(self)
    }

    /// Reads an encoded body; `None` if its header is not that of version 1. Bad rows are skipped,
    /// counts are made anew, and reading stops at 200 items.
    #[must_use]
    pub fn decode(body: &str) -> Option<Self> {
        decode(body)
    }

    pub(super) const fn json(&self) -> CardJson<'_> {
        CardJson(self)
    }

    /// Whether sizes and counts are those of the items; for what comes from outside.
    pub(super) fn is_consistent(&self) -> bool {
        let mut fresh = Self::default();
        for item in &self.items {
            if item.charge != escaped_len(&item.detail) {
                return false;
            }
            *fresh.count(item.status) += 1;
            fresh.row_bytes += item_len(item, item.charge);
            fresh.detail_bytes += item.charge;
        }
        let places = self.items.iter().zip(1..).all(|(item, id)| item.id == id);
        let counts = (self.ok, self.fail, self.pending) == (fresh.ok, fresh.fail, fresh.pending);
        let sizes = (self.row_bytes, self.detail_bytes) == (fresh.row_bytes, fresh.detail_bytes);
        let bounds = self.items.len() <= CARD_ITEMS_MAX && self.encoded_len() <= ROW_MAX_BYTES;
        places && counts && sizes && bounds
    }
}

/// The brief of a call that runs.
fn running_brief(name: &str) -> String {
    cut_brief(&collapse(&format!("{name} · running…")))
}

fn interrupted_brief(name: &str) -> String {
    cut_brief(&collapse(&format!("{name} · interrupted")))
}

/// The brief of a call that ended (`agent` 5): at most 64 characters and `…`.
pub(super) fn brief(name: &str, ok: bool, summary: &str) -> String {
    let mut line = Cow::Borrowed(summary);
    for (mark, word) in [("✓ ok", "ok"), ("✗ failed", "failed")] {
        if line.contains(mark) {
            line = Cow::Owned(line.replacen(mark, word, 1));
        }
    }
    if line.contains('→') {
        line = Cow::Owned(line.replace('→', "->"));
    }
    let line = collapse(&line);
    if line.is_empty() {
        let word = if ok { "ok" } else { "failed" };
        return cut_brief(&collapse(&format!("{name} · {word}")));
    }
    cut_brief(&line)
}

fn cut_brief(line: &str) -> String {
    let mut out = String::from(head_chars(line, CARD_BRIEF_MAX_CHARS));
    if out.len() < line.len() {
        out.push('…');
    }
    out
}

/// Cuts a name that takes more than its share of a full card.
fn shorten(name: &mut String) {
    if escaped_len(name) > CARD_NAME_MAX_ESCAPED_BYTES {
        let keep = head_escaped(name, CARD_NAME_MAX_ESCAPED_BYTES - '…'.len_utf8()).len();
        name.truncate(keep);
        name.push('…');
    }
}

/// A card on its way into JSON.
pub(super) struct CardJson<'a>(&'a Card);

impl Serialize for CardJson<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let card = self.0;
        let mut map = serializer.serialize_map(Some(4))?;
        map.serialize_entry("ok", &card.ok)?;
        map.serialize_entry("fail", &card.fail)?;
        map.serialize_entry("pending", &card.pending)?;
        map.serialize_entry("items", &ItemsJson(card.items.iter()))?;
        map.end()
    }
}

/// Items on their way into JSON.
pub(super) struct ItemsJson<I>(pub(super) I);

impl<'a, I: Iterator<Item = &'a Item> + Clone> Serialize for ItemsJson<I> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.clone().map(ItemJson))
    }
}

struct ItemJson<'a>(&'a Item);

impl Serialize for ItemJson<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let item = self.0;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("id", &item.id)?;
        map.serialize_entry("status", item.status.as_str())?;
        map.serialize_entry("name", &item.name)?;
        map.serialize_entry("brief", &item.brief)?;
        map.serialize_entry("detail", &item.detail)?;
        if let Some(call_id) = &item.call_id {
            map.serialize_entry("call_id", call_id)?;
        }
        map.end()
    }
}
