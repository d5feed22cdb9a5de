//! Laws of the two decoders.

use quickcheck::{Arbitrary, Gen, QuickCheck};
use turnwire::wire::{NdjsonDecoder, NdjsonOptions, SseDecoder, SseOptions, Step};

use crate::wire_support::{Got, Said, cut, ndjson, sse, sse_options};

/// Bytes of which every few mean something to a decoder.
#[derive(Clone, Debug)]
struct Stream(Vec<u8>);

const TOKENS: &[&[u8]] = &[
    b":",
    b" ",
    b"\r",
    b"\n",
    b"\r\n",
    b"\n\n",
    b"a",
    b"7",
    b"\0",
    b"\xEF\xBB\xBF",
    b"\xEF",
    b"\xFF",
    b"\xE9\x82",
    "é".as_bytes(),
    b"data",
    b"id",
    b"event",
    b"retry",
    b"data: ",
    b"data:",
    b"id: 1",
    b"event: e",
    b"retry: 30",
    b"{}",
    b"0123456789012345678901234567890123456789",
];

impl Arbitrary for Stream {
    fn arbitrary(g: &mut Gen) -> Self {
        let count = usize::arbitrary(g) % 40;
        Self((0..count).flat_map(|_| g.choose(TOKENS).unwrap().iter().copied()).collect())
    }

    fn shrink(&self) -> Box<dyn Iterator<Item = Self>> {
        Box::new(self.0.shrink().map(Self))
    }
}

fn holds<T: quickcheck::Testable>(law: T) {
    QuickCheck::new().tests(3000).quickcheck(law);
}

