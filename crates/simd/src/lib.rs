//! One safe loop, compiled for every vector unit and chosen at run time.
//!
//! Plain loops over slices are vectorised by the compiler. Built for the x86-64 baseline they use
//! two-lane SSE2; on a machine with AVX2 or AVX-512 the same loops can use four or eight lanes.
//! [`dispatched!`] compiles a function once per instruction set and calls the widest version that
//! the machine supports. This needs an `unsafe` call; docs/results/inference.md shows the gain.
//!
//! No version uses fused multiply-add. A function whose reductions have a fixed order therefore gives
//! the same bits on every machine.
//!
//! ```
//! tutte_simd::dispatched! {
//!     /// Adds up a list, eight partial sums at a time.
//!     fn sum(values: &[f32]) -> f32 {
//!         let (chunks, rest) = values.as_chunks::<8>();
//!         let mut sums = [0.0; 8];
//!         for chunk in chunks {
//!             for lane in 0..8 {
//!                 sums[lane] += chunk[lane];
//!             }
//!         }
//!         sums.iter().chain(rest).sum()
//!     }
//! }
//! assert_eq!(sum(&[0.5; 20]), 10.0);
//! ```

pub mod int8;

/// Declares a function that runs in the widest instruction set of the machine.
///
/// Everything it calls in its hot loop must be `#[inline(always)]`, or it is compiled without the
/// wider instructions.
#[macro_export]
macro_rules! dispatched {
    ($(#[$doc:meta])* $vis:vis fn $name:ident($($arg:ident: $type:ty),* $(,)?) $(-> $ret:ty)? $body:block) => {
        $(#[$doc])*
        #[allow(unsafe_code)]
        $vis fn $name($($arg: $type),*) $(-> $ret)? {
            #[inline(always)]
            fn portable($($arg: $type),*) $(-> $ret)? $body

            #[cfg(target_arch = "x86_64")]
            {
                #[target_feature(enable = "avx2,bmi2")]
                fn avx2($($arg: $type),*) $(-> $ret)? { portable($($arg),*) }

                #[target_feature(enable = "avx2,bmi2,avx512f,avx512vl,avx512dq,avx512bw")]
                fn avx512($($arg: $type),*) $(-> $ret)? { portable($($arg),*) }

                if is_x86_feature_detected!("avx512f")
                    && is_x86_feature_detected!("avx512vl")
                    && is_x86_feature_detected!("avx512dq")
                    && is_x86_feature_detected!("avx512bw")
                    && is_x86_feature_detected!("avx2")
                    && is_x86_feature_detected!("bmi2")
                {
                    // SAFETY: the machine has every feature the function is compiled with: each is
                    // checked above. The function itself is safe code.
                    return unsafe { avx512($($arg),*) };
                }
                if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("bmi2") {
                    // SAFETY: as above, for AVX2.
                    return unsafe { avx2($($arg),*) };
                }
            }
            portable($($arg),*)
        }
    };
}
