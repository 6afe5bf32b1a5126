//! Random numbers at one end of their range, where careless samplers fail.

use rand_pcg::rand_core::{Infallible, TryRng};

/// A generator that always returns the same number.
pub(crate) struct Stuck(pub(crate) u64);

impl TryRng for Stuck {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        Ok(self.0 as u32)
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        Ok(self.0)
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Infallible> {
        bytes.fill(self.0 as u8);
        Ok(())
    }
}
