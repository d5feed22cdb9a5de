//! The command line and the environment.

use std::path::PathBuf;

use clap::Parser;
use turnwire::text::relative_path;

/// An agent with real tools over a workspace folder, streamed over HTTP.
///
/// It needs no key: the built-in model understands plain sentences, such as
/// "list ., then read README.md". POST one to /api/agent.
#[derive(Clone, Debug, Parser)]
#[command(name = "turnwire-server", version, after_help = ENVIRONMENT)]
pub struct Args {
    /// Address to listen on. Any but a loopback one is reachable by others: set a token then.
    #[arg(long, default_value = "127.0.0.1", value_name = "ADDRESS")]
    pub host: String,

    /// Port to listen on; 0 takes any free one.
    #[arg(long, default_value_t = 8787)]
    pub port: u16,

    /// Folder for what the server keeps [default: turnwire-server in the user's data folder].
    #[arg(long, value_name = "DIR")]
    pub data_dir: Option<PathBuf>,

    /// Folder that the agent works in. Without it: a scratch folder in the data folder, with a
    /// small sample project.
    #[arg(long, value_name = "DIR")]
    pub workspace: Option<PathBuf>,

    /// Where sessions are kept. Only `memory` is there: nothing outlives the process.
    #[arg(long, value_enum, default_value_t = Store::Memory)]
    pub store: Store,

    /// Token that each request must bring as `Authorization: Bearer TOKEN`.
    #[arg(long, value_parser = token)]
    pub token: Option<String>,

    /// Origin whose pages may call, as `http://name:port`; its host name may be used, too. May be
    /// given several times.
    #[arg(long, value_name = "ORIGIN", value_parser = origin)]
    pub allow_origin: Vec<String>,

    /// Let the agent run commands, with the rights of the user who runs the server.
    #[arg(long)]
    pub allow_exec: bool,

    /// Do not ask before the agent writes or runs something. Nothing asks yet, so writes inside
    /// the workspace are done with or without it.
    #[arg(long)]
    pub auto_approve: bool,

    /// Turns that may run at once; one more is answered 429.
    #[arg(long, default_value_t = 256, value_name = "N", value_parser = at_least_one)]
    pub max_turns: usize,

    /// Connections that may be open beside those of turns; more of them wait to be accepted.
    #[arg(long, default_value_t = 10_000, value_name = "N", value_parser = at_least_one)]
    pub max_readers: usize,

    /// Bytes of a request body; a larger one is answered 413.
    #[arg(long, default_value_t = 1 << 20, value_name = "N", value_parser = at_least_one)]
    pub max_body_bytes: usize,
}

const ENVIRONMENT: &str = "Environment:
  SANDBOX_DEFAULT_CWD  folder, relative to the workspace, for turns that name none
  AGENT_REASONING      none, low, medium, high or provider-default; unset, the model's id decides";

/// The values of `--store`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Store {
    /// In this process.
    Memory,
}

/// What the environment says.
#[derive(Clone, Debug)]
pub struct Environment {
    /// A normal path relative to the workspace.
    pub default_cwd: String,
    /// `AGENT_REASONING`, if it is set and one of its words.
    pub reasoning: Option<String>,
}

const EFFORTS: [&str; 5] = ["provider-default", "none", "low", "medium", "high"];

impl Environment {
    /// Reads it through `var`. A value that is not valid counts as not set (seed of `agent`).
    pub fn read(var: impl Fn(&str) -> Option<String>) -> Self {
        let cwd = var("SANDBOX_DEFAULT_CWD").and_then(|cwd| relative_path(cwd.trim()).ok());
        let reasoning = var("AGENT_REASONING").filter(|v| EFFORTS.contains(&v.as_str()));
        Self { default_cwd: cwd.unwrap_or_else(|| ".".to_owned()), reasoning }
    }
}

fn token(value: &str) -> Result<String, String> {
    let fits = !value.is_empty() && value.bytes().all(|b| b.is_ascii_graphic());
    fits.then(|| value.to_owned()).ok_or_else(|| "a token is ASCII without blanks".to_owned())
}

fn origin(value: &str) -> Result<String, String> {
    let wrong = || "an origin is http://name:port or https://name:port, without a path".to_owned();
    let value = value.to_ascii_lowercase();
    let host = value.strip_prefix("http://").or_else(|| value.strip_prefix("https://"));
    let host = host.ok_or_else(wrong)?;
    if host.is_empty() || host.contains(['/', '@', '*', ' ', '?', '#']) {
        return Err(wrong());
    }
    Ok(value)
}

fn at_least_one(value: &str) -> Result<usize, String> {
    match value.parse() {
        Ok(0) | Err(_) => Err("a number from 1 on".to_owned()),
        Ok(n) => Ok(n),
    }
}
