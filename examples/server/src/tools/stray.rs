//! Ending what left a command's process group, as `setsid` does.
//!
//! Every process inherits its parent's environment. A command is started with a mark in its own,
//! and whoever still carries the mark once the call is over is killed. A process that wipes its
//! environment as well is not found; a command is not confined.

use std::fs;
use std::thread;
use std::time::Duration;

use rustix::process::Pid;

/// The variable that holds the mark.
pub(super) const VARIABLE: &str = "TURNWIRE_CALL";

/// Looks at all processes. One that forks while it is looked for is found the next time.
const ROUNDS_MAX: usize = 20;

/// Time between two looks, in which what was killed goes.
const PAUSE: Duration = Duration::from_millis(10);

/// A mark that no other call has.
pub(super) fn mark() -> Result<String, getrandom::Error> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes)?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// Kills whoever carries the mark. Looks at every process there is, so not for an async thread.
pub(super) fn kill_marked(mark: &str) {
    let wanted = format!("{VARIABLE}={mark}");
    for _ in 0..ROUNDS_MAX {
        let Ok(entries) = fs::read_dir("/proc") else { return };
        let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
        let pids = names.filter_map(|name| Pid::from_raw(name.parse().ok()?));
        // Counted, not stopped at the first: each of them is to be killed.
        if pids.filter(|pid| kill_if_marked(*pid, wanted.as_bytes())).count() == 0 {
            return;
        }
        thread::sleep(PAUSE);
    }
}

#[cfg(target_os = "linux")]
fn kill_if_marked(pid: Pid, wanted: &[u8]) -> bool {
    use rustix::process::{PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

    // Opened before it is looked at, so that its number cannot become another's in between.
    let Ok(process) = pidfd_open(pid, PidfdFlags::empty()) else { return false };
    let path = format!("/proc/{}/environ", pid.as_raw_nonzero());
    let Ok(environment) = fs::read(path) else { return false };
    environment.split(|byte| *byte == 0).any(|variable| variable == wanted)
        && pidfd_send_signal(process, Signal::KILL).is_ok()
}

/// Other systems do not show the environment of a process.
#[cfg(not(target_os = "linux"))]
const fn kill_if_marked(_: Pid, _: &[u8]) -> bool {
    false
}
