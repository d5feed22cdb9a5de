//! Time stamps that peers write as text.

/// Unix milliseconds of an RFC 3339 stamp from 1970 on, such as `2026-11-30T21:00:00.250Z`.
///
/// Fractions finer than milliseconds are cut; a leap second counts as the one before it. `None`
/// for anything else.
///
/// ```
/// use turnwire::text::parse_timestamp_ms;
/// assert_eq!(parse_timestamp_ms("1970-01-02T00:00:01.5Z"), Some(86_401_500));
/// assert_eq!(parse_timestamp_ms("1970-01-01T01:00:00+01:00"), Some(0));
/// assert_eq!(parse_timestamp_ms("yesterday"), None);
/// ```
#[must_use]
pub fn parse_timestamp_ms(text: &str) -> Option<u64> {
    let bytes = text.as_bytes();
    let number = |from: usize, to: usize| -> Option<i64> {
        let digits = bytes.get(from..to)?;
        digits.iter().try_fold(0, |n, b| b.is_ascii_digit().then(|| n * 10 + i64::from(b - b'0')))
    };
    let is = |at: usize, any_of: &[u8]| bytes.get(at).is_some_and(|b| any_of.contains(b));
    let shaped = is(4, b"-") && is(7, b"-") && is(10, b"Tt ") && is(13, b":") && is(16, b":");
    let (year, month, day) = (number(0, 4)?, number(5, 7)?, number(8, 10)?);
    let (hour, minute, second) = (number(11, 13)?, number(14, 16)?, number(17, 19)?);
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let days_of_month = match month {
        2 if leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => return None,
    };
    if !shaped || !(1..=days_of_month).contains(&day) || hour > 23 || minute > 59 || second > 60 {
        return None;
    }
    let mut at = 19;
    let mut fraction = 0;
    if is(at, b".") {
        let digits = bytes[at + 1..].iter().take_while(|b| b.is_ascii_digit()).count();
        for place in 0..3.min(digits) {
            fraction += i64::from(bytes[at + 1 + place] - b'0') * [100, 10, 1][place];
        }
        at += 1 + digits;
        if digits == 0 {
            return None;
        }
    }
    let offset_minutes = match bytes.get(at)? {
        b'Z' | b'z' if bytes.len() == at + 1 => 0,
        sign @ (b'+' | b'-') if bytes.len() == at + 6 && is(at + 3, b":") => {
            let (h, m) = (number(at + 1, at + 3)?, number(at + 4, at + 6)?);
            (h * 60 + m) * if *sign == b'+' { 1 } else { -1 }
        }
        _ => return None,
    };
    let seconds = days_since_epoch(year, month, day) * 86_400
        + (hour * 60 + minute - offset_minutes) * 60
        + second.min(59);
    u64::try_from(seconds * 1_000 + fraction).ok()
}

/// Days from 1970-01-01 in the Gregorian calendar, counted in years that begin in March.
const fn days_since_epoch(year: i64, month: i64, day: i64) -> i64 {
    let year = if month > 2 { year } else { year - 1 };
    let month = (month + 9) % 12;
    let leap_days = year / 4 - year / 100 + year / 400;
    year * 365 + leap_days + (month * 153 + 2) / 5 + day - 719_469
}
