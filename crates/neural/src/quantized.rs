//! Weights in 8 bits, for fast inference on a CPU.
//!
//! Each row of a weight matrix has one scale: w ≈ scale·q with q from −127 to 127. Each row of the input is
//! quantized on the fly in the same way. A product then is a sum of products of small integers, exact in 32
//! bits: y = scale_x·scale_w·Σ q_x·q_w + b. Inputs are stored with an offset of 128, as the kernel wants them.

use tutte_simd::int8;

/// Matrix of 8-bit weights with one scale per row.
#[derive(Clone, Debug)]
pub(crate) struct QuantizedMatrix {
    pub(crate) rows: usize,
    pub(crate) columns: usize,
    /// Row-major weights.
    pub(crate) values: Vec<i8>,
    pub(crate) scales: Vec<f32>,
    packed: int8::Packed,
}

/// Rows of an input in 8 bits.
#[derive(Clone, Debug, Default)]
pub(crate) struct QuantizedRows {
    columns: usize,
    values: Vec<u8>,
    scales: Vec<f32>,
    sums: Vec<i32>,
}

/// Rows whose numbers are all smaller are zero: the inverse of their scale would overflow.
const SMALLEST_ROW: f32 = 1e-28;

/// Returns `true` if a number can be a scale: zero, or far from underflow and overflow.
pub(crate) fn is_scale(scale: f32) -> bool {
    scale == 0.0 || (1e-31..1e30).contains(&scale)
}

tutte_simd::dispatched! {
    /// Quantizes one row, with the offset of 128, and returns its scale.
    fn quantize_row(row: &[f32], out: &mut [u8]) -> f32 {
        let mut lanes = [0.0f32; 16];
        let (chunks, rest) = row.as_chunks::<16>();
        for chunk in chunks {
            for lane in 0..16 {
                let x = chunk[lane].abs();
                lanes[lane] = if x > lanes[lane] { x } else { lanes[lane] };
            }
        }
        let largest = lanes.iter().copied().chain(rest.iter().map(|x| x.abs())).fold(0.0, f32::max);
        if largest < SMALLEST_ROW {
            out.fill(128);
            return 0.0;
        }
        let factor = 127.0 / largest;
        for (q, &x) in out.iter_mut().zip(row) {
            // Adding 1.5·2^23 rounds to the nearest integer, and leaves it in the low bits.
            *q = (x * factor + (12_582_912.0 + 128.0)).to_bits() as u8;
        }
        largest / 127.0
    }
}

impl QuantizedRows {
    /// Quantizes the rows of `x`.
    pub(crate) fn quantize(&mut self, x: &[f32], columns: usize) {
        self.columns = columns;
        self.values.resize(x.len(), 128);
        self.scales.resize(x.len() / columns, 0.0);
        let rows = x.chunks_exact(columns).zip(self.values.chunks_exact_mut(columns));
        for ((row, out), scale) in rows.zip(&mut self.scales) {
            *scale = quantize_row(row, out);
        }
    }
}

impl QuantizedMatrix {
    /// Quantizes a matrix row by row.
    pub(crate) fn new(values: &[f32], columns: usize) -> Self {
        let mut rows = QuantizedRows::default();
        rows.quantize(values, columns);
        let values = rows.values.iter().map(|&q| (q ^ 0x80) as i8).collect();
        Self::from_parts(rows.scales.len(), columns, values, rows.scales)
    }

    /// Quantizes a matrix so that quantizing the result again changes nothing, not even the last bit of a
    /// scale. Matrices that compute in 32 bits and are stored in 8 need this.
    pub(crate) fn stable(values: &[f32], columns: usize) -> Self {
        let mut matrix = Self::new(values, columns);
        let mut rounded = vec![0.0; values.len()];
        // Dividing by 127 and multiplying again can move a scale by one bit, rarely twice.
        for _ in 0..8 {
            matrix.dequantize(&mut rounded);
            let again = Self::new(&rounded, columns);
            let is_stable = again.scales == matrix.scales;
            matrix = again;
            if is_stable {
                break;
            }
        }
        matrix
    }

    pub(crate) fn from_parts(
        rows: usize,
        columns: usize,
        values: Vec<i8>,
        scales: Vec<f32>,
    ) -> Self {
        let packed = int8::Packed::default();
        Self { rows, columns, values, scales, packed }
    }

