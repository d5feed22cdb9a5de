//! Running a command in a process group of its own, which ends with the call.
//!
//! A command can do what the user who runs the server can do; `--allow-exec` allows no less. What
//! is kept from it is the server's environment. Whatever ends the call (its own end, the time
//! limit, or the turn being dropped), the whole group is killed while its leader is not yet
//! reaped, so that the group's number cannot have become another's. What left the group is looked
//! for where the system shows it (`stray`).

use std::mem;
use std::process::{ExitStatus, Stdio};
use std::sync::Arc;
use std::time::Duration;

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::process::{Child, Command};
use tokio::runtime::Handle;
use tokio::task::JoinHandle;
use tokio::time::timeout;
use turnwire::text::{collapse, head_bytes};

use super::{failure, stray};
use crate::workspace::Workspace;

/// Time that a command may take.
const TIME_MAX: Duration = Duration::from_secs(60);

/// Time in which the pipes must close once the group is dead; a process that left the group may
/// keep them open.
const DRAIN_MAX: Duration = Duration::from_secs(1);

/// Bytes of each of the two outputs that are kept; the rest is read and counted.
const OUTPUT_MAX_BYTES: usize = 128 << 10;

/// `exec CMD`, then `exit=N` or `TIMED_OUT`, then the outputs that are not empty.
pub(super) async fn exec(workspace: &Arc<Workspace>, cwd: &str, command: &str) -> String {
    let folder = {
        let (workspace, cwd) = (Arc::clone(workspace), cwd.to_owned());
        tokio::task::spawn_blocking(move || workspace.host_dir(&cwd)).await
    };
    let folder = match folder {
        Ok(Ok(folder)) => folder,
        Ok(Err(error)) => return failure("exec", &error.to_string()),
        Err(_) => return failure("exec", "the tool broke off"),
    };
    let mark = match stray::mark() {
        Ok(mark) => mark,
        Err(error) => return failure("exec", &error.to_string()),
    };
    let spawned = Command::new("sh")
        .args(["-c", command])
        .current_dir(&folder)
        .env_clear()
        .env(stray::VARIABLE, &mark)
        .env("PATH", "/usr/local/bin:/usr/bin:/bin")
        .env("HOME", &folder)
        .env("LANG", "C.UTF-8")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0)
        .spawn();
    let mut child = match spawned {
        Ok(child) => child,
        Err(error) => return failure("exec", &format!("sh did not start: {}", error.kind())),
    };
    let stdout = Capture::start(child.stdout.take());
    let stderr = Capture::start(child.stderr.take());
    let mut group = Group { child, mark };

    let status = timeout(TIME_MAX, group.ended()).await;
    // Before the outputs, which its processes hold open.
    drop(group);
    let mut text = format!("exec {}\n", collapse(command));
    match status {
        Ok(Some(status)) => text.push_str(&format!("exit={}", exit_code(status))),
        Ok(None) => return failure("exec", "the command's end cannot be told"),
        Err(_) => text.push_str("TIMED_OUT"),
    }
    stdout.write("stdout", &mut text).await;
    stderr.write("stderr", &mut text).await;
    text
}

/// A child that leads a process group. Dropping it kills the group and what left it.
struct Group {
    child: Child,
    mark: String,
}

impl Group {
    /// Waits for the leader's end, kills what it left running, and only then reaps it.
    async fn ended(&mut self) -> Option<ExitStatus> {
        let pid = self.pid()?;
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
        tokio::task::spawn_blocking(move || waitid(WaitId::Pid(pid), options)).await.ok()?.ok()?;
        self.kill();
        self.child.wait().await.ok()
    }

    fn kill(&self) {
        if let Some(pid) = self.pid() {
            // The one error that can come is that nobody is left in the group.
            let _ = kill_process_group(pid, Signal::KILL);
        }
    }

    /// The leader's number, as long as it is not reaped.
    fn pid(&self) -> Option<Pid> {
        self.child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw)
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.kill();
        let mark = mem::take(&mut self.mark);
        match Handle::try_current() {
            Ok(runtime) => drop(runtime.spawn_blocking(move || stray::kill_marked(&mark))),
            Err(_) => stray::kill_marked(&mark),
        }
    }
}

/// Reads one output to its end and keeps the start.
struct Capture {
    reader: JoinHandle<()>,
    kept: Arc<std::sync::Mutex<Kept>>,
}

#[derive(Default)]
struct Kept {
    bytes: Vec<u8>,
    left_out: u64,
}

impl Capture {
    fn start(pipe: Option<impl AsyncRead + Unpin + Send + 'static>) -> Self {
        let kept = Arc::<std::sync::Mutex<Kept>>::default();
        let into = Arc::clone(&kept);
        let reader = tokio::spawn(async move {
            let Some(mut pipe) = pipe else { return };
            let mut chunk = vec![0; 16 << 10];
            while let Ok(n) = pipe.read(&mut chunk).await {
                let Some(read) = chunk.get(..n).filter(|read| !read.is_empty()) else { return };
                let Ok(mut kept) = into.lock() else { return };
                let room = OUTPUT_MAX_BYTES.saturating_sub(kept.bytes.len()).min(read.len());
                let (head, rest) = read.split_at(room);
                kept.bytes.extend_from_slice(head);
                kept.left_out += rest.len() as u64;
            }
        });
        Self { reader, kept }
    }

    async fn write(mut self, name: &str, text: &mut String) {
        // Past the time limit what was read so far is what there is.
        let _ = timeout(DRAIN_MAX, &mut self.reader).await;
        let Ok(kept) = self.kept.lock() else { return };
        if kept.bytes.is_empty() {
            return;
        }
        let output = String::from_utf8_lossy(&kept.bytes);
        let output = head_bytes(output.trim_end_matches('\n'), OUTPUT_MAX_BYTES);
        text.push_str(&format!("\n{name}:\n{output}"));
        if kept.left_out > 0 {
            text.push_str(&format!("\n… ({} more bytes)", kept.left_out));
        }
    }
}

impl Drop for Capture {
    fn drop(&mut self) {
        self.reader.abort();
    }
}

/// The exit code; as a shell says it for a command that a signal ended.
fn exit_code(status: ExitStatus) -> i32 {
    use std::os::unix::process::ExitStatusExt;
    status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or_default())
}
