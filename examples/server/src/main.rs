//! The command: see `turnwire-server --help`.

use std::io::{IsTerminal, Write, stderr, stdout};
use std::process::ExitCode;
use std::time::Duration;

use clap::Parser;
use tokio::signal::unix::{SignalKind, signal};
use turnwire_server::config::{Args, Environment};
use turnwire_server::server::Server;

/// Time in which work on other threads must end once the server has.
const THREADS_MAX: Duration = Duration::from_secs(2);

/// The exit status of a mistake on the command line, `clap`'s own included.
const USAGE: u8 = 2;

fn main() -> ExitCode {
    let args = Args::parse();
    tracing_subscriber::fmt()
        .compact()
        .with_target(false)
        .with_ansi(stderr().is_terminal())
        .with_writer(stderr)
        // Else it says on standard error that standard error is closed, which panics.
        .log_internal_errors(false)
        .init();
    let runtime = match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return fail(&error.to_string(), 1),
    };
    let status = runtime.block_on(serve(args));
    runtime.shutdown_timeout(THREADS_MAX);
    status
}

async fn serve(args: Args) -> ExitCode {
    let signals = signal(SignalKind::terminate()).and_then(|term| {
        let int = signal(SignalKind::interrupt())?;
        Ok((term, int))
    });
    let (mut term, mut int) = match signals {
        Ok(signals) => signals,
        Err(error) => return fail(&error.to_string(), 1),
    };
    let token = args.token.is_some();
    let environment = Environment::read(|name| std::env::var(name).ok());
    let server = match Server::bind(args, environment).await {
        Ok(server) => server,
        Err(error) => return fail(&error.to_string(), USAGE),
    };
    let url = format!("http://{}", server.address());
    // Whoever started the server may have closed the pipe; that is no reason to end.
    let _ = writeln!(stdout(), "listening on {url}").and_then(|()| stdout().flush());
    let page = if token { format!("{url}/?token=TOKEN") } else { url.clone() };
    let shell = example(&url, token);
    let _ = writeln!(stderr(), "try it in a browser:\n  {page}\nor in a shell:\n  {shell}");
    server
        .serve(async move {
            tokio::select! {
                _ = term.recv() => {}
                _ = int.recv() => {}
            }
        })
        .await;
    ExitCode::SUCCESS
}

/// A line for a shell that shows a streamed turn over real files.
fn example(url: &str, token: bool) -> String {
    let bearer = if token { r#" -H "Authorization: Bearer $TOKEN""# } else { "" };
    let prompt = r#"{"prompt":"list ., then read README.md, then find Lisbon"}"#;
    format!(
        "curl -N {url}/api/agent -H 'Content-Type: application/json' \
         -H 'Accept: text/event-stream'{bearer} -d '{prompt}'"
    )
}

fn fail(message: &str, status: u8) -> ExitCode {
    let _ = writeln!(stderr(), "error: {message}");
    ExitCode::from(status)
}
