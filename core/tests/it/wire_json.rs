//! Laws of the JSON reader and writer, against serde_json.

use quickcheck::{Arbitrary, Gen, QuickCheck};
use serde::de::IgnoredAny;
use serde_json::Value as Json;
use turnwire::limits::JSON_DEPTH_MAX_LEVELS;
use turnwire::wire::json::{
    ArrayWriter, JsonErrorKind, Kind, ObjectWriter, RawJson, Value, escaped_len, read_object,
    validate,
};

/// A document, and what becomes of it when a few bytes are hit.
#[derive(Clone, Debug)]
struct Doc {
    good: String,
    hit: String,
}

const STRINGS: &[&str] = &[
    "",
    "a",
    "type",
    "text",
    "\n",
    "\"",
    "\\",
    "é",
    "😀",
    "\u{2028}\u{2029}x",
    "\u{1}",
    "\u{7f}",
    "0123456789abcdef",
    "0123456789abcde\\f",
    "â\u{20ac}",
];
const HITS: &[&str] = &[
    "", "\"", "\\", "{", "}", "[", "]", ",", ":", "0", "-", ".", "e", "u12", "\n", " ", "\u{0}",
    "tru", "é", "\\ud800", "\\udc00", "\\u0041",
];

fn json(g: &mut Gen, depth: usize) -> Json {
    let string = |g: &mut Gen| -> String {
        (0..usize::arbitrary(g) % 3).map(|_| *g.choose(STRINGS).unwrap()).collect()
    };
    match usize::arbitrary(g) % if depth == 0 { 6 } else { 9 } {
        0 => Json::Null,
        1 => Json::from(bool::arbitrary(g)),
        2 => Json::from(i64::arbitrary(g)),
        3 => Json::from(u64::arbitrary(g)),
        // A float that serde_json reads to the last bit without its feature for that.
        4 => Json::from(f64::from(i32::arbitrary(g)) / 8.0),
        5 => Json::from(string(g)),
        6 => (0..usize::arbitrary(g) % 4).map(|_| json(g, depth - 1)).collect(),
        _ => Json::Object(
            (0..usize::arbitrary(g) % 4).map(|_| (string(g), json(g, depth - 1))).collect(),
        ),
    }
}

impl Arbitrary for Doc {
    fn arbitrary(g: &mut Gen) -> Self {
        let value = json(g, 4);
        let good = if bool::arbitrary(g) {
            serde_json::to_string(&value).unwrap()
        } else {
            serde_json::to_string_pretty(&value).unwrap()
        };
        let mut hit = good.clone();
        for _ in 0..1 + usize::arbitrary(g) % 2 {
            let at = usize::arbitrary(g) % (hit.len() + 1);
            let to = at + usize::arbitrary(g) % 2;
            if hit.is_char_boundary(at) && hit.is_char_boundary(to) && to <= hit.len() {
                hit.replace_range(at..to, g.choose(HITS).unwrap());
            }
        }
        Self { good, hit }
    }
}

fn holds<T: quickcheck::Testable>(law: T) {
    QuickCheck::new().tests(3000).quickcheck(law);
}

/// The value that ours is, by way of its getters and iterators.
fn to_serde(value: Value<'_>) -> Json {
    match value.kind() {
        Kind::Null => Json::Null,
        Kind::Bool => Json::from(value.bool()),
        Kind::Str => Json::from(value.str()),
        Kind::Array => value.elements().map(to_serde).collect(),
        Kind::Object => {
            Json::Object(value.fields().map(|(k, v)| (k.into_owned(), to_serde(v))).collect())
        }
        _ if value.raw().contains(['.', 'e', 'E']) => Json::from(value.f64()),
        _ => value.u64().map(Json::from).or(value.i64().map(Json::from)).unwrap_or(Json::Null),
    }
}

#[test]
fn reader_agrees_on_good_documents() {
    fn law(doc: Doc) -> bool {
        let ours = Value::parse(&doc.good).unwrap();
        let theirs: Json = serde_json::from_str(&doc.good).unwrap();
        validate(&doc.good).is_ok() && to_serde(ours) == theirs && ours.raw() == doc.good
    }
    holds(law as fn(Doc) -> bool);
}

