use proptest::prelude::*;

use super::*;

#[test]
fn choices_never_change() {
    let mut choices = Choices::new(42);
    let drawn: Vec<u64> = (0..8).map(|_| choices.below(1000)).collect();
    assert_eq!(drawn, [226, 239, 760, 527, 970, 375, 187, 524]);
    let mut order: Vec<u32> = (0..10).collect();
    Choices::new(7).shuffle(&mut order);
    assert_eq!(order, [4, 1, 3, 9, 6, 8, 5, 7, 2, 0]);
    let mut sample = Reservoir::new(4, 7);
    (0..100).for_each(|item| sample.offer(|| item));
    assert_eq!(sample.into_items(), [3, 12, 30, 52]);
}

/// The χ² statistic of counts that should be equal.
fn chi_squared(counts: &[usize]) -> f64 {
    let expected = counts.iter().sum::<usize>() as f64 / counts.len() as f64;
    counts.iter().map(|&count| (count as f64 - expected).powi(2) / expected).sum()
}

#[test]
fn all_orders_and_all_subsets_are_equally_likely() {
    let mut orders = std::collections::BTreeMap::new();
    let mut subsets = std::collections::BTreeMap::new();
    let mut choices = Choices::new(1);
    for seed in 0..24_000 {
        let mut order = [0, 1, 2, 3];
        choices.shuffle(&mut order);
        *orders.entry(order).or_insert(0) += 1;
        let mut sample = Reservoir::new(2, seed);
        (0..5).for_each(|item| sample.offer(|| item));
        *subsets.entry(sample.into_items()).or_insert(0) += 1;
    }
    assert_eq!((orders.len(), subsets.len()), (24, 10));
    // The upper 0.1 % of χ² with 23 and 9 degrees of freedom.
    assert!(chi_squared(&orders.into_values().collect::<Vec<_>>()) < 49.7);
    assert!(chi_squared(&subsets.into_values().collect::<Vec<_>>()) < 27.9);
    let mut thirds = [0; 3];
    (0..3000).for_each(|_| thirds[choices.below(3) as usize] += 1);
    assert!(chi_squared(&thirds) < 13.8);
}

#[test]
fn bounds_hold_and_zero_does_not_panic() {
    let mut choices = Choices::new(3);
    for bound in [1, 2, u64::MAX, u64::MAX / 2 + 2, 1 << 63] {
        (0..100).for_each(|_| assert!(choices.below(bound) < bound));
    }
    assert_eq!(choices.below(0), 0);
    choices.shuffle::<u8>(&mut []);
    let mut nothing = Reservoir::new(0, 1);
    nothing.offer(|| 1);
    assert_eq!((nothing.seen(), nothing.into_items()), (1, vec![]));
    assert!(split(&[], &[]).is_empty());
    assert_eq!(split(&[], &[1, 2]), [0, 0]);
    assert_eq!(split(&[1, 1], &[0, 0]), [0, 2]);
    assert_eq!(split(&[usize::MAX; 3], &[u32::MAX, u32::MAX, u32::MAX]), [1, 2, 3]);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..Default::default() })]

    #[test]
    fn samples_have_the_requested_size_and_order(size in 0..20usize, items in 0..50usize, seed: u64) {
        let mut sample = Reservoir::new(size, seed);
        (0..items).for_each(|item| sample.offer(|| item));
        let sample = sample.into_items();
        prop_assert_eq!(sample.len(), size.min(items));
        prop_assert!(sample.is_sorted_by(|a, b| a < b));
    }

    #[test]
    fn cuts_are_the_nearest_to_their_shares(
        sizes in proptest::collection::vec(1..30usize, 0..40),
        shares in proptest::collection::vec(1..90u32, 1..4),
    ) {
        let cuts = split(&sizes, &shares);
        prop_assert_eq!(cuts.len(), shares.len());
        prop_assert!(cuts.is_sorted());
        prop_assert_eq!(*cuts.last().unwrap(), sizes.len());
        let total: usize = sizes.iter().sum();
        let whole: u32 = shares.iter().sum();
        for (at, &cut) in cuts.iter().enumerate() {
            let share: u32 = shares[..=at].iter().sum();
            // Distance from the target, times the sum of all shares.
            let distance = |units: usize| {
                let sum = sizes[..units].iter().sum::<usize>();
                (sum * whole as usize).abs_diff(total * share as usize)
            };
            let nearest = (0..=sizes.len()).min_by_key(|&units| distance(units)).unwrap();
            prop_assert_eq!(cut, nearest);
        }
    }
}
