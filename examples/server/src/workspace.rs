//! The folder that the tools work in, held as a directory handle that nothing leaves.
//!
//! Two gates stand before every access. The path as written is made normal relative to the
//! workspace by [`turnwire::text::relative_path`], which refuses absolute paths, `..` above the
//! root and control characters. The result is resolved by `cap-std` from the open handle, part by
//! part, so that a symbolic link that leads outside fails however and whenever it came there.

use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use cap_std::ambient_authority;
use cap_std::fs::{Dir, File, OpenOptions, OpenOptionsExt};
use rustix::fs::OFlags;
use rustix::io::Errno;
use turnwire::text::{PathFault, relative_path};

/// Entries of one folder that are looked at; a listing past it says so.
pub const DIR_ENTRIES_MAX: usize = 10_000;

/// The workspace: its handle, and the path that commands start in.
#[derive(Debug)]
pub struct Workspace {
    root: Dir,
    path: PathBuf,
}

/// Why a path gave nothing.
#[derive(Debug, thiserror::Error)]
pub enum AccessError {
    /// The path as written is refused.
    #[error(transparent)]
    Path(#[from] PathFault),
    /// A link on the way leads out of the workspace.
    #[error("the path leads out of the workspace")]
    Escapes,
    /// There is something, but not a regular file.
    #[error("not a regular file")]
    NotAFile,
    /// The file is no UTF-8 text.
    #[error("not a UTF-8 text file")]
    NotText,
    /// The file is over the bound for this use.
    #[error("the file is over {0} bytes")]
    TooLarge(u64),
    /// Any other answer of the system.
    #[error("{}", plain(.0))]
    Io(io::Error),
}

impl From<io::Error> for AccessError {
    fn from(error: io::Error) -> Self {
        // `cap-std` makes this error itself, without a code of the system. A resolver of the
        // kernel says the same as EXDEV.
        let made_up =
            error.kind() == io::ErrorKind::PermissionDenied && error.raw_os_error().is_none();
        if made_up || error.kind() == io::ErrorKind::CrossesDevices {
            return Self::Escapes;
        }
        Self::Io(error)
    }
}

/// The system's words without its number, and the usual cases in words of our own.
fn plain(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "no such file or folder".to_owned(),
        io::ErrorKind::NotADirectory => "not a folder".to_owned(),
        io::ErrorKind::IsADirectory => "is a folder".to_owned(),
        io::ErrorKind::PermissionDenied => "permission denied".to_owned(),
        kind => kind.to_string(),
    }
}

/// One name of a folder.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Entry {
    /// The name; bytes that are not UTF-8 became U+FFFD.
    pub name: String,
    /// Whether it is a folder (a link to one is not).
    pub is_dir: bool,
    /// Whether it is a regular file (a link to one is not).
    pub is_file: bool,
}

/// What a folder holds.
#[derive(Debug)]
pub struct Listing {
    /// Sorted by name.
    pub entries: Vec<Entry>,
    /// Whether there are more than [`DIR_ENTRIES_MAX`].
    pub truncated: bool,
}

/// The start of a file.
#[derive(Debug)]
pub struct Content {
    /// At most the bytes asked for, cut on a scalar value.
    pub text: String,
    /// Whether the file goes on.
    pub truncated: bool,
}

impl Workspace {
    /// Opens the folder at `path`.
    ///
    /// # Errors
    ///
    /// If it is no folder that can be opened.
    pub fn open(path: &Path) -> io::Result<Self> {
        let path = path.canonicalize()?;
        let root = Dir::open_ambient_dir(&path, ambient_authority())?;
        Ok(Self { root, path })
    }

    /// Where the folder is on the host.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The host's path of the folder `cwd`, once the handle has confirmed that it lies inside.
    /// For commands only, which are not confined by it anyway.
    ///
    /// # Errors
    ///
    /// As for [`Workspace::check_dir`].
    pub fn host_dir(&self, cwd: &str) -> Result<PathBuf, AccessError> {
        self.check_dir(cwd)?;
        Ok(self.path.join(cwd))
    }

    /// Makes sure that `path`, relative to the root, is a folder inside.
    ///
    /// # Errors
    ///
    /// If it is not.
    pub fn check_dir(&self, path: &str) -> Result<(), AccessError> {
        self.root.open_dir(path)?;
        Ok(())
    }

