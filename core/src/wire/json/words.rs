//! Eight bytes at a time: where is the next byte that a JSON string cannot have as it is?
//!
//! Each test gives a word whose lowest set high bit marks the first match. Bits above it may be
//! wrong (a subtraction borrows only upwards), so only the lowest is used.

const ONES: u64 = 0x0101_0101_0101_0101;
const HIGHS: u64 = 0x8080_8080_8080_8080;

const fn equal(word: u64, byte: u8) -> u64 {
    let zero = word ^ (ONES * byte as u64);
    zero.wrapping_sub(ONES) & !zero
}

const fn below_space(word: u64) -> u64 {
    word.wrapping_sub(ONES * b' ' as u64) & !word
}

/// Words that are looked at one by one before the larger steps begin.
const WORDS_BEFORE_BLOCKS: usize = 3;

/// Whether `byte` ends a run of plain string text: a control character, `"` or `\`.
const fn is_stop(byte: u8) -> bool {
    (byte < b' ') | (byte == b'"') | (byte == b'\\')
}

/// The offset, from `at` on, of the first control character, `"` or `\`; the length if there is
/// none.
#[inline]
pub(super) fn string_stop(bytes: &[u8], at: usize) -> usize {
    find(bytes, at, |word| equal(word, b'"') | equal(word, b'\\') | below_space(word), is_stop)
}

/// As [`string_stop`], and stops at 0xE2 too, with which U+2028 and U+2029 begin.
#[inline]
pub(super) fn escape_stop(bytes: &[u8], at: usize) -> usize {
    find(
        bytes,
        at,
        |word| equal(word, b'"') | equal(word, b'\\') | equal(word, 0xE2) | below_space(word),
        |byte| is_stop(byte) | (byte == 0xE2),
    )
}

/// Short texts are over within a few words. A long run without a match is passed in larger steps,
/// which a compiler turns into vector instructions, and then looked at word by word again.
#[inline]
fn find(
    bytes: &[u8],
    at: usize,
    in_word: impl Fn(u64) -> u64,
    is: impl Fn(u8) -> bool + Copy,
) -> usize {
    let mut rest = bytes.get(at..).unwrap_or(&[]);
    let mut words = 0;
    while let Some((word, after)) = rest.split_first_chunk::<8>() {
        let found = in_word(u64::from_le_bytes(*word)) & HIGHS;
        if found != 0 {
            return bytes.len() - rest.len() + (found.trailing_zeros() / 8) as usize;
        }
        rest = after;
        words += 1;
        if words == WORDS_BEFORE_BLOCKS {
            while let Some((block, after)) = rest.split_first_chunk::<32>() {
                if block.iter().fold(false, |found, byte| found | is(*byte)) {
                    break;
                }
                rest = after;
            }
        }
    }
    let plain = rest.iter().position(|byte| is(*byte)).unwrap_or(rest.len());
    bytes.len() - rest.len() + plain
}
