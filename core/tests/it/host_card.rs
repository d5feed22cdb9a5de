//! The bounds of a card (`agent` 5, decisions A1 to A3).

use quickcheck::{Arbitrary, Gen, quickcheck};
use turnwire::host::{Card, ItemStatus};

const BUDGET: usize = 229_376;
const HARD: usize = 262_144;

#[derive(Clone, Debug)]
enum Change {
    Start(usize),
    Finish(u8, usize, usize),
    Grow(u8, usize),
    Interrupt(u8),
}

/// Text of about `n` bytes with characters of each width and each escape.
fn text(n: usize) -> String {
    "a\\é\n🎈\t→".chars().cycle().take(n / 2).collect()
}

impl Arbitrary for Change {
    fn arbitrary(g: &mut Gen) -> Self {
        let sizes = [0, 1, 5, 20, 200, 20_000, 250_000];
        let size = *g.choose(&sizes).unwrap();
        let small = *g.choose(&sizes[..5]).unwrap();
        match u8::arbitrary(g) % 8 {
            0..=3 => Self::Start(small),
            4..=5 => Self::Finish(u8::arbitrary(g), small, size),
            6 => Self::Grow(u8::arbitrary(g), size),
            _ => Self::Interrupt(u8::arbitrary(g)),
        }
    }
}

fn escaped(text: &str) -> usize {
    text.chars().map(|c| if "\\\n\t".contains(c) { 2 } else { c.len_utf8() }).sum()
}

fn run(card: &mut Card, change: &Change) {
    match change {
        Change::Start(n) => {
            card.start(&text(*n), None);
        }
        Change::Finish(id, summary, detail) => {
            card.finish((*id).into(), id % 2 == 0, &text(*summary), Some(&text(*detail)));
        }
        Change::Grow(id, n) => {
            card.grow_detail((*id).into(), &text(*n));
        }
        Change::Interrupt(id) => card.interrupt((*id).into()),
    }
}

quickcheck! {
    fn a_card_keeps_its_bounds_and_reads_back(changes: Vec<Change>, starts: u8) -> bool {
        let mut card = Card::default();
        for _ in 0..starts {
            card.start("t", None);
        }
        for change in &changes {
            run(&mut card, change);
        }
        let body = card.encode();
        let details: usize = card.items().iter().map(|item| escaped(&item.detail)).sum();
        let read = Card::decode(&body).unwrap();
        let fields = |card: &Card| -> Vec<_> {
            card.items().iter()
                .map(|i| (i.id, i.status, i.name.clone(), i.brief.clone(), i.detail.clone()))
                .collect()
        };
        let count = |status| card.items().iter().filter(|item| item.status == status).count();
        body.len() <= HARD
            && details <= BUDGET
            && card.items().len() <= 200
            && fields(&card) == fields(&read)
            && read.encode() == body
            && count(ItemStatus::Ok) == card.ok() as usize
            && count(ItemStatus::Fail) == card.fail() as usize
            && count(ItemStatus::Running) == card.pending() as usize
    }
}

#[test]
fn later_details_give_way_to_earlier_ones() {
    let mut card = Card::default();
    for _ in 0..3 {
        card.start("t", None);
    }
    card.finish(1, true, "s", Some(&"é".repeat(100_000)));
    card.finish(2, true, "s", Some(&"é".repeat(100_000)));
    card.finish(3, true, "s", Some("late"));
    let detail = |n: usize| card.items()[n].detail.as_str();
    assert_eq!(detail(0).len(), 200_000);
    // 229,376 - 200,000 leaves 29,376: whole characters and the three bytes of the mark.
    assert_eq!((detail(1).len(), detail(1).ends_with('…')), (29_375, true));
    assert_eq!(detail(2), "");
    card.finish(1, true, "s", None);
    card.finish(3, true, "s", Some("late"));
    assert_eq!(card.items()[2].detail, "late", "a finished item gives its old bytes back");
}

#[test]
fn the_last_details_are_emptied_when_names_fill_the_row() {
    let mut card = Card::default();
    card.start("t", None);
    card.start("t", None);
    card.finish(1, true, "s", Some(&"a".repeat(100_000)));
    card.finish(2, true, "s", Some(&"b".repeat(100_000)));
    for _ in 0..198 {
        card.start(&"n".repeat(5_000), None);
    }
    assert!(card.is_full() && card.start("t", None).is_none());
    assert!(card.encode().len() <= HARD);
    let sizes: Vec<_> = card.items().iter().map(|item| item.detail.len()).take(2).collect();
    assert_eq!(sizes, [0, 0]);
    assert_eq!(card.items().len(), 200);
    assert!(card.items()[5].name.ends_with('…'));
}

#[test]
fn a_cut_of_live_output_is_marked_once() {
    let mut card = Card::default();
    let id = card.start("t", None).unwrap();
    for _ in 0..300 {
        card.grow_detail(id, &"x".repeat(1000));
    }
    let detail = &card.items()[0].detail;
    assert_eq!(detail.len(), BUDGET);
    assert_eq!(detail.matches('…').count(), 1);
}
