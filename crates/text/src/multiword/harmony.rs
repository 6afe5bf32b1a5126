//! Agreement of a suffix with its stem: vowel harmony and voicing. Turkish `-dır` follows `kız`, `-tir` follows `sert`.
//! So `Ay|gün` and `Karşı|tı` are not a stem and its suffix.

/// Returns `true` for a back vowel, `false` for a front vowel and `None` for other letters.
fn is_back(lower: char) -> Option<bool> {
    match lower {
        'a' | 'â' | 'ı' | 'o' | 'u' | 'û' => Some(true),
        'e' | 'i' | 'î' | 'ö' | 'ü' => Some(false),
        _ => None,
    }
}

/// Returns the agreement of a stem and what follows it, both lower-cased.
///
/// Bits 0 and 1 are set if the stem ends in a vowel and if the rest starts with one. Bits 4 to 7 tell the voicing of
/// the rest's first consonant, and if it agrees with the stem's last. Bits 8 and 9 tell if the vowels at the border
/// are both back or both front. So a shift by 4 or 8 makes the value coarser.
pub(super) fn agreement(stem: &[char], rest: &[char]) -> u64 {
    let last_vowel = stem.iter().rev().find_map(|&c| is_back(c));
    let first_vowel = rest.iter().find_map(|&c| is_back(c));
    let harmony = match (last_vowel, first_vowel) {
        (Some(one), Some(other)) => 1 + u64::from(one == other),
        _ => 0,
    };
    let last = stem.last();
    let first = rest.first();
    let is_voiceless = matches!(last, Some('f' | 's' | 't' | 'k' | 'ç' | 'ş' | 'h' | 'p'));
    let voicing = match first {
        Some('t' | 'k' | 'ç') => 1 + u64::from(is_voiceless),
        Some('d' | 'g' | 'c') => 3 + u64::from(is_voiceless),
        _ => 0,
    };
    let is_vowel = |c: Option<&char>| u64::from(c.is_some_and(|&c| is_back(c).is_some()));
    harmony << 8 | voicing << 4 | is_vowel(first) << 1 | is_vowel(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suffixes_follow_their_stems() {
        let agreement = |stem: &str, rest: &str| {
            let [stem, rest] = [stem, rest].map(|text| text.chars().collect::<Vec<_>>());
            agreement(&stem, &rest)
        };
        let right = agreement("kız", "dır");
        assert_eq!(right, agreement("göl", "dür"));
        assert_ne!(right >> 8, agreement("ay", "gün") >> 8, "vowels");
        assert_eq!(agreement("sert", "ti"), agreement("yok", "tu"));
        assert_ne!(agreement("sert", "ti"), agreement("karşı", "tı") & !1, "voicing");
        assert_ne!(agreement("ev", "im"), agreement("ev", "dim"), "a vowel at the border");
        assert_eq!(agreement("", "'s") >> 8, 0);
        assert_eq!(agreement("", ""), 0);
    }
}
