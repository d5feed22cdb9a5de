//! A text cut into the pieces that a model would give it in.

use std::iter;

/// Characters of the longest token.
const TOKEN_MAX_CHARS: usize = 12;

/// The tokens of `text`: a word with the blanks before it, long ones in pieces. Joined they are
/// the text again, byte for byte.
pub(super) fn tokens(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    iter::from_fn(move || {
        let mut in_word = false;
        let mut chars = 0;
        let end = rest.char_indices().find(|&(_, c)| {
            let over = (in_word && c.is_whitespace()) || chars == TOKEN_MAX_CHARS;
            in_word |= !c.is_whitespace();
            chars += 1;
            over
        });
        let (token, after) = rest.split_at(end.map_or(rest.len(), |(at, _)| at));
        rest = after;
        (!token.is_empty()).then_some(token)
    })
}

#[cfg(test)]
mod tests {
    use super::tokens;

    #[test]
    fn tokens_are_the_text_again() {
        for text in ["", " ", "one", "one two  three\n\nfour ", "Zeitgeist-Unabhängigkeit 漢字"]
        {
            assert_eq!(tokens(text).collect::<String>(), text);
            assert!(tokens(text).all(|t| !t.is_empty()), "{text:?}");
        }
        assert_eq!(tokens("one two  three").collect::<Vec<_>>(), ["one", " two", "  three"]);
    }
}