    /// Prepares the matrix for [`QuantizedMatrix::multiply`]. Tables, of which rows are read, need not be.
    pub(crate) fn packed(mut self) -> Self {
        self.packed = int8::Packed::new(&self.values, self.rows, self.columns);
        self
    }

    /// Writes scale·row to `out`.
    fn dequantize_row(&self, row: usize, out: &mut [f32]) {
        let scale = self.scales[row];
        for (out, &q) in out.iter_mut().zip(&self.values[row * self.columns..]) {
            *out = scale * f32::from(q);
        }
    }

    /// Writes the whole matrix in 32 bits.
    pub(crate) fn dequantize(&self, out: &mut [f32]) {
        self.dequantize_from(0, out);
    }

    /// Writes as many rows as `out` holds, from `row` on.
    pub(crate) fn dequantize_from(&self, row: usize, out: &mut [f32]) {
        for (i, out) in out.chunks_exact_mut(self.columns).enumerate() {
            self.dequantize_row(row + i, out);
        }
    }

    /// Computes y = x·Wᵀ + b.
    pub(crate) fn multiply(&self, x: &mut QuantizedRows, bias: &[f32], y: &mut [f32]) {
        assert_eq!(x.columns, self.columns);
        let QuantizedRows { values, scales, sums, .. } = x;
        // A block of rows at a time, so that its sums stay in the cache.
        let blocks = values.chunks(BLOCK * self.columns).zip(y.chunks_mut(BLOCK * self.rows));
        for ((x, y), scales) in blocks.zip(scales.chunks(BLOCK)) {
            sums.resize(y.len(), 0);
            int8::multiply(x, &self.packed, sums);
            let rows = sums.chunks_exact(self.rows).zip(y.chunks_exact_mut(self.rows));
            for ((sums, y), &scale) in rows.zip(scales) {
                finish(sums, scale, &self.scales, bias, y);
            }
        }
    }
}

/// Number of input rows that are multiplied together.
const BLOCK: usize = 64;

tutte_simd::dispatched! {
    /// Turns integer sums into a row of the product.
    fn finish(sums: &[i32], scale: f32, scales: &[f32], bias: &[f32], y: &mut [f32]) {
        for (((y, &sum), &s), &b) in y.iter_mut().zip(sums).zip(scales).zip(bias) {
            *y = sum as f32 * (scale * s) + b;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ops::check;

    #[test]
    fn products_are_those_of_the_rounded_matrices() {
        for (rows, inputs, outputs) in [(1, 1, 1), (70, 8, 5), (3, 33, 70)] {
            let x = check::random(rows * inputs, 1);
            let weights = check::random(outputs * inputs, 2);
            let bias = check::random(outputs, 3);
            let matrix = QuantizedMatrix::new(&weights, inputs).packed();
            let mut quantized = QuantizedRows::default();
            quantized.quantize(&x, inputs);
            let mut y = vec![0.0; rows * outputs];
            matrix.multiply(&mut quantized, &bias, &mut y);
            let x = QuantizedMatrix::new(&x, inputs);
            let [mut x_rounded, mut w_rounded] =
                [vec![0.0; rows * inputs], vec![0.0; outputs * inputs]];
            x.dequantize(&mut x_rounded);
            matrix.dequantize(&mut w_rounded);
            for (row, y) in y.chunks(outputs).enumerate() {
                for (output, &y) in y.iter().enumerate() {
                    let pairs = x_rounded[row * inputs..][..inputs]
                        .iter()
                        .zip(&w_rounded[output * inputs..]);
                    let expected = bias[output] + pairs.map(|(x, w)| x * w).sum::<f32>();
                    assert!((y - expected).abs() < 1e-4, "{y} is not {expected}");
                }
            }
        }
    }

    #[test]
    fn rounding_is_stable_and_close() {
        let values: Vec<f32> =
            (0..2000).map(|i| ((i * i) as f32 * 0.37).sin() * (1.0 + i as f32)).collect();
        let matrix = QuantizedMatrix::stable(&values, 4);
        let mut rounded = vec![0.0; values.len()];
        matrix.dequantize(&mut rounded);
        let again = QuantizedMatrix::new(&rounded, 4);
        assert_eq!((&again.values, &again.scales), (&matrix.values, &matrix.scales));
        for (i, (x, y)) in values.iter().zip(&rounded).enumerate() {
            assert!((x - y).abs() <= 0.501 * matrix.scales[i / 4]);
        }
    }
}