#[test]
fn reader_agrees_on_bad_documents() {
    // serde_json looks into numbers and surrogates only when it needs their value; a text that is
    // skipped is judged by the grammar alone, as here.
    fn law(doc: Doc) -> bool {
        let theirs = serde_json::from_str::<IgnoredAny>(&doc.hit).is_ok();
        let object = doc.hit.trim_start_matches([' ', '\n', '\r', '\t']).starts_with('{');
        let read = read_object(&doc.hit, &["type", "text", ""]);
        validate(&doc.hit).is_ok() == theirs
            && Value::parse(&doc.hit).is_ok() == theirs
            && RawJson::check(&doc.hit).is_ok() == theirs
            && match read {
                Ok(_) => theirs && object,
                Err(error) if error.kind == JsonErrorKind::NotAnObject => theirs && !object,
                Err(_) => !theirs,
            }
    }
    holds(law as fn(Doc) -> bool);
}

#[test]
fn slots_are_the_fields() {
    fn law(doc: Doc) -> bool {
        let Json::Object(map) = serde_json::from_str(&doc.good).unwrap() else { return true };
        let names = ["text", "type", "a", ""];
        let slots = read_object(&doc.good, &names).unwrap();
        names.iter().zip(slots).all(|(name, slot)| map.get(*name).cloned() == slot.map(to_serde))
    }
    holds(law as fn(Doc) -> bool);
}

#[test]
fn raw_text_on_one_line_means_the_same() {
    fn law(doc: Doc) -> bool {
        let raw = RawJson::check(&doc.good).unwrap();
        let theirs: Json = serde_json::from_str(&doc.good).unwrap();
        let again: Json = serde_json::from_str(raw.as_str()).unwrap();
        let value = Value::parse(&doc.good).unwrap();
        !raw.as_str().contains(['\n', '\r', '\u{2028}', '\u{2029}'])
            && theirs == again
            && RawJson::from(value) == raw
    }
    holds(law as fn(Doc) -> bool);
}

#[test]
fn strings_come_back() {
    fn law(text: String, picks: Vec<u8>) -> bool {
        let more = picks.iter().map(|n| STRINGS[usize::from(*n) % STRINGS.len()]);
        let text: String = more.chain([&*text]).collect();
        let mut out = Vec::new();
        ArrayWriter::begin(&mut out).str(&text);
        let out = String::from_utf8(out).unwrap();
        let ours = Value::parse(&out).unwrap().elements().next().and_then(|v| v.str()).unwrap();
        let theirs: Vec<String> = serde_json::from_str(&out).unwrap();
        ours == text
            && theirs == [&*text]
            && escaped_len(&text) == out.len() - 4
            && !out.contains(['\u{2028}', '\u{2029}', '\n', '\r'])
    }
    holds(law as fn(String, Vec<u8>) -> bool);
}

