//! Laws of the dialects: what is encoded is decoded, tables are true, cuts change nothing.

use quickcheck::{Arbitrary, Gen, quickcheck};
use turnwire::dialect::{Carriage, Decoder, Dialect, Encoder, Stamp};
use turnwire::event::{
    Answer, ApprovalRequired, ApprovalResolved, Cancelled, Choice, Compacted, Context,
    Continuation, Decision, Done, Envelope, Error, Event, EventKind, Fallback, ImageFinished,
    ImageStarted, Media, Message, Notice, OutputStream, PlanProposed, PlanResolved, Progress,
    Question, QuestionItem, QuestionOutcome, QuestionResolved, Queue, ReasoningDelta, Resync, Role,
    State, SubagentFinished, SubagentStarted, SubagentText, SubagentTool, TextDelta, Title, Todo,
    TodoItem, ToolArgs, ToolArgsDelta, ToolCall, ToolOutput, ToolProgress, ToolResult, ToolStart,
    TraceEntry, TurnStarted, Unknown, UserMessage,
};

/// One event of each kind, so that a table can be held against the code.
fn sample(kind: EventKind) -> Event<'static> {
    match kind {
        EventKind::TurnStarted => {
            let mut start = TurnStarted::new();
            start.user_message_id = Some("u".into());
            start.into()
        }
        EventKind::UserMessage => UserMessage::new("u").into(),
        EventKind::Progress => Progress::new("running").into(),
        EventKind::ReasoningDelta => ReasoningDelta::new("r").into(),
        EventKind::TextDelta => TextDelta::new("t").into(),
        EventKind::Message => Message::new(Role::Assistant, "t").into(),
        EventKind::ToolCall => ToolCall::new("c", "n").into(),
        EventKind::ToolArgsDelta => ToolArgsDelta::new("c", "{").into(),
        EventKind::ToolArgs => ToolArgs::new("c", "n", "{}").into(),
        EventKind::ToolStart => {
            let mut start = ToolStart::new("n");
            start.call_id = Some("c".into());
            start.into()
        }
        EventKind::ToolOutput => ToolOutput::new("c", OutputStream::Stdout, "o").into(),
        EventKind::ToolProgress => ToolProgress::new("c", 1_u64).into(),
        EventKind::ToolResult => {
            let mut result = ToolResult::new("n", true, "s");
            result.call_id = Some("c".into());
            result.output = Some("o".into());
            result.into()
        }
        EventKind::Question => {
            let mut question = Question::new("q", [QuestionItem::new("q1", "t")]);
            question.kind = Some("text".into());
            question.into()
        }
        EventKind::QuestionResolved => QuestionResolved::new("q", QuestionOutcome::Answered).into(),
        EventKind::ApprovalRequired => ApprovalRequired::new("a", []).into(),
        EventKind::ApprovalResolved => ApprovalResolved::new("a", Decision::Allow, "user").into(),
        EventKind::PlanProposed => PlanProposed::new("p").into(),
        EventKind::PlanResolved => PlanResolved::new(true).into(),
        EventKind::SubagentStarted => SubagentStarted::new("c").into(),
        EventKind::SubagentText => SubagentText::new("c", "t").into(),
        EventKind::SubagentTool => SubagentTool::new("c", "n").into(),
        EventKind::SubagentFinished => SubagentFinished::new("c", true).into(),
        EventKind::ImageStarted => ImageStarted::new("i", "c", "p").into(),
        EventKind::ImageFinished => ImageFinished::new("i", "c", true).into(),
        EventKind::Media => Media::new("c", "image", "image/png", "u").into(),
        EventKind::Todo => Todo::new([]).into(),
        EventKind::Context => Context::new(1_u64, 2_u64, 0.5, "replay", "normal").into(),
        EventKind::Fallback => Fallback::new("a", "b", "c").into(),
        EventKind::Continuation => Continuation::new("p", "m", "a", "b", "c").into(),
        EventKind::Notice => Notice::new("n").into(),
        EventKind::Compacted => Compacted::new().into(),
        EventKind::Title => Title::new("t").into(),
        EventKind::Queue => Queue::new([], []).into(),
        EventKind::State => State::new("s").into(),
        EventKind::Resync => Resync::new("overflow").into(),
        EventKind::Done => Done::new().into(),
        EventKind::Error => Error::new("e").into(),
        EventKind::Cancelled => Cancelled::new("user").into(),
        EventKind::Unknown => Unknown::new("n", "raw that is no JSON").into(),
    }
}

