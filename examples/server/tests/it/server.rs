//! A server of one's own, and an HTTP client that shows every byte.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;
use std::{fs, thread};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use tempfile::TempDir;

/// A test that hangs is cut off after this time; nothing is asserted about it.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// A running server with a workspace of its own.
pub struct Server {
    child: Child,
    pub address: SocketAddr,
    dir: TempDir,
}

impl Server {
    /// Starts one with these flags, over an empty workspace.
    pub fn start(flags: &[&str]) -> Self {
        Self::with_env(flags, &[])
    }

    pub fn with_env(flags: &[&str], env: &[(&str, &str)]) -> Self {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("workspace")).unwrap();
        let mut child = command()
            .args(["--port", "0", "--workspace"])
            .arg(dir.path().join("workspace"))
            .args(flags)
            .envs(env.iter().copied())
            .stdout(Stdio::piped())
            .stderr(fs::File::create(dir.path().join("log")).unwrap())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let address = line.trim_end().strip_prefix("listening on http://").unwrap();
        let mut address: SocketAddr = address.parse().unwrap();
        if address.ip().is_unspecified() {
            address.set_ip(Ipv4Addr::LOCALHOST.into());
        }
        Self { address, child, dir }
    }

    pub fn workspace(&self) -> PathBuf {
        self.dir.path().join("workspace")
    }

    /// A folder beside the workspace.
    pub fn outside(&self) -> &Path {
        self.dir.path()
    }

    /// What the server wrote to standard error so far.
    pub fn log(&self) -> String {
        fs::read_to_string(self.dir.path().join("log")).unwrap()
    }

    pub fn write(&self, name: &str, text: &str) {
        let file = self.workspace().join(name);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    }

    /// Sends a request and reads the whole answer.
    pub fn send(&self, request: &Request) -> Response {
        self.open(request).read()
    }

    /// Sends a request and leaves its connection open.
    pub fn open(&self, request: &Request) -> Connection {
        request.open_at(self.address)
    }

    /// The JSON answer to a prompt.
    pub fn ask(&self, prompt: &str) -> Response {
        self.send(&Request::prompt(prompt))
    }

    /// The events of the streamed answer to a prompt.
    pub fn events(&self, prompt: &str) -> Vec<Value> {
        let response = self.send(&Request::prompt(prompt).stream());
        assert_eq!(response.status, 200, "{}", response.text());
        response.events()
    }

    pub fn signal(&self, signal: Signal) {
        let pid = Pid::from_raw(i32::try_from(self.child.id()).unwrap()).unwrap();
        kill_process(pid, signal).unwrap();
    }

    pub fn wait(&mut self) -> ExitStatus {
        self.child.wait().unwrap()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The binary, without what the environment of the tests could change.
pub fn command() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_turnwire-server"));
    command.env_remove("SANDBOX_DEFAULT_CWD").env_remove("AGENT_REASONING");
    command
}

/// Waits until `check` holds.
pub fn eventually(what: &str, mut check: impl FnMut() -> bool) {
    let pause = Duration::from_millis(20);
    for _ in 0..PATIENCE.as_millis() / pause.as_millis() {
        if check() {
            return;
        }
        thread::sleep(pause);
    }
    panic!("never happened: {what}");
}

/// What is sent. `Host`, `Connection` and `Content-Length` are added unless given.
#[derive(Clone)]
pub struct Request {
    method: String,
    target: String,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
}

impl Request {
    pub fn new(method: &str, target: &str) -> Self {
        let (method, target) = (method.to_owned(), target.to_owned());
        Self { method, target, headers: Vec::new(), body: Vec::new() }
    }

    /// A turn's request with this body.
    pub fn post(body: impl AsRef<[u8]>) -> Self {
        Self::new("POST", "/api/agent").header("Content-Type", "application/json").body(body)
    }

    pub fn prompt(prompt: &str) -> Self {
        Self::post(json!({ "prompt": prompt }).to_string())
    }

    pub fn stream(self) -> Self {
        self.header("Accept", "text/event-stream")
    }

    pub fn body(mut self, body: impl AsRef<[u8]>) -> Self {
        self.body = body.as_ref().to_vec();
        self
    }

    /// Adds a header; a blank value of `Host` or `Content-Length` leaves that one out.
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Sends it to a server at this address and reads the whole answer.
    pub fn send_to(&self, address: SocketAddr) -> Response {
        self.open_at(address).read()
    }

    fn open_at(&self, address: SocketAddr) -> Connection {
        let stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let mut connection = Connection { stream, seen: Vec::new() };
        connection.write(&self.bytes(address));
        connection
    }