#[test]
fn whole_numbers_of_any_length_are_written_in_decimal() {
    let powers = (0..20).map(|n| 10_u64.pow(n));
    for n in powers.flat_map(|power| [power - 1, power, power + 7]).chain([u64::MAX]) {
        let mut out = Vec::new();
        ObjectWriter::begin(&mut out).u64("n", n);
        assert_eq!(String::from_utf8(out).unwrap(), format!(r#"{{"n":{n}}}"#));
    }
}

#[test]
fn numbers_come_back() {
    fn law(u: u64, i: i64, bits: u64) -> bool {
        let f = f64::from_bits(bits);
        let mut out = Vec::new();
        ObjectWriter::begin(&mut out).u64("u", u).i64("i", i).f64("f", f);
        let out = String::from_utf8(out).unwrap();
        let [a, b, c] = read_object(&out, &["u", "i", "f"]).unwrap().map(Option::unwrap);
        let finite = if f.is_finite() { c.f64() == Some(f) } else { c.is_null() };
        a.u64() == Some(u) && b.i64() == Some(i) && finite
    }
    holds(law as fn(u64, i64, u64) -> bool);
    let mut out = Vec::new();
    let mut list = ArrayWriter::begin(&mut out);
    list.f64(1.0)
        .f64(0.1)
        .f64(1e21)
        .f64(-2.5e-9)
        .f64(f64::NAN)
        .f64(f64::INFINITY)
        .f64(-0.0)
        .i64(i64::MIN)
        .u64(0);
    list.end();
    assert_eq!(out, b"[1,0.1,1e21,-2.5e-9,null,null,-0,-9223372036854775808,0]");
}

#[test]
fn nested_writers_close_what_they_open() {
    let mut out = Vec::new();
    let mut object = ObjectWriter::begin(&mut out);
    object.opt_str("no", None).opt_u64("none", None).opt_str("s", Some("x")).opt_u64("n", Some(1));
    object.object("empty").end();
    let mut list = object.array("list");
    list.object().null("a").object("b").array("c");
    list.array().bool(true).bool(false).null();
    list.raw(&RawJson::check("{\"x\":\n1}").unwrap());
    list.end();
    object.raw("raw", &RawJson::check(" [\r\n] ").unwrap()).bool("t", true).bool("f", false);
    object.end();
    let text = concat!(
        r#"{"s":"x","n":1,"empty":{},"list":[{"a":null,"b":{"c":[]}},[true,false,null],"#,
        r#"{"x":1}],"raw": [] ,"t":true,"f":false}"#
    );
    assert_eq!(String::from_utf8(out).unwrap(), text);
}

#[test]
fn depth_is_bounded_and_takes_no_stack() {
    for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
        let nested = |levels: usize| {
            let inner = if open == "[" { "" } else { "1" };
            open.repeat(levels) + inner + &close.repeat(levels)
        };
        let deepest = nested(JSON_DEPTH_MAX_LEVELS);
        assert_eq!(validate(&deepest), Ok(()));
        let deeper = nested(JSON_DEPTH_MAX_LEVELS + 1);
        let error = validate(&deeper).unwrap_err();
        let at = JSON_DEPTH_MAX_LEVELS * open.len();
        assert_eq!((error.kind, error.at), (JsonErrorKind::TooDeep, at));
        assert_eq!(error.kind.code().as_str(), "nested_too_deep");
        // The object around a value is a level, for the reader as for the check.
        let error = |levels| read_object(&format!("{{\"a\":{}}}", nested(levels)), &["a"]).err();
        assert_eq!(error(JSON_DEPTH_MAX_LEVELS - 1), None);
        assert_eq!(error(JSON_DEPTH_MAX_LEVELS).map(|e| e.kind), Some(JsonErrorKind::TooDeep));
        assert_eq!(validate(&open.repeat(100_000)).unwrap_err().kind, JsonErrorKind::TooDeep);
    }
    // Levels of both kinds in turn, past one word of the nesting.
    let mixed = "[{\"a\":".repeat(100) + "1" + &"}]".repeat(100);
    assert_eq!(validate(&mixed), Ok(()));
    let wrong = "[{\"a\":".repeat(100) + "1" + &"}]".repeat(20) + "]";
    assert_eq!(validate(&wrong).unwrap_err().at, 600 + 1 + 40);
}

#[test]
fn getters_refuse_other_kinds() {
    let text = r#"{"s":"1","n":1,"b":true,"z":null,"l":[1],"o":{"a":1}}"#;
    let values = read_object(text, &["s", "n", "b", "z", "l", "o"]).unwrap().map(Option::unwrap);
    let [s, n, b, z, l, o] = values;
    assert!([n, b, z, l, o].iter().all(|v| v.str().is_none() && v.str_halves().is_none()));
    assert!([s, b, z, l, o].iter().all(|v| v.u64().or(v.i64().map(|_| 0)).is_none()));
    assert!([s, b, z, l, o].iter().all(|v| v.f64().is_none()));
    assert!([s, n, z, l, o].iter().all(|v| v.bool().is_none()));
    assert!([s, n, b, l, o].iter().all(|v| !v.is_null()) && z.is_null());
    assert!([s, n, b, z, o].iter().all(|v| v.elements().next().is_none()));
    assert!([s, n, b, z, l].iter().all(|v| v.fields().next().is_none()));
    assert_eq!(
        o.fields().map(|(k, v)| (k.into_owned(), v.u64())).next(),
        Some(("a".into(), Some(1)))
    );
}
