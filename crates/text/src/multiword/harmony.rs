//! Whether a suffix goes with its stem: vowels in harmony, consonants voiced alike. Turkish `-dır` stands behind
//! `kız`, `-tir` behind `sert`; so `Ay|gün` is no stem with `-ken`, and `Karşı|tı` none with `-dı`.

/// Whether a vowel is a back one; nothing for other letters.
fn is_back(lower: char) -> Option<bool> {
    match lower {
        'a' | 'â' | 'ı' | 'o' | 'u' | 'û' => Some(true),
        'e' | 'i' | 'î' | 'ö' | 'ü' => Some(false),
        _ => None,
    }
}

/// How a stem and what follows it go together, lower-cased; from fine to coarse when shifted by 4 and by 8.
/// The lowest bits say which of the two have a vowel at the border, the next whether the rest is voiced and whether
/// it may be, the highest whether the vowels on both sides are of one kind.
pub(super) fn agreement(stem: &[char], rest: &[char]) -> u64 {
    let vowels =
        (stem.iter().rev().find_map(|&c| is_back(c)), rest.iter().find_map(|&c| is_back(c)));
    let harmony = match vowels {
        (Some(one), Some(other)) => 1 + u64::from(one == other),
        _ => 0,
    };
    let (last, first) = (stem.last(), rest.first());
    let voiceless = matches!(last, Some('f' | 's' | 't' | 'k' | 'ç' | 'ş' | 'h' | 'p'));
    let voicing = match first {
        Some('t' | 'k' | 'ç') => 1 + u64::from(voiceless),
        Some('d' | 'g' | 'c') => 3 + u64::from(voiceless),
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
