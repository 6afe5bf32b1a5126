//! Tables of feature templates, as lines of text.
//!
//! A template is a line such as `4 left1.form right1.form;`. It has a number and the names of some attributes, which are
//! fields of a struct of values. Its feature is the hash of the number and of the values. Numbers, attributes and the
//! order of templates are part of the model format.
//!
//! ```text
//! tables! {
//!     up to 2 attributes of TokenValues;
//!
//!     /// The token as a whole.
//!     Token {
//!         1;
//!         2 form;
//!         3 form next.shape;
//!     }
//! }
//! Token::add(&values, Hash::of, &mut features);
//! ```

use tutte_linear::Hash;

/// A table of templates.
pub(crate) trait Table {
    /// Values of the attributes that the templates name.
    type Values;

    /// Numbers of the templates.
    const NUMBERS: &[u64];

    /// Adds the feature of each template. `start` makes the hash of a template's number, and of anything else that all
    /// features of the table have in common.
    fn add(values: &Self::Values, start: impl Fn(u64) -> Hash, features: &mut Vec<u32>);
}

/// Declares tables of templates with at most a fixed number of attributes. A missing attribute is hashed as 0.
///
/// Each table becomes straight code, which is faster than a loop over a list of templates.
macro_rules! tables {
    (
        up to $width:literal attributes of $values:ty;
        $(
            $(#[$doc:meta])*
            $vis:vis $table:ident { $($number:literal $($($attribute:ident).+)*;)* }
        )*
    ) => { $(
        $(#[$doc])*
        $vis struct $table;

        impl $crate::feature_tables::Table for $table {
            type Values = $values;

            const NUMBERS: &[u64] = &[$($number),*];

            #[inline(always)]
            fn add(
                values: &Self::Values,
                start: impl Fn(u64) -> ::tutte_linear::Hash,
                features: &mut Vec<u32>,
            ) {
                features.extend_from_slice(&[$(
                    $crate::feature_tables::feature::<$width, _>(
                        start($number),
                        [$(values.$($attribute).+),*],
                    )
                ),*]);
            }
        }
    )* };
}

pub(crate) use tables;

/// Returns the feature of a template with up to `WIDTH` attributes. The values of its own attributes are `given`.
#[inline(always)]
pub(crate) fn feature<const WIDTH: usize, const GIVEN: usize>(
    start: Hash,
    given: [u64; GIVEN],
) -> u32 {
    const { assert!(GIVEN <= WIDTH, "a template has more attributes than its table allows") }
    let hash = given.into_iter().fold(start, Hash::and);
    (GIVEN..WIDTH).fold(hash, |hash, _| hash.and(0)).feature()
}

/// Returns the number of features, and the hash of all in their order. Tests compare it with a recorded one.
#[cfg(test)]
pub(crate) fn digest(features: &[u32]) -> (usize, u64) {
    let bytes: Vec<u8> = features.iter().flat_map(|feature| feature.to_le_bytes()).collect();
    (features.len(), tutte_linear::hash_bytes(&bytes, 0))
}

/// Returns `true` if no two templates of some tables have the same number.
#[cfg(test)]
pub(crate) fn are_distinct(tables: &[&[u64]]) -> bool {
    let mut numbers = tables.concat();
    let count = numbers.len();
    numbers.sort_unstable();
    numbers.dedup();
    numbers.len() == count
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Values {
        form: u64,
        next: Next,
    }

    struct Next {
        shape: u64,
    }

    tables! {
        up to 3 attributes of Values;

        Example {
            7;
            9 form;
            8 next.shape form form;
        }
    }

    #[test]
    fn a_feature_is_the_hash_of_its_number_and_all_values() {
        let values = Values { form: 5, next: Next { shape: 6 } };
        let mut features = Vec::new();
        Example::add(&values, |number| Hash::of(number).and(1), &mut features);
        let feature = |list: [u64; 5]| {
            let [first, rest @ ..] = list;
            rest.into_iter().fold(Hash::of(first), Hash::and).feature()
        };
        let expected = [[7, 1, 0, 0, 0], [9, 1, 5, 0, 0], [8, 1, 6, 5, 5]].map(feature);
        assert_eq!(features, expected);
        assert!(are_distinct(&[Example::NUMBERS, &[10]]));
        assert!(!are_distinct(&[Example::NUMBERS, &[9]]));
    }
}
