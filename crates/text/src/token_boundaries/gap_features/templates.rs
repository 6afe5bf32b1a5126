//! Templates of the features of gaps, and the values of the attributes that they name.

use crate::feature_tables::tables;

/// Values of the attributes that templates of gaps name. The gap is between the characters `left1` and `right1`.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct GapValues {
    /// Hash of the piece before the gap.
    pub(super) before: u64,
    /// Hash of the piece after the gap.
    pub(super) after: u64,
    /// Hash of the token so far.
    pub(super) token: u64,
    pub(super) left2: CharacterValues,
    pub(super) left1: CharacterValues,
    pub(super) right1: CharacterValues,
    pub(super) right2: CharacterValues,
    /// The characters `left1` and `right1`.
    pub(super) pair: u64,
    /// The two characters before `left1`.
    pub(super) far_left: u64,
    /// The two characters after `right1`.
    pub(super) far_right: u64,
    pub(super) far_left_and_right: u64,
    /// The characters `left2` and `right2`.
    pub(super) left2_and_right2: u64,
    pub(super) classes: ClassValues,
    /// `right1`, and the classes of `next` and `right2`.
    pub(super) right1_and_classes: u64,
    pub(super) next_class_and_right1: u64,
    pub(super) chunk_shape: u64,
    /// Number of characters from the start of the chunk to the gap, at most 31.
    pub(super) from_chunk_start: u64,
    /// The run of characters of one class that ends at the gap.
    pub(super) left_run: u64,
    pub(super) next: NextChunkValues,
    /// Place of the gap in an address or an emoticon.
    pub(super) address: u64,
    pub(super) shapes: ShapeValues,
    pub(super) stop: StopValues,
    pub(super) pattern: PatternValues,
    pub(super) frequencies: FrequencyValues,
}

/// Shapes: the classes of several characters, where a run of one class counts once. A measured shape also has the length
/// of each run, at most 4.
///
/// The state, a part of most of these values, tells whether the token so far is the character `left1` alone. After a
/// quotation mark, it also tells where the quotation ends. So two decisions about `24/7` agree.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ShapeValues {
    /// The chunk before the gap, and the state.
    pub(super) before: u64,
    pub(super) measured_before: u64,
    /// The chunk after the gap.
    pub(super) after: u64,
    pub(super) measured_after: u64,
    /// The token so far.
    pub(super) measured_token: u64,
    pub(super) token_and_after: u64,
    pub(super) token_and_next: u64,
    /// The characters `left1` and `right1`, and the state.
    pub(super) pair: u64,
    pub(super) pair_and_next_class: u64,
    /// The classes of six characters, and the state.
    pub(super) six: u64,
    /// The classes of four characters, and the state.
    pub(super) four: u64,
}

/// The word before a stop, see [`GapKind::StopBeforeNumber`].
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct StopValues {
    /// Frequency class of the word, and its length up to 7.
    pub(super) word: u64,
    /// `word`, and the shape of the word.
    pub(super) word_and_shape: u64,
    /// Frequency class and shape of the word.
    pub(super) frequency_and_shape: u64,
    /// Length and shape of the word.
    pub(super) length_and_shape: u64,
    /// The chunk from the gap on, and the class of the first character of the next one.
    pub(super) after: u64,
    /// Shape of the next chunk.
    pub(super) next_shape: u64,
    /// 1 if the word has at most three letters, and 2 if the treebank does not have it without a stop.
    pub(super) is_short_and_unknown: u64,
}

/// A gap in one of the patterns [`GapKind::InInitials`], [`GapKind::InNumber`] and [`GapKind::AfterQuote`].
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct PatternValues {
    /// Place of the gap in the pattern, with the state of [`ShapeValues`]. All dashes are one sign.
    pub(super) place: u64,
    /// `place`, with the sign as written.
    pub(super) place_as_written: u64,
    /// `place`, and the class of the first character of the next chunk.
    pub(super) place_and_next: u64,
    /// Measured shape of the pattern.
    pub(super) shape: u64,
    /// Measured shape of the run before the gap, and of the run after the sign.
    pub(super) runs: u64,
    /// Shape of the chunk after the pattern.
    pub(super) rest: u64,
}

/// Frequency classes of forms as tokens of their own: is `w/` a token, or `w`?
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct FrequencyValues {
    /// `longer`, the token so far, and the chunk after the gap.
    pub(super) all: u64,
    /// The token up to the end of the chunk, with or without the punctuation at its end.
    pub(super) longer: u64,
}

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct CharacterValues {
    pub(super) form: u64,
    pub(super) class: u64,
}

/// Classes of several characters.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ClassValues {
    /// Three characters on each side of the gap.
    pub(super) six: u64,
    /// Two characters on each side of the gap.
    pub(super) four: u64,
    pub(super) left1_and_right1: u64,
    pub(super) right1_and_right2: u64,
    pub(super) left1_and_left2: u64,
    pub(super) next_and_left1: u64,
    /// The last character of the chunk and the first of the next one.
    pub(super) chunk_end_and_next: u64,
}

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct NextChunkValues {
    /// Hash of the chunk.
    pub(super) form: u64,
    /// Class of its first character, plus 1.
    pub(super) first_class: u64,
}