#[test]
fn the_table_of_each_dialect_says_what_its_encoder_does() {
    for dialect in Dialect::ALL {
        for kind in EventKind::ALL {
            let event = sample(*kind);
            assert_eq!(event.kind(), *kind);
            let (mut encoder, mut out) = (Encoder::new(*dialect, None).unwrap(), Vec::new());
            if *kind != EventKind::TurnStarted {
                encoder.encode(&Stamp::default(), &sample(EventKind::TurnStarted), &mut out);
            }
            let (before, losses) = (out.len(), encoder.losses().len());
            let said = encoder.encode(&Stamp::default(), &event, &mut out);
            let place = format!("{dialect:?}, {}", kind.name());
            assert_eq!(said, dialect.carriage(*kind), "{place}");
            // What is derived may be said by frames of other events, now or at another time.
            if said != Carriage::Derived {
                let written = matches!(said, Carriage::Carried | Carriage::Degraded(_));
                assert_eq!(written, out.len() > before, "{place}");
            }
            let lost = matches!(said, Carriage::Degraded(_) | Carriage::Dropped);
            assert_eq!(encoder.losses().len() - losses, usize::from(lost), "{place}");
        }
    }
}

#[test]
fn every_event_survives_its_json_form() {
    for kind in EventKind::ALL {
        let event = sample(*kind);
        let json = serde_json::to_value(&event).unwrap();
        assert_eq!(json["type"], kind.name());
        assert_eq!(serde_json::from_value::<Event<'static>>(json).unwrap(), event);
    }
    let answer: Answer<'_> = serde_json::from_str(r#"{"id":"q1","selected":["a"]}"#).unwrap();
    assert_eq!(answer.selected, ["a"]);
}

/// An event that a dialect carries whole, with text that is hard to frame.
#[derive(Clone, Debug)]
struct Carried(Event<'static>);

fn text(g: &mut Gen) -> String {
    let hard = ["\r\n", "\n\n", "data: ", "\u{2028}", "\0", "\"", "\\", "😀", "[DONE]", "\u{FEFF}"];
    let mut text = String::arbitrary(g);
    for _ in 0..u8::arbitrary(g) % 4 {
        text.push_str(g.choose(&hard).copied().unwrap_or_default());
    }
    text
}

fn maybe(g: &mut Gen) -> Option<std::borrow::Cow<'static, str>> {
    bool::arbitrary(g).then(|| text(g).into())
}

impl Arbitrary for Carried {
    fn arbitrary(g: &mut Gen) -> Self {
        Self(match u8::arbitrary(g) % 16 {
            0 => TextDelta::new(text(g)).into(),
            1 => {
                let mut start = ToolStart::new(text(g));
                start.call_id = maybe(g);
                start.into()
            }
            2 => {
                let mut result = ToolResult::new(text(g), bool::arbitrary(g), text(g));
                result.call_id = maybe(g);
                result.preview = maybe(g);
                result.output = maybe(g);
                result.status = maybe(g);
                result.exit_code = Option::arbitrary(g);
                result.files_changed = maybe(g).into_iter().collect();
                result.into()
            }
            3 => {
                let mut done = Done::new();
                done.text = maybe(g);
                done.cwd = maybe(g);
                for _ in 0..u8::arbitrary(g) % 3 {
                    done.tool_trace.push(TraceEntry::new(text(g), bool::arbitrary(g), text(g)));
                }
                done.into()
            }
            4 => {
                let mut error = Error::new(text(g));
                // The statuses that every dialect's stream carries.
                error.status = *g.choose(&[None, Some(499), Some(426)]).unwrap();
                error.into()
            }
            5 => {
                let mut question = Question::new(text(g), []);
                for _ in 0..u8::arbitrary(g) % 3 {
                    let mut item = QuestionItem::new(text(g), text(g));
                    item.header = maybe(g);
                    item.options.push(Choice::new(text(g), text(g)));
                    item.multiple = bool::arbitrary(g);
                    item.free_text = bool::arbitrary(g);
                    question.questions.push(item);
                }
                question.kind = maybe(g);
                question.timeout_ms = Option::arbitrary(g);
                question.into()
            }
            6 => {
                let mut end = SubagentFinished::new(text(g), bool::arbitrary(g));
                end.summary = maybe(g);
                end.error = maybe(g);
                end.tool_calls = Option::arbitrary(g);
                end.into()
            }
            7 => {
                let mut image = ImageFinished::new(text(g), text(g), bool::arbitrary(g));
                image.url = maybe(g);
                image.prompt = maybe(g);
                image.into()
            }
            8 => {
                let mut todo = Todo::new([]);
                for _ in 0..u8::arbitrary(g) % 3 {
                    let mut item = TodoItem::new(text(g));
                    item.id = maybe(g);
                    item.status = maybe(g);
                    todo.items.push(item);
                }
                todo.into()
            }
            9 => {
                let mut change = Continuation::new(text(g), text(g), text(g), text(g), text(g));
                change.detail = maybe(g);
                change.recovered = Option::arbitrary(g);
                change.into()
            }
            10 => ToolArgs::new(text(g), text(g), text(g)).into(),
            11 => {
                let mut notice = Notice::new(text(g));
                notice.detail = maybe(g);
                notice.into()
            }
            12 => {
                let list = |g: &mut Gen| maybe(g).into_iter().collect::<Vec<_>>();
                Queue::new(list(g), list(g)).into()
            }
            13 => {
                let mut state = State::new(text(g));
                state.message = maybe(g);
                state.into()
            }
            14 => {
                let mut end = QuestionResolved::new(text(g), QuestionOutcome::Answered);
                let mut answer = Answer::new(text(g));
                answer.selected = maybe(g).into_iter().collect();
                answer.text = maybe(g);
                end.answers.push(answer);
                end.into()
            }
            _ => ReasoningDelta::new(text(g)).into(),
        })
    }
}

/// The events that `dialect` says in frames of their own, whole.
fn carried(dialect: Dialect, events: &[Carried]) -> Vec<Carried> {
    let whole = |event: &Event<'_>| {
        let mut encoder = Encoder::new(dialect, None).unwrap();
        encoder.encode(&Stamp::default(), event, &mut Vec::new()) == Carriage::Carried
    };
    events.iter().cloned().map(|event| known(dialect, event)).filter(|e| whole(&e.0)).collect()
}

