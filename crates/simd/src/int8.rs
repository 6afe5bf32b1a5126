//! Products of matrices of 8-bit integers, with exact 32-bit sums.
//!
//! `sums[row][output] = Σ (x[row][i] − 128)·w[output][i]`. Inputs are unsigned with an offset of 128, because the
//! instruction `vpdpbusd` (AVX-512 VNNI) multiplies unsigned by signed bytes: four products per 32-bit lane,
//! added without saturation. The offset is taken out again: Σ (x − 128)·w = Σ x·w − 128·Σ w.
//!
//! Machines without VNNI run a plain loop that the compiler vectorises. Both give the same integers.
//!
//! ```
//! use tutte_simd::int8::{Packed, multiply};
//! // One row (1, −2) times two outputs (3, 4) and (5, −6).
//! let weights = Packed::new(&[3, 4, 5, -6], 2, 2);
//! let mut sums = [0; 2];
//! multiply(&[129, 126], &weights, &mut sums);
//! assert_eq!(sums, [3 - 8, 5 + 12]);
//! ```

/// Weights laid out for the machine's instructions.
#[derive(Clone, Debug, Default)]
pub struct Packed {
    outputs: usize,
    inputs: usize,
    /// With `is_interleaved`: blocks of [`COLUMNS`] outputs; in a block, for every four inputs, the four weights of
    /// each output. Otherwise one row of weights per output.
    values: Vec<i8>,
    is_interleaved: bool,
    /// −128·Σ w of each output, up to a whole block.
    offsets: Vec<i32>,
}

/// Number of outputs of a block: four vectors of 16 sums.
const COLUMNS: usize = 64;
/// Number of input rows that the kernel handles together.
#[cfg(target_arch = "x86_64")]
const ROWS: usize = 6;

impl Packed {
    /// Lays out weights that are given row by row, [outputs × inputs].
    ///
    /// # Panics
    ///
    /// If there are not outputs·inputs weights.
    pub fn new(weights: &[i8], outputs: usize, inputs: usize) -> Self {
        Self::with_layout(weights, outputs, inputs, has_vnni() && inputs.is_multiple_of(4))
    }

    fn with_layout(weights: &[i8], outputs: usize, inputs: usize, is_interleaved: bool) -> Self {
        assert_eq!(weights.len(), outputs * inputs, "there is one weight per output and input");
        let mut offsets = vec![0; outputs.next_multiple_of(COLUMNS)];
        for (offset, row) in offsets.iter_mut().zip(weights.chunks(inputs.max(1))) {
            *offset = -128 * row.iter().map(|&w| i32::from(w)).sum::<i32>();
        }
        let mut values = weights.to_vec();
        if is_interleaved {
            values = vec![0; offsets.len() * inputs];
            for output in 0..outputs {
                let block = output / COLUMNS * COLUMNS * inputs;
                for input in 0..inputs {
                    let at = (input / 4 * COLUMNS + output % COLUMNS) * 4 + input % 4;
                    values[block + at] = weights[output * inputs + input];
                }
            }
        }
        Self { outputs, inputs, values, is_interleaved, offsets }
    }
}

#[cfg(target_arch = "x86_64")]
fn has_vnni() -> bool {
    is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512vnni")
}

#[cfg(not(target_arch = "x86_64"))]
fn has_vnni() -> bool {
    false
}

/// Computes the sums of all rows of `x` with all outputs: `sums` is [rows × outputs].
///
/// Cost: 2·rows·outputs·inputs operations.
///
/// # Panics
///
/// If the sizes do not agree.
pub fn multiply(x: &[u8], weights: &Packed, sums: &mut [i32]) {
    let (inputs, outputs) = (weights.inputs, weights.outputs);
    if inputs == 0 || outputs == 0 {
        sums.fill(0);
        return;
    }
    assert!(x.len().is_multiple_of(inputs), "rows of the input are whole");
    assert_eq!(sums.len(), x.len() / inputs * outputs, "there is one sum per row and output");
    #[cfg(target_arch = "x86_64")]
    if weights.is_interleaved {
        return vnni::multiply(x, weights, sums);
    }
    rows(x, weights, sums);
}

crate::dispatched! {
    /// Plain twin of the kernel: one row of weights per output.
    fn rows(x: &[u8], weights: &Packed, sums: &mut [i32]) {
        let inputs = weights.inputs;
        for (x, sums) in x.chunks_exact(inputs).zip(sums.chunks_exact_mut(weights.outputs)) {
            let outputs = weights.values.chunks_exact(inputs).zip(&weights.offsets);
            for (sum, (row, offset)) in sums.iter_mut().zip(outputs) {
                let products = x.iter().zip(row).map(|(&x, &w)| i32::from(i16::from(x)) * i32::from(i16::from(w)));
                *sum = offset + products.sum::<i32>();
            }
        }
    }
}

