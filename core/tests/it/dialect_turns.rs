//! A whole turn through each dialect: what a backend says is what a host shows.

use turnwire::dialect::{Decoder, Dialect};
use turnwire::error::CallerError;
use turnwire::event::{Channel, Envelope, ToolStart};
use turnwire::host::{Fold, FoldOptions, RowKind};
use turnwire::time::Millis;
use turnwire::turn::{Failure, Finish, Output, ToolOutcome};
use turnwire::{Turn, TurnOptions};

const NOW: Millis = Millis(0);

/// The host of a turn that `say` makes, after the end of its stream.
fn shown(
    dialect: Dialect,
    say: impl Fn(&mut Turn, &mut Vec<u8>) -> Result<(), CallerError>,
) -> Fold {
    let mut turn = Turn::new(Some(dialect), TurnOptions::default()).unwrap();
    let mut bytes = Vec::new();
    say(&mut turn, &mut bytes).unwrap();
    let mut fold = Fold::new(FoldOptions::new(*dialect.rules())).unwrap();
    fold.submit("Hello?", None, 1_764_536_400_000).unwrap();
    let mut decoder = Decoder::new(dialect, None).unwrap();
    let mut sink = |envelope: &Envelope<'_>| {
        let mut envelope = envelope.clone();
        // It is this host's own turn, whatever channel shows it.
        envelope.channel = Channel::Turn;
        fold.apply(&envelope, 1_764_536_400_100);
    };
    decoder.feed(&bytes, &mut sink);
    decoder.finish(&mut sink);
    let odd: Vec<_> = decoder.diagnostics().drain().map(|odd| odd.to_string()).collect();
    assert_eq!(odd, Vec::<String>::new(), "{dialect:?}");
    fold
}

fn line(fold: &Fold) -> String {
    fold.rows().last().map(|row| row.text.clone()).unwrap_or_default()
}

fn said(fold: &Fold) -> String {
    let rows = fold.rows();
    let rows = rows.iter().filter(|row| row.kind == RowKind::Assistant);
    rows.map(|row| row.text.as_str()).collect()
}

fn work(turn: &mut Turn, out: &mut Vec<u8>) -> Result<(), CallerError> {
    turn.reasoning(NOW, "Let me see.", out)?;
    turn.text(NOW, "I look. ", out)?;
    turn.tool_start(NOW, ToolStart::new("read_file"), out)?;
    turn.tool_result(NOW, ToolOutcome::new("read_file", Output::Text("read_file a.md:\nx")), out)
}

#[test]
fn a_turn_that_goes_well() {
    for dialect in Dialect::ALL {
        let fold = shown(*dialect, |turn, out| {
            work(turn, out)?;
            turn.text(NOW, "It says x.", out)?;
            turn.finish(NOW, Finish::default(), out)
        });
        assert_eq!(said(&fold), "I look. It says x.", "{dialect:?}");
        assert_eq!(line(&fold), "Turn ended · model finished", "{dialect:?}");
        let rows = fold.rows();
        let card = rows.iter().find(|row| row.kind == RowKind::ToolRun).unwrap();
        let text = fold.row_text(card.id).unwrap();
        let head = "toolrun\t1\t1/0/0\n1\tok\tread_file\t";
        assert!(text.starts_with(head), "{dialect:?}: {text:?}");
    }
}

#[test]
fn a_text_that_was_never_streamed() {
    for dialect in Dialect::ALL {
        let fold = shown(*dialect, |turn, out| {
            let mut whole = Finish::default();
            whole.text = Some("All at once.");
            turn.finish(NOW, whole, out)
        });
        assert_eq!(said(&fold), "All at once.", "{dialect:?}");
    }
}

#[test]
fn a_turn_that_fails() {
    for dialect in Dialect::ALL {
        let fold = shown(*dialect, |turn, out| {
            turn.tool_start(NOW, ToolStart::new("exec"), out)?;
            turn.fail(NOW, Failure::new("No."), out)
        });
        assert_eq!(line(&fold), "Turn ended · error · No.", "{dialect:?}");
    }
}

#[test]
fn a_turn_that_is_stopped() {
    for dialect in Dialect::ALL {
        let mut fold = shown(*dialect, |turn, out| {
            turn.text(NOW, "I ", out)?;
            turn.cancel(NOW, "user", out)
        });
        // In `respond` the stream just closes: whoever did not stop the turn has lost it.
        let closes = dialect.name() == "respond";
        if closes {
            fold.end_of_input(Channel::Turn, 1_764_536_400_200);
        }
        assert_eq!(line(&fold).contains("you stopped"), !closes, "{dialect:?}: {}", line(&fold));
        assert!(line(&fold).starts_with("Turn ended"), "{dialect:?}");
    }
}
