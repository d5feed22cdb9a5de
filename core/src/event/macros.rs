//! The two tables that the vocabulary is written in: payloads by field, events by name.

/// Turns a value that may borrow into one that owns, field by field.
pub trait Keep {
    /// The owned form.
    type Kept;
    /// Copies what is borrowed.
    fn keep(self) -> Self::Kept;
}

impl Keep for super::Str<'_> {
    type Kept = super::Str<'static>;
    fn keep(self) -> Self::Kept {
        super::Str::Owned(self.into_owned())
    }
}

impl<T: Keep> Keep for Option<T> {
    type Kept = Option<T::Kept>;
    fn keep(self) -> Self::Kept {
        self.map(T::keep)
    }
}

impl<T: Keep> Keep for alloc::vec::Vec<T> {
    type Kept = alloc::vec::Vec<T::Kept>;
    fn keep(self) -> Self::Kept {
        self.into_iter().map(T::keep).collect()
    }
}

macro_rules! keep_copies {
    ($($ty:ty),*) => {$(
        impl Keep for $ty {
            type Kept = $ty;
            fn keep(self) -> $ty {
                self
            }
        }
    )*};
}
keep_copies!(bool, u16, u32, u64, i64, f64);
keep_copies!(super::Role, super::OutputStream, super::QuestionOutcome, super::Decision);
keep_copies!(super::DoneStatus, super::Phase);

/// Defines payload structs: required fields first (the arguments of `new`), then what may be absent.
macro_rules! payloads {
    ($(
        $(#[$meta:meta])*
        $name:ident {
            $($(#[$req_meta:meta])* $req:ident: $req_ty:ty,)*
            $(; $($(#[$opt_meta:meta])* $opt:ident: $opt_ty:ty,)*)?
        }
    )*) => {$(
        $(#[$meta])*
        #[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
        #[non_exhaustive]
        pub struct $name<'a> {
            $($(#[$req_meta])* pub $req: $req_ty,)*
            $($(
                $(#[$opt_meta])*
                #[serde(default, skip_serializing_if = "is_absent")]
                pub $opt: $opt_ty,
            )*)?
        }

        impl<'a> $name<'a> {
            /// A payload with its required fields; set the others on the value.
            #[allow(clippy::too_many_arguments, reason = "the required fields of the vocabulary")]
            #[inline]
            #[must_use]
            pub fn new($($req: impl Into<$req_ty>),*) -> Self {
                Self { $($req: $req.into(),)* ..Self::default() }
            }

            /// The same payload, owning its text.
            #[must_use]
            pub fn into_owned(self) -> $name<'static> {
                $name {
                    $($req: $crate::event::macros::Keep::keep(self.$req),)*
                    $($($opt: $crate::event::macros::Keep::keep(self.$opt),)*)?
                }
            }
        }

        impl $crate::event::macros::Keep for $name<'_> {
            type Kept = $name<'static>;
            fn keep(self) -> $name<'static> {
                self.into_owned()
            }
        }
    )*};
}

/// Defines [`Event`](super::Event), [`EventKind`](super::EventKind) and what maps between them.
macro_rules! events {
    ($($variant:ident($payload:ident) $name:literal $doc:literal,)*) => {
        /// What happens in a turn: the union of what the systems say (design, The vocabulary).
        ///
        /// As JSON it is one object whose `type` is the event's name in snake case.
        #[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
        #[serde(tag = "type", rename_all = "snake_case")]
        #[non_exhaustive]
        pub enum Event<'a> {
            $(#[doc = $doc] $variant($payload<'a>),)*
        }

        /// The kind of an [`Event`], without its payload.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        // Not `non_exhaustive`: the order file matches every kind, and so should its users.
        #[allow(clippy::exhaustive_enums)]
        pub enum EventKind {
            $(#[doc = concat!("`", $name, "`: ", $doc)] $variant,)*
        }

        impl EventKind {
            /// Every kind, in the order of the vocabulary.
            pub const ALL: &'static [EventKind] = &[$(EventKind::$variant,)*];

            /// The name as it stands in `type`.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }
        }

        impl<'a> Event<'a> {
            /// Which event this is.
            #[must_use]
            pub const fn kind(&self) -> EventKind {
                match self { $(Self::$variant(_) => EventKind::$variant,)* }
            }

            /// The same event, owning its text.
            #[must_use]
            pub fn into_owned(self) -> Event<'static> {
                match self { $(Self::$variant(p) => Event::$variant(p.into_owned()),)* }
            }
        }

        $(impl<'a> From<$payload<'a>> for Event<'a> {
            #[inline]
            fn from(payload: $payload<'a>) -> Self {
                Self::$variant(payload)
            }
        })*
    };
}
