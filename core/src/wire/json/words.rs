//! Many bytes at a time: where is the next byte that a JSON string cannot have as it is?
//!
//! The tests on a word give one whose lowest set high bit marks the first match. Bits above it may
//! be wrong (a subtraction borrows only upwards), so only the lowest is used.

const ONES: u64 = 0x0101_0101_0101_0101;
const HIGHS: u64 = 0x8080_8080_8080_8080;

const fn equal(word: u64, byte: u8) -> u64 {
    let zero = word ^ (ONES * byte as u64);
    zero.wrapping_sub(ONES) & !zero
}

const fn below_space(word: u64) -> u64 {
    word.wrapping_sub(ONES * b' ' as u64) & !word
}

/// Marks the first byte that [`ends_run`].
const fn stops(word: u64) -> u64 {
    equal(word, b'"') | equal(word, b'\\') | below_space(word)
}

const fn first(found: u64) -> Option<usize> {
    let found = found & HIGHS;
    if found == 0 { None } else { Some((found.trailing_zeros() / 8) as usize) }
}

/// Whether `byte` ends a run of plain string text: a control character, `"` or `\`.
const fn ends_run(byte: u8) -> bool {
    (byte < b' ') | (byte == b'"') | (byte == b'\\')
}

/// Whether the writer must look at `byte`: as [`ends_run`], and 0xE2, with which U+2028 and U+2029
/// begin.
pub(super) const fn may_escape(byte: u8) -> bool {
    ends_run(byte) | (byte == 0xE2)
}

/// The offset of the first byte that [`may_escape`].
#[inline]
pub(super) fn may_escape_in(word: &[u8; 8]) -> Option<usize> {
    let word = u64::from_le_bytes(*word);
    first(stops(word) | equal(word, 0xE2))
}

/// Whether any byte is one that [`may_escape`]: no branch, so that a compiler can make vector
/// instructions of it.
#[inline]
pub(super) fn any_may_escape(block: &[u8; 32]) -> bool {
    block.iter().fold(false, |found, byte| found | may_escape(*byte))
}

/// Fewer than eight bytes as a word, with zeros behind them; of more, no use is made. The loads
/// overlap where they must, which is cheaper than a loop.
#[inline(always)]
pub(super) fn short_word(bytes: &[u8]) -> [u8; 8] {
    let word = match (bytes.first_chunk::<4>(), bytes.last_chunk::<4>()) {
        (Some(low), Some(high)) => {
            let [low, high] = [low, high].map(|half| u64::from(u32::from_le_bytes(*half)));
            low | (high << (8 * ((bytes.len() - 4) & 3)))
        }
        _ => bytes.iter().rev().fold(0, |word, byte| (word << 8) | u64::from(*byte)),
    };
    word.to_le_bytes()
}

/// Words that are looked at one by one before larger steps begin: short texts end within them.
pub(super) const WORDS_BEFORE_BLOCKS: usize = 3;

/// The offset, from `at` on, of the first control character, `"` or `\`; the length if there is
/// none.
#[inline]
pub(super) fn string_stop(bytes: &[u8], at: usize) -> usize {
    let mut rest = bytes.get(at..).unwrap_or(&[]);
    let mut words = 0;
    while let Some((word, after)) = rest.split_first_chunk::<8>() {
        let word = u64::from_le_bytes(*word);
        if let Some(n) = first(stops(word)) {
            return bytes.len() - rest.len() + n;
        }
        rest = after;
        words += 1;
        if words == WORDS_BEFORE_BLOCKS {
            while let Some((block, after)) = rest.split_first_chunk::<32>() {
                if block.iter().fold(false, |found, byte| found | ends_run(*byte)) {
                    break;
                }
                rest = after;
            }
        }
    }
    let plain = match bytes.last_chunk::<8>() {
        // The last word again, without what was looked at. The zeros that move in are stops too, so
        // that there is one; a stop among them is the end.
        Some(word) if !rest.is_empty() => {
            let word = u64::from_le_bytes(*word) >> (8 * (8 - rest.len()));
            first(stops(word)).unwrap_or(8).min(rest.len())
        }
        _ => rest.iter().position(|byte| ends_run(*byte)).unwrap_or(rest.len()),
    };
    bytes.len() - rest.len() + plain
}
