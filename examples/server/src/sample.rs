//! The scratch folder that the server works in when no workspace is named.

use std::path::{Path, PathBuf};
use std::{fs, io};

const FILES: [(&str, &str); 4] = [
    ("README.md", include_str!("../sample/README.md")),
    ("src/greet.py", include_str!("../sample/src/greet.py")),
    ("notes/ideas.md", include_str!("../sample/notes/ideas.md")),
    ("data/cities.csv", include_str!("../sample/data/cities.csv")),
];

/// The scratch workspace below `data_dir`. A new one gets the sample project; one that is there
/// stays as it is.
///
/// # Errors
///
/// If a folder or file cannot be made.
pub fn scratch_workspace(data_dir: &Path) -> io::Result<PathBuf> {
    let scratch = data_dir.join("scratch");
    if scratch.is_dir() {
        return Ok(scratch);
    }
    for (name, text) in FILES {
        let file = scratch.join(name);
        if let Some(parent) = file.parent() {
            fs::create_dir_all(parent)?;
        }
        fs::write(file, text)?;
    }
    Ok(scratch)
}
