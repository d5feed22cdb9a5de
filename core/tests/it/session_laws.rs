//! A session under a scheduler that drops, delays, splits, kills and restarts, by seed.
//!
//! `TURNWIRE_SEEDS` says how many seeds to run (10,000 by default), `TURNWIRE_SEED` runs one.
//!
//! After each run: what the store acknowledged is in the log and the log is dense from 1; every
//! cursor's replay equals the rest of the stream of a reader that never went away, byte for byte,
//! what is live only aside; every reader's rows equal those of a host that reads all of it at once;
//! each turn has one terminal; an answer counted once.

use std::collections::BTreeMap;

use turnwire::dialect::Dialect;
use turnwire::event::{Answer, Channel, Envelope, Event, QuestionItem, ToolStart, TurnStarted};
use turnwire::log::ReaderId;
use turnwire::session::{Attach, Polled, Session, SessionOptions};
use turnwire::time::Millis;
use turnwire::turn::{Failure, Finish, Output, ToolOutcome};
use turnwire::{Host, HostOptions};

/// The dialects whose sessions are watched with ids.
const WATCHED: &[Dialect] = &[Dialect::WORKSPACE, Dialect::RUN];

/// Every event stream, for the law of replays.
const REPLAYED: &[(Dialect, Channel)] = &[
    (Dialect::AGENT, Channel::Turn),
    (Dialect::RESPOND, Channel::Turn),
    (Dialect::RUN, Channel::Events),
    (Dialect::WORKSPACE, Channel::Events),
    (Dialect::CHAT, Channel::Events),
];

struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % sides
    }

    fn pick<'t, T>(&mut self, of: &'t [T]) -> &'t T {
        &of[self.roll(of.len() as u64) as usize]
    }
}

/// A client: its host outlives its connections.
struct Client {
    dialect: Dialect,
    host: Host,
    connection: Option<ReaderId>,
    last_id: Option<String>,
    /// Bytes on their way to it.
    wire: Vec<u8>,
    sent: u64,
}

struct World {
    dice: Dice,
    now: Millis,
    session: Session,
    /// What the store acknowledged.
    stored: Vec<(u64, Vec<u8>)>,
    /// What it was given and has not acknowledged.
    handed: Vec<(u64, Vec<u8>)>,
    clients: Vec<Client>,
    answered: BTreeMap<String, u32>,
    questions: u64,
    calls: u64,
}

