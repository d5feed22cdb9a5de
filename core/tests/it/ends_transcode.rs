//! The vectors of the transcoder: `transcode.json`.

use serde_json::{Map, Value as Json, json};
use turnwire::Transcoder;
use turnwire::dialect::Dialect;

use crate::vectors::load;

#[test]
fn what_comes_in_comes_out_in_the_other_protocol() {
    for case in load(include_str!("../vectors/transcode.json")) {
        for size in [usize::MAX, 1, 7] {
            one(&case, size);
        }
    }
}

/// Runs a case with its bytes cut into pieces of `size`.
fn one(case: &Json, size: usize) {
    let name = case["name"].as_str().unwrap();
    let dialect = |key: &str| Dialect::parse(case[key].as_str().unwrap()).unwrap();
    let mut transcoder = Transcoder::new(dialect("source"), dialect("target")).unwrap();
    let text = |key: &str| -> String {
        case[key].as_array().unwrap().iter().map(|part| part.as_str().unwrap()).collect()
    };
    let (wire, mut out) = (text("in"), Vec::new());
    for piece in wire.as_bytes().chunks(size.min(wire.len().max(1))) {
        transcoder.feed(piece, &mut out);
    }
    transcoder.finish(&mut out);
    let out = String::from_utf8(out).unwrap();
    assert_eq!(out, text("out"), "{name}: {out}");
    let losses: Map<String, Json> = transcoder
        .losses()
        .iter()
        .map(|(kind, count)| (kind.name().to_string(), json!(count)))
        .collect();
    let none = json!({});
    assert_eq!(&Json::from(losses), case.get("losses").unwrap_or(&none), "{name}: losses");
    let codes: Vec<_> = transcoder.diagnostics().drain().map(|d| d.code.as_str()).collect();
    let none = json!([]);
    assert_eq!(&json!(codes), case.get("diagnostics").unwrap_or(&none), "{name}: diagnostics");
}