tables! {
    up to 2 attributes of GapValues;

    pub(super) AnyGap {
        1 before after;
        2 token after;
        3 pair far_left;
        4 pair far_right;
    }

    pub(super) BetweenLetters {
        5 left1.class right1.class;
        6 pair far_left_and_right;
        7 before right1.form;
        8 after left1.form;
        9 pair;
    }

    /// At least one of the two characters is not a letter.
    pub(super) BesideOther {
        10 left1.class right1.class;
        11 pair;
        12 pair left2.form;
        13 pair right2.form;
        14 pair left2_and_right2;
        15 classes.six;
        16 classes.four left1.form;
        17 classes.four right1.form;
        18 before classes.right1_and_right2;
        19 after classes.left1_and_left2;
        20 before right1_and_classes;
        21 after next.form;
        22 token right1_and_classes;
        23 after classes.next_and_left1;
        24 before next.form;
        25 token next_class_and_right1;
        26 chunk_shape from_chunk_start;
        27 classes.four classes.chunk_end_and_next;
        28 left_run right1.form;
        29 pair next.first_class;
    }

    pub(super) Shapes {
        33 shapes.before shapes.after;
        34 shapes.measured_before shapes.measured_after;
        35 shapes.before right1.form;
        36 shapes.after left1.form;
        37 shapes.measured_token right1_and_classes;
        38 shapes.token_and_after shapes.pair;
        39 shapes.measured_token shapes.pair_and_next_class;
        40 shapes.measured_before shapes.pair;
        41 shapes.measured_after shapes.pair;
        42 shapes.token_and_next shapes.pair;
        43 shapes.measured_token shapes.measured_after;
        44 shapes.pair;
        45 shapes.pair shapes.after;
        46 shapes.pair right2.form;
        47 shapes.six;
        48 shapes.four;
        49 shapes.four left1.form;
        50 shapes.four right1.form;
    }

    pub(super) StopBeforeNumber {
        52 stop.word stop.after;
        53 stop.word_and_shape stop.after;
        54 stop.frequency_and_shape stop.after;
        55 stop.length_and_shape stop.after;
        56 stop.word stop.next_shape;
        57 pair far_left;
        58 token stop.after;
        59 token after;
        60 before after;
        61 token next.form;
        62 stop.word next.form;
        64 stop.is_short_and_unknown stop.after;
        65 stop.is_short_and_unknown stop.next_shape;
        66 stop.is_short_and_unknown right1_and_classes;
    }

    pub(super) InInitials {
        70 pattern.place;
        71 pattern.place_and_next;
        72 pattern.place pattern.rest;
        73 pattern.place_and_next pattern.rest;
        74 pattern.place pattern.shape;
        75 pattern.place pair;
        76 before after;
        77 token after;
        78 pattern.place next.form;
    }

    pub(super) InNumber {
        80 pattern.place;
        81 pattern.place_and_next;
        82 pattern.place pattern.rest;
        83 pattern.place_and_next pattern.shape;
        84 pattern.place pattern.shape;
        85 pattern.place pattern.runs;
        86 pattern.place shapes.before;
        87 before after;
        88 token after;
        89 pattern.place next.form;
    }

    pub(super) AfterQuote {
        90 pattern.place;
        92 pattern.place left1.form;
        93 pattern.place right1.class;
        94 pattern.place shapes.after;
        95 pattern.place after;
    }

    pub(super) BesideEmoticon {
        110 address;
        111 address pair;
        112 address shapes.after;
        113 address classes.four;
        114 address next.first_class;
        115 before after;
    }

    pub(super) SignAsWritten {
        96 pattern.place_as_written;
        97 pattern.place_as_written pattern.shape;
    }

    pub(super) Frequencies {
        120 frequencies.all;
        121 frequencies.all pair;
        122 frequencies.all classes.left1_and_right1;
        123 frequencies.longer right1_and_classes;
    }

    pub(super) PlaceInAddress {
        30 address;
    }

    pub(super) PlaceInAddressBesideOther {
        31 address classes.left1_and_right1;
        32 address pair;
    }
}

/// Values of the attributes that templates of spaces name. The space is between the chunks `left` and `right`.
pub(super) struct SpaceValues {
    pub(super) left: ChunkValues,
    pub(super) right: ChunkValues,
    /// Hash of the chunk after `right`.
    pub(super) next: u64,
}

pub(super) struct ChunkValues {
    pub(super) form: u64,
    pub(super) shape: u64,
}

tables! {
    up to 2 attributes of SpaceValues;

    pub(super) Space {
        100;
        101 left.form right.form;
        102 left.form right.shape;
        103 left.shape right.form;
        104 left.shape right.shape;
        105 right.form next;
        106 left.form;
        107 right.form;
    }
}
