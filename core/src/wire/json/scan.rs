//! The grammar of RFC 8259, without recursion.

use alloc::vec::Vec;

use super::value::Kind;
use super::words::string_stop;
use super::{JsonError, JsonErrorKind};
use crate::limits::JSON_DEPTH_MAX_LEVELS;

/// A position in a text. Each method leaves it behind what it read, or gives an error.
#[derive(Clone, Debug)]
pub(super) struct Scanner<'a> {
    pub(super) text: &'a str,
    pub(super) at: usize,
}

/// Which brackets are open: one bit a level, set for an object.
#[derive(Default)]
struct Nesting {
    depth: usize,
    /// The innermost levels, the last in the lowest bit; the words of the outer ones wait in
    /// `outer`, which stays unallocated for the first 64 levels.
    word: u64,
    outer: Vec<u64>,
}

impl Nesting {
    fn push(&mut self, object: bool) {
        if self.depth > 0 && self.depth.is_multiple_of(64) {
            self.outer.push(self.word);
        }
        self.word = (self.word << 1) | u64::from(object);
        self.depth += 1;
    }

    fn pop(&mut self) {
        self.word >>= 1;
        self.depth -= 1;
        if self.depth > 0 && self.depth.is_multiple_of(64) {
            self.word = self.outer.pop().unwrap_or(0);
        }
    }

    const fn in_object(&self) -> bool {
        self.word & 1 == 1
    }
}

impl<'a> Scanner<'a> {
    pub(super) const fn new(text: &'a str) -> Self {
        Self { text, at: 0 }
    }

    pub(super) const fn syntax<T>(&self) -> Result<T, JsonError> {
        Err(JsonError { kind: JsonErrorKind::Syntax, at: self.at })
    }

    #[inline]
    pub(super) fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    /// Skips `byte` if it is next.
    #[inline]
    pub(super) fn eat(&mut self, byte: u8) -> bool {
        let is_next = self.peek() == Some(byte);
        self.at += usize::from(is_next);
        is_next
    }

    /// The byte must be next.
    #[inline]
    pub(super) fn expect(&mut self, byte: u8) -> Result<(), JsonError> {
        if self.eat(byte) { Ok(()) } else { self.syntax() }
    }

    #[inline]
    pub(super) fn blanks(&mut self) {
        while let Some(b' ' | b'\n' | b'\r' | b'\t') = self.peek() {
            self.at += 1;
        }
    }

    /// Nothing but blanks may follow.
    pub(super) fn end(&mut self) -> Result<(), JsonError> {
        self.blanks();
        if self.at == self.text.len() { Ok(()) } else { self.syntax() }
    }

    /// A string with its quotes. Gives whether it has escapes.
    #[inline]
    pub(super) fn string(&mut self) -> Result<bool, JsonError> {
        self.expect(b'"')?;
        let mut escaped = false;
        loop {
            self.at = string_stop(self.text.as_bytes(), self.at);
            match self.peek() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(escaped);
                }
                Some(b'\\') => {
                    self.escape()?;
                    escaped = true;
                }
                _ => return self.syntax(),
            }
        }
    }

    fn escape(&mut self) -> Result<(), JsonError> {
        self.at += 1;
        match self.peek() {
            Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => self.at += 1,
            Some(b'u') => {
                self.at += 1;
                for _ in 0..4 {
                    match self.peek() {
                        Some(byte) if byte.is_ascii_hexdigit() => self.at += 1,
                        _ => return self.syntax(),
                    }
                }
            }
            _ => return self.syntax(),
        }
        Ok(())
    }

    /// Any value, inside `around` levels of brackets. Gives its kind, and whether it is a string
    /// with escapes.
    #[inline]
    pub(super) fn value(&mut self, around: usize) -> Result<(Kind, bool), JsonError> {
        match self.peek() {
            Some(b'"') => Ok((Kind::Str, self.string()?)),
            Some(b'{') => self.brackets(around).map(|()| (Kind::Object, false)),
            Some(b'[') => self.brackets(around).map(|()| (Kind::Array, false)),
            _ => self.scalar().map(|kind| (kind, false)),
        }
    }

    fn scalar(&mut self) -> Result<Kind, JsonError> {
        match self.peek() {
            Some(b'"') => self.string().map(|_| Kind::Str),
            Some(b'-' | b'0'..=b'9') => self.number().map(|()| Kind::Number),
            Some(b't') => self.word("true").map(|()| Kind::Bool),
            Some(b'f') => self.word("false").map(|()| Kind::Bool),
            Some(b'n') => self.word("null").map(|()| Kind::Null),
            _ => self.syntax(),
        }
    }

    fn word(&mut self, word: &str) -> Result<(), JsonError> {
        if !self.text.as_bytes()[self.at..].starts_with(word.as_bytes()) {
            return self.syntax();
        }
        self.at += word.len();
        Ok(())
    }

    fn number(&mut self) -> Result<(), JsonError> {
        self.eat(b'-');
        if !self.eat(b'0') {
            self.digits()?;
        }
        if self.eat(b'.') {
            self.digits()?;
        }
        if self.eat(b'e') || self.eat(b'E') {
            let _signed = self.eat(b'+') || self.eat(b'-');
            self.digits()?;
        }
        Ok(())
    }

    fn digits(&mut self) -> Result<(), JsonError> {
        let start = self.at;
        while let Some(b'0'..=b'9') = self.peek() {
            self.at += 1;
        }
        if self.at == start { self.syntax() } else { Ok(()) }
    }

    /// An object or array with all that is in it.
    fn brackets(&mut self, around: usize) -> Result<(), JsonError> {
        let mut open = Nesting::default();
        self.open(&mut open, around)?;
        let mut may_close = true;
        loop {
            self.blanks();
            if !(may_close && self.close(&mut open)) {
                if open.in_object() {
                    self.key()?;
                }
                if let Some(b'{' | b'[') = self.peek() {
                    self.open(&mut open, around)?;
                    may_close = true;
                    continue;
                }
                self.scalar()?;
            }
            loop {
                if open.depth == 0 {
                    return Ok(());
                }
                self.blanks();
                if self.eat(b',') {
                    break;
                }
                if !self.close(&mut open) {
                    return self.syntax();
                }
            }
            may_close = false;
        }
    }

    fn open(&mut self, open: &mut Nesting, around: usize) -> Result<(), JsonError> {
        if open.depth + around >= JSON_DEPTH_MAX_LEVELS {
            return Err(JsonError { kind: JsonErrorKind::TooDeep, at: self.at });
        }
        open.push(self.peek() == Some(b'{'));
        self.at += 1;
        Ok(())
    }

    fn close(&mut self, open: &mut Nesting) -> bool {
        let closed = self.eat(if open.in_object() { b'}' } else { b']' });
        if closed {
            open.pop();
        }
        closed
    }

    /// A key, its colon and the blanks around it. Gives whether the key has escapes.
    #[inline]
    pub(super) fn key(&mut self) -> Result<bool, JsonError> {
        let escaped = self.string()?;
        self.blanks();
        self.expect(b':')?;
        self.blanks();
        Ok(escaped)
    }
}