/// The event without the fields that `dialect` leaves out without a loss: a summary and a preview
/// are all that `agent` shows of a result.
fn known(dialect: Dialect, mut event: Carried) -> Carried {
    if let ("agent", Event::ToolResult(result)) = (dialect.name(), &mut event.0) {
        (result.output, result.status, result.exit_code) = (None, None, None);
        result.files_changed.clear();
    }
    event
}

fn encode(dialect: Dialect, events: &[Carried]) -> Vec<u8> {
    let mut encoder = Encoder::new(dialect, None).unwrap();
    let mut out = Vec::new();
    for Carried(event) in events {
        encoder.encode(&Stamp::default(), event, &mut out);
    }
    out
}

fn decode<'c>(
    dialect: Dialect,
    chunks: impl IntoIterator<Item = &'c [u8]>,
) -> (Vec<Event<'static>>, Vec<String>) {
    let mut decoder = Decoder::new(dialect, None).unwrap();
    let mut events = Vec::new();
    let mut sink = |envelope: &Envelope<'_>| events.push(envelope.event.clone().into_owned());
    chunks.into_iter().for_each(|chunk| decoder.feed(chunk, &mut sink));
    decoder.finish(&mut sink);
    let odd = decoder.diagnostics().drain().map(|d| d.to_string()).collect();
    (events, odd)
}

/// Cuts at `cuts`, each taken within the length.
fn pieces<'b>(bytes: &'b [u8], cuts: &[usize]) -> Vec<&'b [u8]> {
    let mut at: Vec<usize> = cuts.iter().map(|cut| cut % (bytes.len() + 1)).collect();
    at.extend([0, bytes.len()]);
    at.sort_unstable();
    at.windows(2).map(|ends| &bytes[ends[0]..ends[1]]).collect()
}

