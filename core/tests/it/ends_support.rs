//! A turn and a host with the wire between them and a clock that only the test moves.

use serde_json::Value as Json;
use turnwire::dialect::Dialect;
use turnwire::event::{Channel, Envelope};
use turnwire::host::{Op, apply_ops};
use turnwire::time::Millis;
use turnwire::{Host, HostOptions, Turn, TurnOptions};

/// The moment of construction in Unix milliseconds.
pub const WALL: u64 = 1_764_536_400_000;

pub fn turn(dialect: Dialect) -> Turn {
    let mut options = TurnOptions::default();
    options.wall_ms = WALL;
    Turn::new(Some(dialect), options).unwrap()
}

/// A host, the ops that it gave, and the view that a painter has made of them.
pub struct Reader {
    pub host: Host,
    pub ops: Vec<Json>,
    pub view: Json,
    pub now: Millis,
}

impl Reader {
    pub fn new(dialect: Dialect) -> Self {
        let mut options = HostOptions::default();
        options.wall_ms = WALL;
        Self::with(dialect, options)
    }

    pub fn with(dialect: Dialect, options: HostOptions) -> Self {
        let host = Host::new(dialect, options).unwrap();
        let view = host.view();
        Self { host, ops: Vec::new(), view, now: Millis(0) }
    }

    /// Runs one call of the host and keeps its ops; the painter's view must equal the host's.
    pub fn call<T>(
        &mut self,
        call: impl FnOnce(&mut Host, Millis, &mut dyn FnMut(Op<'_>)) -> T,
    ) -> T {
        let mut batch = Vec::new();
        let mut sink = |op: Op<'_>| batch.push(serde_json::to_value(op).unwrap());
        let said = call(&mut self.host, self.now, &mut sink);
        self.view = apply_ops(std::mem::take(&mut self.view), &batch);
        assert_eq!(self.view, self.host.view(), "the ops {batch:#?} say what the view says");
        self.ops.extend(batch);
        said
    }

    pub fn submit(&mut self, prompt: &str) {
        self.call(|host, now, sink| host.submit(now, prompt, None, &[], sink)).unwrap();
    }

    pub fn response(&mut self, status: u16, content_type: &str, channel: Option<Channel>) {
        self.call(|host, now, sink| host.response(now, status, content_type, channel, None, sink))
            .unwrap();
    }

    pub fn feed(&mut self, bytes: &[u8], channel: Option<Channel>) {
        self.call(|host, now, sink| host.feed(now, bytes, channel, sink)).unwrap();
    }

    pub fn finish(&mut self, channel: Option<Channel>) {
        self.call(|host, now, sink| host.finish(now, channel, sink)).unwrap();
    }

    pub fn fail(&mut self, message: &str, channel: Option<Channel>) {
        self.call(|host, now, sink| host.fail(now, message, channel, sink)).unwrap();
    }

    pub fn wake(&mut self) {
        self.call(Host::handle_timeout).unwrap();
    }

    /// Kind and text of each row; a card as its counts and items.
    pub fn rows(&self) -> Vec<String> {
        let rows = self.view["rows"].as_array().unwrap();
        let told = rows.iter().map(|row| {
            let kind = row["kind"].as_str().unwrap();
            let Some(items) = row["card"]["items"].as_array() else {
                return format!("{kind}: {}", row["text"].as_str().unwrap());
            };
            let item = |item: &Json| {
                let (name, status) = (item["name"].as_str(), item["status"].as_str());
                format!("{} {}", name.unwrap(), status.unwrap())
            };
            format!("{kind}: {}", items.iter().map(item).collect::<Vec<_>>().join(", "))
        });
        told.collect()
    }

    /// The ops of this name since the last call, which are forgotten with all others.
    pub fn take(&mut self, name: &str) -> Vec<Json> {
        self.ops.drain(..).filter(|op| op["op"] == name).collect()
    }

    pub fn codes(&mut self) -> Vec<&'static str> {
        self.host.diagnostics().drain().map(|d| d.code.as_str()).collect()
    }
}

/// The canonical events of the entries of a turn for a log.
pub fn entries(turn: &mut Turn) -> Vec<Envelope<'static>> {
    std::iter::from_fn(|| turn.poll_entry())
        .map(|entry| serde_json::from_slice(&entry.bytes).unwrap())
        .collect()
}