impl World {
    fn new(seed: u64) -> Self {
        let mut dice = Dice(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        for _ in 0..4 {
            dice.roll(2);
        }
        let clients = (0..1 + dice.roll(3)).map(|_| {
            let dialect = *dice.pick(WATCHED);
            let mut options = HostOptions::default();
            options.session_id = Some("s1".into());
            let host = Host::new(dialect, options).unwrap();
            Client { dialect, host, connection: None, last_id: None, wire: vec![], sent: 0 }
        });
        let clients = clients.collect();
        let capacity = 3 + dice.roll(12) as usize;
        let options = Self::options(capacity, &[]);
        Self {
            dice,
            now: Millis(0),
            session: Session::new(options).unwrap(),
            stored: vec![],
            handed: vec![],
            clients,
            answered: BTreeMap::new(),
            questions: 0,
            calls: 0,
        }
    }

    fn options(capacity: usize, stored: &[(u64, Vec<u8>)]) -> SessionOptions {
        let mut options = SessionOptions::new("s1", "e1");
        options.store = true;
        options.capacity = capacity;
        options.head = stored.last().map_or(0, |(seq, _)| *seq);
        options.anchors = stored.iter().filter(|(_, e)| is_start(e)).map(|(seq, _)| *seq).collect();
        options
    }

    fn step(&mut self) {
        match self.dice.roll(20) {
            0..=6 => self.speak(),
            7..=9 => self.store(),
            10..=15 => self.serve(),
            16 => self.drop_connection(),
            17 => self.user(),
            18 => self.now = Millis(self.now.0 + self.dice.roll(40_000)),
            _ if self.dice.roll(4) == 0 => self.kill(),
            _ => self.session.handle_timeout(self.now).unwrap(),
        }
    }

    /// The backend says something.
    fn speak(&mut self) {
        let now = self.now;
        if !self.session.is_busy() {
            let mut start = TurnStarted::new();
            start.user_text = Some(["Hi", "List", "Read it"][self.dice.roll(3) as usize].into());
            self.session.start_turn(now, start).unwrap();
            return;
        }
        let id = format!("c{}", self.calls);
        let roll = self.dice.roll(16);
        self.session
            .say(now, |turn, sink| match roll {
                0..=5 => turn.text(["Hel", "lo ", "\n", "那", "😀"][roll as usize % 5], sink),
                6 => turn.reasoning("hm ", sink),
                7 => turn.step(sink),
                8 | 9 => {
                    let mut start = ToolStart::new("bash");
                    start.call_id = Some(id.clone().into());
                    turn.tool_start(start, sink)
                }
                10 => turn.tool_output("c0", Default::default(), "out\n", sink).or(Ok(())),
                11 => turn.tool_result(ToolOutcome::new("bash", Output::Text("ok")), sink),
                12 => {
                    let item = QuestionItem::new("i", "Which?");
                    turn.ask(&format!("q{id}"), &[item], 30_000, now, sink).or(Ok(()))
                }
                13 => turn.finish(Finish::default(), sink),
                14 => turn.fail(Failure::new("No."), sink),
                _ => turn.cancel("user", sink),
            })
            .unwrap();
        self.calls += u64::from(matches!(roll, 8 | 9 | 12));
        self.questions += u64::from(roll == 12);
    }

    /// Somebody answers a question, which may be settled already, or never asked.
    fn user(&mut self) {
        let id = format!("qc{}", self.dice.roll(self.calls + 1));
        let counted = self.session.answer(self.now, &id, &[Answer::new("i")]).is_ok();
        if counted {
            *self.answered.entry(id).or_default() += 1;
        }
        let _ = self.session.settled();
    }

    /// The store takes something, acknowledges something, or both.
    fn store(&mut self) {
        while let Some((seq, entry)) = self.session.poll_store() {
            self.handed.push((seq, entry.to_vec()));
        }
        let done = self.dice.roll(self.handed.len() as u64 + 1) as usize;
        self.stored.extend(self.handed.drain(..done));
        if let Some((seq, _)) = self.stored.last() {
            self.session.handle_persisted(*seq);
        }
    }

    /// A client connects, or gets some bytes.
    fn serve(&mut self) {
        let n = self.dice.roll(self.clients.len() as u64) as usize;
        let client = &mut self.clients[n];
        let Some(reader) = client.connection else {
            let mut attach = Attach::default();
            attach.last_event_id.clone_from(&client.last_id);
            let reader = self.session.attach(self.now, client.dialect, attach).unwrap();
            client.connection = Some(reader);
            client.host.open(self.now, None, &mut |_| {}).unwrap();
            client
                .host
                .response(self.now, 200, "text/event-stream", None, None, &mut |_| {})
                .unwrap();
            return;
        };
        let enough = client.wire.len() + 1 + self.dice.roll(400) as usize;
        let polled = self.session.poll_reader(self.now, reader, enough, &mut client.wire);
        match polled {
            Polled::Fetch { after, limit } => {
                let limit = limit.min(1 + self.dice.roll(5) as usize);
                let behind = self.stored.iter().filter(|(seq, _)| *seq > after).take(limit);
                self.session.handle_fetched(reader, behind.cloned().collect());
            }
            Polled::Idle | Polled::More => {}
            other => panic!("{other:?}"),
        }
        let arrived = self.dice.roll(client.wire.len() as u64 + 1) as usize;
        client.arrive(self.now, arrived);
    }

    /// A connection breaks; what was on its way is lost from any byte on.
    fn drop_connection(&mut self) {
        let n = self.dice.roll(self.clients.len() as u64) as usize;
        let client = &mut self.clients[n];
        let Some(reader) = client.connection.take() else { return };
        let arrived = self.dice.roll(client.wire.len() as u64 + 1) as usize;
        client.arrive(self.now, arrived);
        client.wire.clear();
        client.host.fail(self.now, "network", None, &mut |_| {}).unwrap();
        client.last_id = client.host.last_event_id().map(String::from);
        self.session.detach(reader);
    }

    /// The process dies. What was handed to the store may or may not have reached it.
    fn kill(&mut self) {
        while let Some((seq, entry)) = self.session.poll_store() {
            self.handed.push((seq, entry.to_vec()));
        }
        let survived = self.dice.roll(self.handed.len() as u64 + 1) as usize;
        self.stored.extend(self.handed.drain(..survived));
        self.handed.clear();
        for n in 0..self.clients.len() {
            let client = &mut self.clients[n];
            if client.connection.take().is_some() {
                let arrived = self.dice.roll(client.wire.len() as u64 + 1) as usize;
                client.arrive(self.now, arrived);
                client.host.fail(self.now, "network", None, &mut |_| {}).unwrap();
                client.last_id = client.host.last_event_id().map(String::from);
            }
            client.wire.clear();
        }
        let capacity = 3 + self.dice.roll(12) as usize;
        let start = self.stored.iter().rposition(|(_, e)| is_start(e)).unwrap_or(0);
        let options = Self::options(capacity, &self.stored);
        self.session = Session::restore(options, self.now, &self.stored[start..]).unwrap();
    }

    /// Everything comes to rest: the turn ends, the store and all readers catch up.
    fn settle(&mut self) {
        self.session.handle_stop(self.now, "user").unwrap();
        while let Some((seq, entry)) = self.session.poll_store() {
            self.handed.push((seq, entry.to_vec()));
        }
        self.stored.append(&mut self.handed);
        let head = self.stored.last().map_or(0, |(seq, _)| *seq);
        self.session.handle_persisted(head);
        for n in 0..self.clients.len() {
            let client = &mut self.clients[n];
            if client.connection.is_none() {
                let mut attach = Attach::default();
                attach.last_event_id.clone_from(&client.last_id);
                client.connection =
                    Some(self.session.attach(self.now, client.dialect, attach).unwrap());
            }
            let reader = client.connection.unwrap();
            drain(&mut self.session, &self.stored, reader, &mut client.wire);
            client.arrive(self.now, client.wire.len());
        }
    }

    fn check(&mut self) {
        let seqs: Vec<_> = self.stored.iter().map(|(seq, _)| *seq).collect();
        assert_eq!(seqs, (1..=seqs.len() as u64).collect::<Vec<_>>(), "dense from 1");
        self.one_terminal_a_turn();
        assert!(self.answered.values().all(|count| *count == 1), "an answer counts once");
        for (dialect, channel) in REPLAYED {
            let frames = frames(&self.stream(*dialect, *channel, None));
            assert!(seqs.is_empty() || !frames.is_empty(), "{dialect:?} says something");
            for cursor in 0..=seqs.len() {
                let replay = self.stream(*dialect, *channel, Some(format!("e1-{cursor}")));
                let rest: Vec<_> = frames.iter().filter(|(seq, _)| *seq > cursor as u64).collect();
                let got = self::frames(&replay);
                assert_eq!(got.iter().collect::<Vec<_>>(), rest, "{dialect:?} from {cursor}");
            }
        }
        for dialect in WATCHED {
            let whole = self.stream(*dialect, Channel::Events, None);
            let mut options = HostOptions::default();
            options.session_id = Some("s1".into());
            let mut calm = Host::new(*dialect, options).unwrap();
            calm.feed(self.now, &whole, None, &mut |_| {}).unwrap();
            for client in self.clients.iter().filter(|client| client.dialect == *dialect) {
                assert_eq!(rows(&client.host), rows(&calm));
                assert_eq!(client.host.lifecycle(), calm.lifecycle());
            }
        }
    }

    fn stream(
        &mut self,
        dialect: Dialect,
        channel: Channel,
        last_event_id: Option<String>,
    ) -> Vec<u8> {
        let mut attach = Attach::default();
        attach.channel = Some(channel);
        attach.last_event_id = last_event_id;
        let reader = self.session.attach(self.now, dialect, attach).unwrap();
        let mut out = Vec::new();
        drain(&mut self.session, &self.stored, reader, &mut out);
        self.session.detach(reader);
        out
    }

    fn one_terminal_a_turn(&self) {
        let (mut open, mut trailer) = (false, false);
        for (seq, entry) in &self.stored {
            let envelope: Envelope<'static> = serde_json::from_slice(entry).unwrap();
            match &envelope.event {
                Event::TurnStarted(_) => {
                    assert!(!open, "{seq}: the turn before has ended");
                    (open, trailer) = (true, false);
                }
                Event::Done(done) if done.status.is_some() => {
                    assert!(trailer, "{seq}: a trailer follows an error or a cancel");
                    trailer = false;
                }
                event => {
                    assert!(open, "{seq}: nothing comes after the end");
                    trailer = event.is_terminal() && !matches!(event, Event::Done(_));
                    open = !event.is_terminal();
                }
            }
        }
        assert!(!open && !trailer, "the last turn has ended");
    }
}

impl Client {
    fn arrive(&mut self, now: Millis, count: usize) {
        let bytes: Vec<u8> = self.wire.drain(..count).collect();
        self.sent += bytes.len() as u64;
        let (a, b) = bytes.split_at(bytes.len() / 3);
        for part in [a, b] {
            self.host.feed(now, part, None, &mut |_| {}).unwrap();
        }
    }
}

fn is_start(entry: &[u8]) -> bool {
    let envelope: Envelope<'static> = serde_json::from_slice(entry).unwrap();
    matches!(envelope.event, Event::TurnStarted(_))
}

fn drain(session: &mut Session, stored: &[(u64, Vec<u8>)], reader: ReaderId, out: &mut Vec<u8>) {
    loop {
        match session.poll_reader(Millis(0), reader, usize::MAX, out) {
            Polled::Idle => return,
            Polled::Fetch { after, limit } => {
                let behind = stored.iter().filter(|(seq, _)| *seq > after).take(limit);
                session.handle_fetched(reader, behind.cloned().collect());
            }
            other => panic!("{other:?}"),
        }
    }
}

/// The frames that have an id, with its number; those that are live only are left out.
fn frames(stream: &[u8]) -> Vec<(u64, String)> {
    let text = std::str::from_utf8(stream).unwrap();
    let blocks = text.split_inclusive("\n\n");
    blocks
        .filter_map(|block| {
            let (_, id) = block.trim_end().rsplit_once("\nid: e1-")?;
            Some((id.parse().unwrap(), block.to_string()))
        })
        .collect()
}

/// What a person sees; ids of rows differ from host to host.
fn rows(host: &Host) -> Vec<String> {
    let told = host.rows().iter().map(|row| {
        let items = row.card().map(|card| {
            let item = |item: &turnwire::host::Item| format!("{} {:?}", item.name, item.status);
            card.items().iter().map(item).collect::<Vec<_>>()
        });
        format!("{} {:?} {:?} {items:?}", row.kind.as_str(), row.text, row.status)
    });
    told.filter(|row| row.starts_with("tool") || !row.contains("\"\"")).collect()
}

fn run(seed: u64) {
    let mut world = World::new(seed);
    for _ in 0..40 + seed % 40 {
        world.step();
    }
    world.settle();
    world.check();
}

#[test]
#[allow(clippy::disallowed_methods, reason = "a test may be told what to run; the crate is not")]
fn any_schedule_loses_and_doubles_nothing() {
    if let Ok(seed) = std::env::var("TURNWIRE_SEED") {
        return run(seed.parse().unwrap());
    }
    let seeds = std::env::var("TURNWIRE_SEEDS").map_or(10_000, |seeds| seeds.parse().unwrap());
    for seed in 0..seeds {
        if std::panic::catch_unwind(|| run(seed)).is_err() {
            panic!("seed {seed} fails: run it alone with TURNWIRE_SEED={seed}");
        }
    }
}
