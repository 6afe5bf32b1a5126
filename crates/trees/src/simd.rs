//! The same safe code compiled for wider vector units, chosen at run time.
//!
//! The kernels of this crate are plain loops over slices that the compiler vectorises. Built for
//! the x86-64 baseline they use two-lane SSE2; on a machine with AVX2 or AVX-512 the same loops
//! can use four or eight lanes. [`dispatched!`] compiles a function once per instruction set and
//! picks the widest the machine has.
//!
//! No version uses fused multiply-add and every reduction has a fixed order ([`LANES`]), so all
//! versions give the same bits: a seed means the same sample, and a model the same weights, on
//! every machine.

/// Partial sums kept by every reduction, whatever the vector width: the order of additions, and so
/// the rounding, does not depend on the machine.
pub(crate) const LANES: usize = 8;

/// Declares a function that runs in the widest instruction set of the machine.
///
/// Everything it calls in its hot loop must be `#[inline(always)]`, or it is compiled without the
/// wider instructions.
macro_rules! dispatched {
    ($(#[$doc:meta])* $vis:vis fn $name:ident($($arg:ident: $type:ty),* $(,)?) $(-> $ret:ty)? $body:block) => {
        $(#[$doc])*
        #[allow(unsafe_code)]
        $vis fn $name($($arg: $type),*) $(-> $ret)? {
            #[inline(always)]
            fn portable($($arg: $type),*) $(-> $ret)? $body

            #[cfg(target_arch = "x86_64")]
            {
                #[target_feature(enable = "avx2,bmi1,bmi2,popcnt,lzcnt")]
                fn avx2($($arg: $type),*) $(-> $ret)? { portable($($arg),*) }

                #[target_feature(enable = "avx2,bmi1,bmi2,popcnt,lzcnt,avx512f,avx512vl,avx512dq,avx512bw")]
                fn avx512($($arg: $type),*) $(-> $ret)? { portable($($arg),*) }

                if is_x86_feature_detected!("avx512f")
                    && is_x86_feature_detected!("avx512vl")
                    && is_x86_feature_detected!("avx512dq")
                    && is_x86_feature_detected!("avx512bw")
                    && is_x86_feature_detected!("avx2")
                    && is_x86_feature_detected!("bmi2")
                {
                    // SAFETY: the machine has every feature the function is compiled with (a
                    // machine with AVX-512 and BMI2 has BMI1, POPCNT and LZCNT); the function
                    // itself is safe code.
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
pub(crate) use dispatched;

/// Σ a·b in a fixed order: eight running sums, then pairwise.
#[inline(always)]
pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
    let mut sums = [0.0; LANES];
    let (a_chunks, a_rest) = a.as_chunks::<LANES>();
    let (b_chunks, b_rest) = b.as_chunks::<LANES>();
    for (x, y) in a_chunks.iter().zip(b_chunks) {
        for lane in 0..LANES {
            sums[lane] += x[lane] * y[lane];
        }
    }
    let mut rest = 0.0;
    for (x, y) in a_rest.iter().zip(b_rest) {
        rest += x * y;
    }
    pairwise(sums) + rest
}

/// Σ a in the same fixed order.
#[inline(always)]
pub(crate) fn sum(a: &[f64]) -> f64 {
    let mut sums = [0.0; LANES];
    let (chunks, rest) = a.as_chunks::<LANES>();
    for chunk in chunks {
        for lane in 0..LANES {
            sums[lane] += chunk[lane];
        }
    }
    pairwise(sums) + rest.iter().fold(0.0, |total, x| total + x)
}

#[inline(always)]
fn pairwise(s: [f64; LANES]) -> f64 {
    ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]))
}

/// `y += factor · x`.
#[inline(always)]
pub(crate) fn add_scaled(y: &mut [f64], factor: f64, x: &[f64]) {
    for (y, x) in y.iter_mut().zip(x) {
        *y += factor * x;
    }
}
