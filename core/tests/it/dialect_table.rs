//! The table of the manual: events down, dialects across, built from the code.

use std::fmt::Write;

use turnwire::dialect::{Carriage, Dialect};
use turnwire::event::EventKind;

fn table() -> String {
    let mut text = String::from("| event |");
    let mut rule = String::from("|---|");
    for dialect in Dialect::ALL {
        write!(text, " `{}` |", dialect.name()).unwrap();
        rule.push_str("---|");
    }
    writeln!(text, "\n{rule}").unwrap();
    for kind in EventKind::ALL {
        write!(text, "| `{}` |", kind.name()).unwrap();
        for dialect in Dialect::ALL {
            match dialect.carriage(*kind) {
                Carriage::Carried => text.push_str(" carried |"),
                Carriage::Derived => text.push_str(" derived |"),
                Carriage::Dropped => text.push_str(" dropped |"),
                Carriage::Degraded(to) => write!(text, " degraded to {to} |").unwrap(),
            }
        }
        text.push('\n');
    }
    text
}

#[test]
fn the_manual_shows_what_the_code_says() {
    let built = table();
    if built != include_str!("../../src/dialect/table.md") {
        let path = concat!(env!("CARGO_TARGET_TMPDIR"), "/table.md");
        std::fs::write(path, built).unwrap();
        panic!("core/src/dialect/table.md is out of date; what it should say is in {path}");
    }
}
