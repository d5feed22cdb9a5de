//! Reading vector files.

use std::collections::BTreeSet;

use serde_json::Value as Json;

/// The cases of a file; each has a name of its own.
pub fn load(text: &str) -> Vec<Json> {
    let cases: Vec<Json> = serde_json::from_str(text).unwrap();
    let names: BTreeSet<_> = cases.iter().map(|case| case["name"].as_str().unwrap()).collect();
    assert_eq!(names.len(), cases.len(), "names are unique");
    assert!(!cases.is_empty());
    cases
}

/// The bytes of a chunk: text, or `hex:` and pairs of digits.
pub fn bytes(chunk: &Json) -> Vec<u8> {
    let text = chunk.as_str().unwrap();
    let Some(hex) = text.strip_prefix("hex:") else { return text.as_bytes().to_vec() };
    assert!(hex.len().is_multiple_of(2));
    let pairs = (0..hex.len()).step_by(2).map(|at| &hex[at..at + 2]);
    pairs.map(|pair| u8::from_str_radix(pair, 16).unwrap()).collect()
}
