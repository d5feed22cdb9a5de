//! A host as bytes, so that a reload in the middle of a turn loses nothing.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::{Host, HostOptions};
use crate::dialect::Dialect;
use crate::error::{CallerError, Code};
use crate::host::Fold;
use crate::ids::Seed;
use crate::time::Millis;

/// The version of the form below.
const VERSION: u32 = 1;

/// A count of requests beyond this is not that of a host; below it the count cannot overflow.
const REQUESTS_MAX: u64 = 1 << 62;

#[derive(Serialize, Deserialize)]
struct Form {
    version: u32,
    dialect: String,
    options: HostOptions,
    seed: [u8; 16],
    last_event_id: Option<String>,
    requests: u64,
    fold: Box<RawValue>,
}

impl Host {
    /// Everything but the connections: options, rows, session, open segments, the cursor.
    #[must_use]
    pub fn snapshot(&self) -> Vec<u8> {
        let fold = String::from_utf8(self.fold.snapshot()).unwrap_or_default();
        let Ok(fold) = RawValue::from_string(fold) else { return Vec::new() };
        let form = Form {
            version: VERSION,
            dialect: String::from(self.dialect.name()),
            options: self.options.clone(),
            seed: self.options.seed.0,
            last_event_id: self.link.last_event_id().map(String::from),
            requests: self.requests,
            fold,
        };
        serde_json::to_vec(&form).unwrap_or_default()
    }

    /// The host of a snapshot, without connections: [`open`](Self::open) goes on watching from
    /// where it was; a turn whose answer was being read goes on with [`feed`](Self::feed), or ends
    /// with [`fail`](Self::fail).
    ///
    /// `now` and `wall_ms` are the same moment on the monotonic clock and in Unix milliseconds.
    ///
    /// # Errors
    ///
    /// [`Code::BadSnapshot`] for bytes that no host of this version has written,
    /// [`Code::UnknownDialect`].
    pub fn restore(data: &[u8], now: Millis, wall_ms: u64) -> Result<Self, CallerError> {
        let form: Form =
            serde_json::from_slice(data).map_err(|_| CallerError::new(Code::BadSnapshot))?;
        if form.version != VERSION || form.requests > REQUESTS_MAX {
            return Err(Code::BadSnapshot.into());
        }
        let dialect = Dialect::parse(&form.dialect)?;
        let fold = Fold::restore(form.fold.get().as_bytes(), *dialect.rules())?;
        let options = HostOptions { now, wall_ms, seed: Seed(form.seed), ..form.options };
        let mut host = Self::around(dialect, fold, options);
        host.link.resume_from(form.last_event_id.as_deref());
        host.requests = form.requests;
        // The next stream that watches is another connection than the one before.
        host.watched = true;
        Ok(host)
    }
}