quickcheck! {
    fn what_is_encoded_is_decoded(events: Vec<Carried>, cuts: Vec<usize>) -> bool {
        Dialect::ALL.iter().all(|dialect| {
            let sent = carried(*dialect, &events);
            let (mut encoder, mut bytes) = (Encoder::new(*dialect, None).unwrap(), Vec::new());
            let mut encode = |event| encoder.encode(&Stamp::default(), event, &mut bytes);
            let said: Vec<_> = sent.iter().map(|event| encode(&event.0)).collect();
            let (seen, odd) = decode(*dialect, pieces(&bytes, &cuts));
            // After other events a part of one may have been said before.
            let same = sent.iter().zip(&said).zip(&seen).all(|((sent, said), seen)| match said {
                Carriage::Carried => sent.0 == *seen,
                _ => sent.0.kind() == seen.kind(),
            });
            same && sent.len() == seen.len() && odd.is_empty()
        })
    }

    fn odd_bytes_never_stop_a_stream(junk: Vec<u8>, events: Vec<Carried>) -> bool {
        Dialect::ALL.iter().all(|dialect| {
            // A line end closes what the junk left open; then the stream is in order again.
            let mut bytes = junk.clone();
            bytes.extend(b"\n\n\n");
            let good = encode(*dialect, &events);
            let (alone, _) = decode(*dialect, [&bytes[..]]);
            bytes.extend(&good);
            let (seen, _) = decode(*dialect, [&bytes[..]]);
            let (clean, _) = decode(*dialect, [&good[..]]);
            seen.len() >= alone.len() && seen[alone.len()..] == clean[..]
        })
    }

    fn cuts_change_nothing(events: Vec<Carried>, wound: (usize, u8), cuts: Vec<usize>) -> bool {
        Dialect::ALL.iter().all(|dialect| {
            let mut bytes = encode(*dialect, &events);
            if !bytes.is_empty() {
                let at = wound.0 % bytes.len();
                bytes[at] = wound.1;
            }
            decode(*dialect, pieces(&bytes, &cuts)) == decode(*dialect, [&bytes[..]])
        })
    }
}

#[test]
fn a_stream_that_stops_early_gets_a_legal_ending() {
    for dialect in Dialect::ALL {
        let (mut encoder, mut out) = (Encoder::new(*dialect, None).unwrap(), Vec::new());
        encoder.encode(&Stamp::default(), &sample(EventKind::TextDelta), &mut out);
        encoder.finish(&mut out);
        encoder.finish(&mut out);
        let (events, _) = decode(*dialect, [&out[..]]);
        let ends: Vec<_> = events.iter().filter(|e| e.is_terminal()).map(Event::kind).collect();
        let trailer = dialect.rules().trailer.then_some(EventKind::Done);
        assert_eq!(ends, [EventKind::Error].into_iter().chain(trailer).collect::<Vec<_>>());
    }
}

#[test]
fn a_question_that_is_settled_after_its_turn_opens_none() {
    for dialect in Dialect::ALL {
        let (mut encoder, mut out) = (Encoder::new(*dialect, None).unwrap(), Vec::new());
        for kind in [EventKind::TextDelta, EventKind::Done, EventKind::QuestionResolved] {
            encoder.encode(&Stamp::default(), &sample(kind), &mut out);
        }
        let before = out.len();
        encoder.finish(&mut out);
        assert_eq!(out.len(), before, "{dialect:?}");
    }
}

#[test]
fn a_call_id_of_any_length_is_read() {
    for (bytes, name) in [(1000, "pwd"), (100_000, "tool")] {
        let id = "c".repeat(bytes);
        let started = format!(r#"{{"type":"tool_call_started","callId":"{id}","name":"pwd"}}"#);
        let result = format!(r#"{{"type":"tool_result","callId":"{id}","result":"x"}}"#);
        let wire = format!("data: {started}\n\ndata: {result}\n\n");
        let (events, _) = decode(Dialect::RESPOND, [wire.as_bytes()]);
        let [Event::ToolCall(_), Event::ToolResult(result)] = &events[..] else {
            panic!("{} events", events.len())
        };
        // The result names no tool, and no memory is spent on the name of a call with a long id.
        assert!(result.call_id.as_deref() == Some(&*id));
        assert_eq!(&*result.name, name);
    }
}
