//! The tools: a name and JSON arguments in, one text out.
//!
//! The text is written in the shapes of the summary table of `agent` 3, and one that begins with
//! `ERROR ` is a failure. A running tool ends with its future: whoever drops it stops the work.

mod exec;
mod fetch;
mod files;
mod find;
mod stray;

use std::sync::Arc;

use serde::Deserialize;

use crate::workspace::Workspace;

/// What a tool is told to do. The names are those that [`Call::parse`] knows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Call {
    /// Names what a folder holds.
    ListDir(PathArg),
    /// Reads the start of a text file.
    ReadFile(PathArg),
    /// Writes a whole file.
    WriteFile(WriteArgs),
    /// Replaces every occurrence of a text in a file.
    StrReplace(ReplaceArgs),
    /// Changes the turn's folder.
    ChangeDir(PathArg),
    /// Says the turn's folder.
    Pwd,
    /// Looks for a word in names and texts below the turn's folder.
    Find(FindArgs),
    /// Fetches a URL of this machine.
    HttpGet(UrlArg),
    /// Runs a command.
    Exec(CommandArg),
}

/// `{path}`, relative to the turn's folder.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct PathArg {
    /// The path as the model wrote it.
    #[serde(default)]
    pub path: String,
}

/// `{path, text}`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct WriteArgs {
    /// The path as the model wrote it.
    pub path: String,
    /// What the file is to hold.
    pub text: String,
}

/// `{path, old, new}`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct ReplaceArgs {
    /// The path as the model wrote it.
    pub path: String,
    /// What is looked for.
    pub old: String,
    /// What takes its place.
    pub new: String,
}

/// `{word}`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct FindArgs {
    /// What is looked for, letter case as written.
    pub word: String,
}

/// `{url}`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct UrlArg {
    /// An absolute `http` URL.
    pub url: String,
}

/// `{command}`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct CommandArg {
    /// A line for `sh`.
    pub command: String,
}

impl Call {
    /// The call that a model wrote.
    ///
    /// # Errors
    ///
    /// The text of a failed result: the tool is unknown, or its arguments are not as it needs them.
    pub fn parse(name: &str, args: &str) -> Result<Self, String> {
        fn read<'a, T: Deserialize<'a>>(name: &str, args: &'a str) -> Result<T, String> {
            serde_json::from_str(args).map_err(|e| failure(name, &format!("bad arguments: {e}")))
        }
        Ok(match name {
            "list_dir" => Self::ListDir(read(name, args)?),
            "read_file" => Self::ReadFile(read(name, args)?),
            "write_file" => Self::WriteFile(read(name, args)?),
            "str_replace" => Self::StrReplace(read(name, args)?),
            "change_dir" => Self::ChangeDir(read(name, args)?),
            "pwd" => Self::Pwd,
            "find" => Self::Find(read(name, args)?),
            "http_get" => Self::HttpGet(read(name, args)?),
            "exec" => Self::Exec(read(name, args)?),
            _ => return Err(failure(name, "no tool has this name")),
        })
    }
}

/// The tools of one server.
#[derive(Clone, Debug)]
pub struct Tools {
    workspace: Arc<Workspace>,
    allow_exec: bool,
}

impl Tools {
    /// Tools over `workspace`, with commands only if `allow_exec`.
    #[must_use]
    pub const fn new(workspace: Arc<Workspace>, allow_exec: bool) -> Self {
        Self { workspace, allow_exec }
    }

    /// Runs one call in the turn's folder `cwd`, which a successful `change_dir` changes.
    pub async fn run(&self, cwd: &mut String, name: &str, args: &str) -> String {
        let call = match Call::parse(name, args) {
            Ok(call) => call,
            Err(text) => return text,
        };
        match call {
            Call::Pwd => format!("pwd: {cwd}"),
            Call::ChangeDir(PathArg { path }) => {
                let from = cwd.clone();
                let moved = self.blocking(move |w| files::change_dir(w, &from, &path)).await;
                moved.map_or_else(
                    |text| text,
                    |change| {
                        *cwd = change.cwd;
                        change.text
                    },
                )
            }
            Call::ListDir(a) => self.text(cwd, move |w, cwd| files::list_dir(w, cwd, &a)).await,
            Call::ReadFile(a) => self.text(cwd, move |w, cwd| files::read_file(w, cwd, &a)).await,
            Call::WriteFile(a) => self.text(cwd, move |w, cwd| files::write_file(w, cwd, &a)).await,
            Call::StrReplace(a) => {
                self.text(cwd, move |w, cwd| files::str_replace(w, cwd, &a)).await
            }
            Call::Find(a) => self.text(cwd, move |w, cwd| find::find(w, cwd, &a)).await,
            Call::HttpGet(UrlArg { url }) => fetch::http_get(&url).await,
            Call::Exec(_) if !self.allow_exec => {
                failure(name, "commands are not allowed here (the server's --allow-exec)")
            }
            Call::Exec(CommandArg { command }) => exec::exec(&self.workspace, cwd, &command).await,
        }
    }

    async fn text(
        &self,
        cwd: &str,
        work: impl FnOnce(&Workspace, &str) -> Result<String, String> + Send + 'static,
    ) -> String {
        let cwd = cwd.to_owned();
        self.blocking(move |w| work(w, &cwd)).await.unwrap_or_else(|text| text)
    }

    /// Files are read and written on a thread of their own, each call bounded.
    async fn blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Workspace) -> Result<T, String> + Send + 'static,
    ) -> Result<T, String> {
        let workspace = Arc::clone(&self.workspace);
        tokio::task::spawn_blocking(move || work(&workspace))
            .await
            .unwrap_or_else(|_| Err(failure("tool", "the tool broke off")))
    }
}

/// The text of a failed result.
fn failure(name: &str, why: &str) -> String {
    format!("ERROR {name}: {why}")
}