/// The standard's algorithm, all at once, as it is written there: decode, cut into lines, go over
/// the lines. Of the diagnostics it knows none, and no bound.
fn reference(bytes: &[u8]) -> Said {
    let text = String::from_utf8_lossy(bytes);
    let text = text.strip_prefix('\u{FEFF}').unwrap_or(&text);
    let text = text.replace("\r\n", "\n").replace('\r', "\n");
    let mut lines: Vec<_> = text.split('\n').collect();
    lines.pop();
    let mut said = Said::default();
    let (mut data, mut event, mut id) = (String::new(), String::new(), String::new());
    for line in lines {
        if line.is_empty() {
            said.last_event_id.clone_from(&id);
            if !data.is_empty() {
                data.pop();
                let name = if event.is_empty() { "message" } else { &event };
                said.frames.push(Got {
                    event: name.into(),
                    data: data.clone(),
                    id: id.clone(),
                    at: 0,
                    terminated: true,
                });
            }
            data.clear();
            event.clear();
            continue;
        }
        let (name, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match name {
            "" => said.comments += 1,
            "data" => data.extend([value, "\n"]),
            "event" => event = value.into(),
            "id" if !value.contains('\0') => id = value.into(),
            "retry" if !value.is_empty() && value.bytes().all(|b| b.is_ascii_digit()) => {
                said.retry_ms = Some(value.parse().unwrap_or(u64::MAX));
            }
            _ => {}
        }
    }
    said
}

#[test]
fn decoder_agrees_with_the_standard() {
    fn law(stream: Stream) -> bool {
        let mut said = sse(&[&stream.0], None, false);
        said.diagnostics.clear();
        said.frames.iter_mut().for_each(|frame| frame.at = 0);
        said == reference(&stream.0)
    }
    holds(law as fn(Stream) -> bool);
}

#[test]
fn chunks_change_nothing() {
    fn law(stream: Stream, offsets: Vec<usize>, lenient: bool, small: bool) -> bool {
        let max = small.then_some(64);
        let chunks = cut(&stream.0, &offsets);
        let single: Vec<_> = stream.0.chunks(1).collect();
        let whole: &[&[u8]] = &[&stream.0];
        let events = sse(whole, max, lenient);
        let records = ndjson(whole, max);
        sse(&chunks, max, lenient) == events
            && sse(&single, max, lenient) == events
            && ndjson(&chunks, max) == records
            && ndjson(&single, max) == records
    }
    holds(law as fn(Stream, Vec<usize>, bool, bool) -> bool);
}

#[test]
fn each_frame_begins_where_it_says() {
    fn law(stream: Stream) -> bool {
        // What comes before a frame's place makes the frames before it and no more.
        let all = sse(&[&stream.0], None, false).frames;
        all.iter().enumerate().all(|(n, frame)| {
            let before = sse(&[&stream.0[..frame.at as usize]], None, false);
            before.frames == all[..n] && before.diagnostics.iter().all(|d| d.0 != "truncated_tail")
        })
    }
    holds(law as fn(Stream) -> bool);
}

#[test]
fn records_are_the_lines_that_are_not_blank() {
    fn law(stream: Stream) -> bool {
        let text = String::from_utf8_lossy(&stream.0);
        let text = text.strip_prefix('\u{FEFF}').unwrap_or(&text);
        let lines = text.split(['\r', '\n']);
        let want: Vec<_> =
            lines.filter(|line| !line.trim_matches([' ', '\t']).is_empty()).collect();
        let said = ndjson(&[&stream.0], None);
        let ends = said.frames.iter().all(|f| f.terminated) == text.ends_with(['\r', '\n'])
            || want.is_empty()
            || text.trim_end_matches([' ', '\t']).ends_with(['\r', '\n']);
        ends && said.frames.iter().map(|f| &*f.data).eq(want)
    }
    holds(law as fn(Stream) -> bool);
}

#[test]
fn a_long_line_in_small_chunks_is_one_frame() {
    let text = "x".repeat(3 << 20);
    let stream = format!("event: done\ndata: {{\"text\":\"{text}\"}}\nid: 9\n\ndata: next\n\n");
    let chunks: Vec<_> = stream.as_bytes().chunks(16 << 10).collect();
    let said = sse(&chunks, None, false);
    assert_eq!(said.frames.len(), 2);
    assert_eq!(said.frames[0].data.len(), text.len() + 11);
    assert_eq!((&*said.frames[0].event, &*said.frames[0].id), ("done", "9"));
    assert_eq!(said.frames[1].data, "next");
}

#[test]
fn an_oversized_event_is_never_held() {
    let mut decoder = SseDecoder::new(sse_options(Some(1000), false)).unwrap();
    for _ in 0..1000 {
        let mut input = &b"data: 0123456789\ndata: 0123456789"[..];
        assert_eq!(decoder.next(&mut input), Step::NeedMore);
        assert!(decoder.buffered() <= 1000);
    }
    let codes: Vec<_> = decoder.diagnostics().drain().map(|d| (d.code.as_str(), d.at)).collect();
    assert_eq!(codes, [("event_too_large", 0)]);
    let mut input = &b"\n\ndata: ok\n\n"[..];
    let Step::Frame(frame) = decoder.next(&mut input) else { panic!("a frame") };
    assert_eq!((&*frame.data, frame.at), ("ok", 33_002));
}

#[test]
fn a_bound_below_the_floor_is_refused() {
    let mut options = SseOptions::default();
    options.max_event_bytes = 63;
    let error = SseDecoder::new(options).unwrap_err();
    assert_eq!(
        (error.code.as_str(), error.detail.as_deref()),
        ("bad_option", Some("max_event_bytes"))
    );
    let mut options = NdjsonOptions::default();
    options.max_line_bytes = 63;
    let error = NdjsonDecoder::new(options).unwrap_err();
    assert_eq!(
        (error.code.as_str(), error.detail.as_deref()),
        ("bad_option", Some("max_line_bytes"))
    );
}

#[test]
fn a_new_connection_keeps_the_last_id() {
    let mut decoder = SseDecoder::default();
    let mut input = &b"\xEF\xBB\xBFid: 5\nretry: 9\ndata: a\n\nid: 6\ndata: b\r"[..];
    assert!(matches!(decoder.next(&mut input), Step::Frame(_)));
    assert_eq!(decoder.next(&mut input), Step::NeedMore);
    assert_eq!(decoder.finish(), Step::Finished);
    decoder.restart();
    let mut input = &b"\xEF\xBB\xBFdata: c\n\n"[..];
    let Step::Frame(frame) = decoder.next(&mut input) else { panic!("a frame") };
    assert_eq!((&*frame.data, frame.id, frame.at), ("c", "5", 3));
    assert_eq!(decoder.retry_ms(), Some(9));

    let mut decoder = NdjsonDecoder::default();
    assert_eq!(decoder.next(&mut &b"{\"cut\""[..]), Step::NeedMore);
    decoder.restart();
    let mut input = &b"\xEF\xBB\xBF{}\n"[..];
    let Step::Frame(frame) = decoder.next(&mut input) else { panic!("a frame") };
    assert_eq!((&*frame.data, frame.at), ("{}", 3));
}

#[test]
fn what_fits_in_a_chunk_is_not_copied() {
    let mut decoder = SseDecoder::default();
    let stream = b"data: one\n\nevent: e\ndata: two\nid: 1\n\n";
    let mut input = &stream[..];
    let range = stream.as_ptr_range();
    for _ in 0..2 {
        let Step::Frame(frame) = decoder.next(&mut input) else { panic!("a frame") };
        assert!(range.contains(&frame.data.as_ptr()));
    }
}