    fn bytes(&self, address: SocketAddr) -> Vec<u8> {
        let mut head = format!("{} {} HTTP/1.1\r\n", self.method, self.target);
        let given = |name: &str| self.headers.iter().any(|(n, _)| n == name);
        let mut add = |name: &str, value: &str| {
            if !value.is_empty() {
                head.push_str(&format!("{name}: {value}\r\n"));
            }
        };
        if !given("Host") {
            add("Host", &address.to_string());
        }
        if !given("Connection") {
            add("Connection", "close");
        }
        if !given("Content-Length") && !given("Transfer-Encoding") {
            add("Content-Length", &self.body.len().to_string());
        }
        for (name, value) in &self.headers {
            add(name, value);
        }
        head.push_str("\r\n");
        [head.as_bytes(), &self.body].concat()
    }
}

/// A connection whose answer is read piece by piece. Dropping it hangs up.
pub struct Connection {
    stream: TcpStream,
    seen: Vec<u8>,
}

impl Connection {
    pub fn write(&mut self, bytes: &[u8]) {
        self.stream.write_all(bytes).unwrap();
    }

    /// Reads until the answer so far holds `text`.
    pub fn read_until(&mut self, text: &str) {
        let mut chunk = [0; 4096];
        while !String::from_utf8_lossy(&self.seen).contains(text) {
            let n = self.stream.read(&mut chunk).unwrap();
            assert!(n > 0, "ended without {text:?}: {}", String::from_utf8_lossy(&self.seen));
            self.seen.extend_from_slice(&chunk[..n]);
        }
    }

    /// Reads the answer to its end.
    pub fn read(mut self) -> Response {
        self.stream.read_to_end(&mut self.seen).unwrap();
        Response::parse(&self.seen)
    }
}

/// An answer.
#[derive(Debug)]
pub struct Response {
    pub status: u16,
    headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

impl Response {
    fn parse(bytes: &[u8]) -> Self {
        let end = bytes.windows(4).position(|w| w == b"\r\n\r\n").unwrap();
        let head = std::str::from_utf8(&bytes[..end]).unwrap();
        let mut lines = head.split("\r\n");
        let status = lines.next().unwrap().split(' ').nth(1).unwrap().parse().unwrap();
        let headers: Vec<_> = lines
            .map(|line| line.split_once(": ").unwrap())
            .map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned()))
            .collect();
        let mut response = Self { status, headers, body: bytes[end + 4..].to_vec() };
        if response.header("transfer-encoding") == Some("chunked") {
            response.body = dechunk(&response.body);
        }
        response
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(n, _)| n == name);
        found.map(|(_, value)| value.as_str())
    }

    pub fn text(&self) -> &str {
        std::str::from_utf8(&self.body).unwrap()
    }

    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap()
    }

    /// The sentence of a refusal, which is always JSON and nothing else.
    pub fn refusal(&self) -> String {
        assert_eq!(self.header("content-type"), Some("application/json; charset=utf-8"));
        let json = self.json();
        assert_eq!(json.as_object().unwrap().len(), 1, "{json}");
        json["error"].as_str().unwrap().to_owned()
    }

    /// The events of a stream: each block is one `data:` line; keepalives are left out.
    pub fn events(&self) -> Vec<Value> {
        let blocks = self.text().strip_suffix("\n\n").unwrap().split("\n\n");
        let data = blocks.filter(|block| !block.starts_with(':'));
        data.map(|block| serde_json::from_str(block.strip_prefix("data: ").unwrap()).unwrap())
            .collect()
    }
}

/// The texts of all events of one type, joined.
pub fn joined(events: &[Value], kind: &str) -> String {
    of(events, kind).map(|e| e["text"].as_str().unwrap()).collect()
}

/// All events of one type.
pub fn of<'a>(events: &'a [Value], kind: &str) -> impl Iterator<Item = &'a Value> {
    events.iter().filter(move |e| e["type"] == kind)
}

/// The types in order, each run of equal ones named once.
pub fn shape(events: &[Value]) -> Vec<&str> {
    let mut kinds: Vec<_> = events.iter().map(|e| e["type"].as_str().unwrap()).collect();
    kinds.dedup();
    kinds
}

fn dechunk(mut rest: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    loop {
        let line = rest.windows(2).position(|w| w == b"\r\n").unwrap();
        let size = usize::from_str_radix(std::str::from_utf8(&rest[..line]).unwrap(), 16).unwrap();
        if size == 0 {
            return out;
        }
        out.extend_from_slice(&rest[line + 2..line + 2 + size]);
        rest = &rest[line + 2 + size + 2..];
    }
}