#[cfg(target_arch = "x86_64")]
mod vnni {
    use std::arch::x86_64::{
        _mm512_dpbusd_epi32, _mm512_loadu_si512, _mm512_set1_epi32, _mm512_storeu_si512,
    };

    use super::{COLUMNS, Packed, ROWS};

    pub(super) fn multiply(x: &[u8], weights: &Packed, sums: &mut [i32]) {
        let (inputs, outputs) = (weights.inputs, weights.outputs);
        let blocks = weights.values.chunks_exact(COLUMNS * inputs);
        for (block, (values, offsets)) in
            blocks.zip(weights.offsets.chunks_exact(COLUMNS)).enumerate()
        {
            let first = block * COLUMNS;
            let count = COLUMNS.min(outputs - first);
            for (i, x) in x.chunks(ROWS * inputs).enumerate() {
                let mut tile = [[0i32; COLUMNS]; ROWS];
                #[allow(unsafe_code)]
                // SAFETY: weights are interleaved only on machines with the features of the kernels.
                unsafe {
                    match x.len() / inputs {
                        6 => kernel::<6>(x, values, offsets, inputs, &mut tile),
                        5 => kernel::<5>(x, values, offsets, inputs, &mut tile),
                        4 => kernel::<4>(x, values, offsets, inputs, &mut tile),
                        3 => kernel::<3>(x, values, offsets, inputs, &mut tile),
                        2 => kernel::<2>(x, values, offsets, inputs, &mut tile),
                        _ => kernel::<1>(x, values, offsets, inputs, &mut tile),
                    }
                }
                for (row, tile) in tile.iter().enumerate().take(x.len() / inputs) {
                    let at = (i * ROWS + row) * outputs + first;
                    sums[at..at + count].copy_from_slice(&tile[..count]);
                }
            }
        }
    }

    /// Computes the sums of `R` rows with one block of outputs, all in registers.
    #[target_feature(enable = "avx512f,avx512vnni")]
    fn kernel<const R: usize>(
        x: &[u8],
        weights: &[i8],
        offsets: &[i32],
        inputs: usize,
        tile: &mut [[i32; COLUMNS]; ROWS],
    ) {
        assert!(x.len() == R * inputs && weights.len() == COLUMNS * inputs && R <= ROWS);
        assert!(offsets.len() == COLUMNS && inputs.is_multiple_of(4));
        #[allow(unsafe_code)]
        // SAFETY: every pointer below stays inside its slice: the weights have 4·COLUMNS bytes for each of the
        // inputs/4 groups, `x` has R rows of `inputs` bytes, and offsets and rows of the tile have COLUMNS
        // numbers. The loads and stores need no alignment.
        unsafe {
            let load = |i: usize| _mm512_loadu_si512(offsets.as_ptr().add(16 * i).cast());
            let mut sums = [[load(0), load(1), load(2), load(3)]; R];
            for group in 0..inputs / 4 {
                let weights = weights.as_ptr().add(group * 4 * COLUMNS);
                let columns = [0, 1, 2, 3].map(|i| _mm512_loadu_si512(weights.add(64 * i).cast()));
                for row in 0..R {
                    let bytes =
                        x.as_ptr().add(row * inputs + group * 4).cast::<i32>().read_unaligned();
                    let bytes = _mm512_set1_epi32(bytes);
                    for i in 0..4 {
                        sums[row][i] = _mm512_dpbusd_epi32(sums[row][i], bytes, columns[i]);
                    }
                }
            }
            for row in 0..R {
                for i in 0..4 {
                    _mm512_storeu_si512(tile[row].as_mut_ptr().add(16 * i).cast(), sums[row][i]);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Fixed numbers that look random.
    fn bytes(n: usize, seed: u32) -> Vec<u8> {
        let mut state = seed;
        let next = |_| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 24) as u8
        };
        (0..n).map(next).collect()
    }

    #[test]
    fn both_layouts_agree_with_the_definition() {
        let sizes = [
            (1, 4, 1),
            (7, 8, 65),
            (6, 384, 64),
            (13, 12, 130),
            (3, 5, 9),
            (2, 1536, 70),
            (0, 4, 4),
        ];
        for (rows, inputs, outputs) in sizes {
            let x = bytes(rows * inputs, 1);
            let w: Vec<i8> = bytes(outputs * inputs, 2).iter().map(|&b| b as i8).collect();
            let mut expected = vec![0; rows * outputs];
            for row in 0..rows {
                for output in 0..outputs {
                    expected[row * outputs + output] = (0..inputs)
                        .map(|i| {
                            (i32::from(x[row * inputs + i]) - 128)
                                * i32::from(w[output * inputs + i])
                        })
                        .sum();
                }
            }
            for packed in
                [Packed::new(&w, outputs, inputs), Packed::with_layout(&w, outputs, inputs, false)]
            {
                let mut sums = vec![-1; rows * outputs];
                multiply(&x, &packed, &mut sums);
                assert_eq!(sums, expected, "{rows} × {inputs} × {outputs}");
            }
        }
    }
}
