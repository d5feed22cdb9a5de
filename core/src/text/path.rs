//! Working directories: paths below a workspace, whatever system spelled them.

use alloc::string::String;
use alloc::vec::Vec;

/// Why a text is no path below the workspace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PathFault {
    /// It names a place on the host, in some system's spelling.
    #[error("the path is absolute")]
    Absolute,
    /// It leaves the workspace by `..`.
    #[error("the path leaves the workspace")]
    Escapes,
    /// It holds a control character (DEL and C1 too).
    #[error("the path holds a control character")]
    Control,
}

/// `path` as a normal path relative to the workspace's root: parts joined by `/`, without `.`,
/// `..` or empty parts; the root itself is `.`.
///
/// Both `/` and `\` part names, so that no system's spelling of `..` gets through (seed of
/// `agent`, `cwd`; `server`, cwd).
///
/// ```
/// use turnwire::text::{PathFault, relative_path};
/// assert_eq!(relative_path("./src//lib/../bin/").as_deref(), Ok("src/bin"));
/// assert_eq!(relative_path("").as_deref(), Ok("."));
/// assert_eq!(relative_path("a/../../b"), Err(PathFault::Escapes));
/// assert_eq!(relative_path("C:\\Users"), Err(PathFault::Absolute));
/// ```
///
/// # Errors
///
/// See [`PathFault`].
pub fn relative_path(path: &str) -> Result<String, PathFault> {
    if path.chars().any(char::is_control) {
        return Err(PathFault::Control);
    }
    let drive = path.as_bytes().first().is_some_and(u8::is_ascii_alphabetic)
        && path.as_bytes().get(1) == Some(&b':');
    let home = path == "~" || path.starts_with("~/") || path.starts_with("~\\");
    if drive || home || path.starts_with(['/', '\\']) {
        return Err(PathFault::Absolute);
    }
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split(['/', '\\']) {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop().ok_or(PathFault::Escapes)?;
            }
            name => parts.push(name),
        }
    }
    if parts.is_empty() {
        return Ok(String::from("."));
    }
    Ok(parts.join("/"))
}