    /// What the folder `path` holds.
    ///
    /// # Errors
    ///
    /// If it is no folder inside.
    pub fn list(&self, path: &str) -> Result<Listing, AccessError> {
        let mut entries = Vec::new();
        let mut truncated = false;
        for entry in self.root.open_dir(path)?.entries()? {
            if entries.len() == DIR_ENTRIES_MAX {
                truncated = true;
                break;
            }
            let entry = entry?;
            let kind = entry.file_type()?;
            entries.push(Entry {
                name: entry.file_name().to_string_lossy().into_owned(),
                is_dir: kind.is_dir(),
                is_file: kind.is_file(),
            });
        }
        entries.sort();
        Ok(Listing { entries, truncated })
    }

    /// At most the first `max_bytes` of a text file.
    ///
    /// # Errors
    ///
    /// If it is no regular text file inside.
    pub fn read(&self, path: &str, max_bytes: usize) -> Result<Content, AccessError> {
        let file = self.open_file(path, OpenOptions::new().read(true))?;
        let mut bytes = Vec::new();
        file.take(max_bytes as u64 + 1).read_to_end(&mut bytes)?;
        let truncated = bytes.len() > max_bytes;
        bytes.truncate(max_bytes);
        if truncated {
            // A cut inside a scalar value is the bound's doing, not the file's.
            let whole = std::str::from_utf8(&bytes).map_or_else(
                |e| if e.error_len().is_none() { e.valid_up_to() } else { 0 },
                str::len,
            );
            if whole > 0 {
                bytes.truncate(whole);
            }
        }
        let text = String::from_utf8(bytes).map_err(|_| AccessError::NotText)?;
        Ok(Content { text, truncated })
    }

    /// The whole of a text file that has at most `max_bytes`.
    ///
    /// # Errors
    ///
    /// If it is larger, or no regular text file inside.
    pub fn read_all(&self, path: &str, max_bytes: usize) -> Result<String, AccessError> {
        let content = self.read(path, max_bytes)?;
        if content.truncated {
            return Err(AccessError::TooLarge(max_bytes as u64));
        }
        Ok(content.text)
    }

    /// Writes `text` as the whole of a file, with the folders that lead to it.
    ///
    /// # Errors
    ///
    /// If the path leads out or is no regular file, or the system refuses.
    pub fn write(&self, path: &str, text: &str) -> Result<(), AccessError> {
        if let Some((parent, _)) = path.rsplit_once('/')
            && let Err(error) = self.root.create_dir_all(parent)
        {
            // A link that leads out is said to exist; what is in the way is asked for again.
            self.check_dir(parent)?;
            return Err(error.into());
        }
        let mut file = self.open_file(path, OpenOptions::new().write(true).create(true))?;
        // Cut only after it is known to be a regular file.
        file.set_len(0)?;
        file.write_all(text.as_bytes())?;
        Ok(())
    }

    /// Opens a regular file without waiting, as the open of a named pipe would.
    fn open_file(&self, path: &str, options: &mut OpenOptions) -> Result<File, AccessError> {
        let no_wait = i32::try_from(OFlags::NONBLOCK.bits()).unwrap_or_default();
        let file = match self.root.open_with(path, options.custom_flags(no_wait)) {
            // A named pipe that nobody reads, or a socket.
            Err(e) if e.raw_os_error() == Some(Errno::NXIO.raw_os_error()) => {
                return Err(AccessError::NotAFile);
            }
            opened => opened?,
        };
        if !file.metadata()?.is_file() {
            return Err(AccessError::NotAFile);
        }
        Ok(file)
    }
}

/// `path`, written relative to the folder `cwd`, as a normal path relative to the root.
///
/// # Errors
///
/// If the path is absolute, leaves the workspace or holds a control character.
pub fn resolve(cwd: &str, path: &str) -> Result<String, PathFault> {
    // The path alone first: joined to a folder, an absolute one would no longer look so.
    match relative_path(path) {
        Err(PathFault::Escapes) | Ok(_) => relative_path(&format!("{cwd}/{path}")),
        Err(fault) => Err(fault),
    }
}
