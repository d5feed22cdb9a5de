//! From flags to a listening server, and from a signal to its end.

use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tracing::{info, warn};

use crate::app::{App, TurnIds, seed};
use crate::config::{Args, Environment};
use crate::http::{Access, router};
use crate::model::Builtin;
use crate::page::Sessions;
use crate::sample::scratch_workspace;
use crate::stall::Stalls;
use crate::tools::Tools;
use crate::workspace::Workspace;

/// Time that running turns get once the server is told to stop.
const GRACE: Duration = Duration::from_secs(5);

/// Time in which all connections must be closed after that.
const CLOSING_MAX: Duration = Duration::from_secs(5);

/// Time in which a client must send the head of a request.
const HEAD_MAX: Duration = Duration::from_secs(30);

/// Bytes of the head of a request.
const HEAD_MAX_BYTES: usize = 64 << 10;

/// Pause after the system had no connection to give, for instance for want of file handles.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// Why a server did not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The user has no data folder, and none was named.
    #[error("there is no data folder for this user: name one with --data-dir")]
    NoDataDir,
    /// The scratch workspace cannot be made.
    #[error("the scratch workspace {0} cannot be made: {1}")]
    Scratch(PathBuf, io::Error),
    /// The workspace cannot be opened.
    #[error("--workspace: {0} is no folder that can be opened: {1}")]
    Workspace(PathBuf, io::Error),
    /// The address cannot be listened on.
    #[error("--host, --port: cannot listen on {0}: {1}")]
    Listen(String, io::Error),
    /// The system gave no random bytes.
    #[error("no random bytes: {0}")]
    Random(#[from] getrandom::Error),
}

/// A server that listens and does not serve yet.
pub struct Server {
    listener: TcpListener,
    address: SocketAddr,
    app: Arc<App>,
    router: Router,
    connections: Arc<Semaphore>,
}

impl Server {
    /// Opens the workspace and the port.
    ///
    /// # Errors
    ///
    /// [`StartError`].
    pub async fn bind(args: Args, environment: Environment) -> Result<Self, StartError> {
        let folder = workspace_of(&args)?;
        let workspace =
            Workspace::open(&folder).map_err(|e| StartError::Workspace(folder.clone(), e))?;
        let workspace = Arc::new(workspace);
        let wanted = (args.host.trim_matches(['[', ']']), args.port);
        let refused = |e| StartError::Listen(format!("{}:{}", args.host, args.port), e);
        let listener = TcpListener::bind(wanted).await.map_err(refused)?;
        let address = listener.local_addr().map_err(refused)?;
        if !address.ip().is_loopback() && args.token.is_none() {
            warn!("anybody who reaches {address} may use the agent: there is no --token");
        }
        info!(workspace = %workspace.path().display(), exec = args.allow_exec, "workspace open");

        let app = Arc::new(App {
            access: Access::new(&args.host, address, args.token, args.allow_origin),
            environment,
            max_body_bytes: args.max_body_bytes,
            provider: Arc::new(Builtin),
            tools: Tools::new(Arc::clone(&workspace), args.allow_exec),
            workspace,
            turns: Arc::new(Semaphore::new(args.max_turns.min(Semaphore::MAX_PERMITS))),
            running: TaskTracker::new(),
            closing: CancellationToken::new(),
            ending: CancellationToken::new(),
            ids: TurnIds::new(seed()?),
            sessions: Sessions::default(),
        });
        let connections = args.max_turns.saturating_add(args.max_readers);
        Ok(Self {
            listener,
            address,
            router: router(Arc::clone(&app)),
            app,
            connections: Arc::new(Semaphore::new(connections.min(Semaphore::MAX_PERMITS))),
        })
    }

    /// Where it listens.
    #[must_use]
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// Serves until `shutdown` is ready, then ends: no new turns, some time for those that run, a
    /// legal ending for those that still do, and the connections closed.
    pub async fn serve(self, shutdown: impl Future<Output = ()>) {
        let Self { listener, app, router, connections, .. } = self;
        let graceful = GracefulShutdown::new();
        let mut shutdown = pin!(shutdown);
        loop {
            let accepted = async {
                // Never closed, so that there is always a place to wait for.
                let place = Arc::clone(&connections).acquire_owned().await;
                (place, listener.accept().await)
            };
            let (place, stream) = tokio::select! {
                biased;
                () = &mut shutdown => break,
                (place, stream) = accepted => (place, stream),
            };
            match stream {
                Ok((stream, _)) => {
                    let connection = graceful.watch(connection(stream, router.clone()));
                    tokio::spawn(async move {
                        let _place = place;
                        // What breaks here is one client's connection, and its turn notices.
                        let _ = connection.await;
                    });
                }
                Err(error) => {
                    warn!(%error, "no connection accepted");
                    sleep(ACCEPT_PAUSE).await;
                }
            }
        }
        drop(listener);
        app.closing.cancel();
        app.running.close();
        info!(turns = app.running.len(), "shutting down");
        let turns = async {
            if timeout(GRACE, app.running.wait()).await.is_err() {
                info!(turns = app.running.len(), "ending the turns that still run");
                app.ending.cancel();
                app.running.wait().await;
            }
        };
        let all = async { tokio::join!(turns, graceful.shutdown()) };
        if timeout(GRACE + CLOSING_MAX, all).await.is_err() {
            warn!("connections are still open; leaving them");
        }
        info!("shut down");
    }
}

/// The folder that the agent works in.
fn workspace_of(args: &Args) -> Result<PathBuf, StartError> {
    if let Some(folder) = &args.workspace {
        return Ok(folder.clone());
    }
    let data = args.data_dir.clone();
    let data = data.or_else(|| dirs::data_local_dir().map(|dir| dir.join("turnwire-server")));
    let data = data.ok_or(StartError::NoDataDir)?;
    scratch_workspace(&data).map_err(|e| StartError::Scratch(data, e))
}

type Connection =
    hyper::server::conn::http1::Connection<TokioIo<Stalls<TcpStream>>, TowerToHyperService<Router>>;

/// One connection, with bounds on the head of a request.
fn connection(stream: TcpStream, router: Router) -> Connection {
    // Small pieces are to arrive when they are written. Where that cannot be had they are late.
    let _ = stream.set_nodelay(true);
    hyper::server::conn::http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_MAX)
        .max_buf_size(HEAD_MAX_BYTES)
        .serve_connection(TokioIo::new(Stalls::new(stream)), TowerToHyperService::new(router))
}
