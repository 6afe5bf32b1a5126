//! What a training must remember to go on another day, as bytes.
//!
//! Whatever has a [`State`] lists its parts once, for both directions: on a [`Tape`] that writes they
//! are written, on one that reads they become what was written. What is not listed is either told by
//! the options of the training or memory that is used again. Numbers have the machine's own byte
//! order, tables stream as they lie in memory.

use std::io::{self, Read, Write};

use bytemuck::{AnyBitPattern, NoUninit};

/// Something that is more than what it was made from.
pub(crate) trait State {
    /// Writes what has changed since this was made, or makes the same changes.
    ///
    /// # Errors
    /// If the tape cannot be written, ends early or holds something else.
    fn state(&mut self, tape: &mut Tape<'_>) -> io::Result<()>;
}

/// Plain numbers.
pub(crate) trait Plain: NoUninit + AnyBitPattern {}
impl<T: NoUninit + AnyBitPattern> Plain for T {}

/// Bytes in a row, to be written or to be read.
pub(crate) enum Tape<'a> {
    Write(&'a mut dyn Write),
    Read(&'a mut dyn Read),
}

impl Tape<'_> {
    /// A number.
    pub(crate) fn value<T: Plain>(&mut self, value: &mut T) -> io::Result<()> {
        self.raw(bytemuck::bytes_of_mut(value))
    }

    /// Yes or no.
    pub(crate) fn flag(&mut self, flag: &mut bool) -> io::Result<()> {
        let mut byte = u8::from(*flag);
        self.value(&mut byte)?;
        *flag = byte != 0;
        Ok(())
    }

    /// A table whose length is known before it is read.
    pub(crate) fn table<T: Plain>(&mut self, table: &mut [T]) -> io::Result<()> {
        let mut length = table.len() as u64;
        self.value(&mut length)?;
        if length != table.len() as u64 {
            let expected = table.len();
            return Err(invalid(format!("a table of {length} numbers, expected {expected}")));
        }
        self.raw(bytemuck::cast_slice_mut(table))
    }

    /// A table of any length.
    pub(crate) fn list<T: Plain>(&mut self, list: &mut Vec<T>) -> io::Result<()> {
        /// What is read at once: a length that is wrong ends where the bytes do, not the memory.
        const PIECE: usize = 1 << 16;
        let mut length = list.len() as u64;
        self.value(&mut length)?;
        if let Tape::Write(_) = self {
            return self.raw(bytemuck::cast_slice_mut(list));
        }
        let length = usize::try_from(length).map_err(|_| invalid("a table too long"))?;
        list.clear();
        while list.len() < length {
            let start = list.len();
            list.resize(length.min(start + PIECE), T::zeroed());
            self.raw(bytemuck::cast_slice_mut(&mut list[start..]))?;
        }
        Ok(())
    }

    /// A text.
    pub(crate) fn text(&mut self, text: &mut String) -> io::Result<()> {
        let mut bytes = std::mem::take(text).into_bytes();
        self.list(&mut bytes)?;
        *text = String::from_utf8(bytes).map_err(invalid)?;
        Ok(())
    }

    fn raw(&mut self, bytes: &mut [u8]) -> io::Result<()> {
        match self {
            Tape::Write(to) => to.write_all(bytes),
            Tape::Read(from) => from.read_exact(bytes),
        }
    }
}

/// Bytes that mean nothing here.
pub(crate) fn invalid(why: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, why)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Clone, Debug, Default, PartialEq)]
    struct Everything {
        value: f64,
        flag: bool,
        table: [f32; 3],
        list: Vec<usize>,
        text: String,
    }

    impl State for Everything {
        fn state(&mut self, tape: &mut Tape<'_>) -> io::Result<()> {
            tape.value(&mut self.value)?;
            tape.flag(&mut self.flag)?;
            tape.table(&mut self.table)?;
            tape.list(&mut self.list)?;
            tape.text(&mut self.text)
        }
    }

    fn example() -> (Everything, Vec<u8>) {
        let mut example = Everything {
            value: f64::NEG_INFINITY,
            flag: true,
            table: [1.0, -0.0, f32::MIN_POSITIVE],
            list: (0..100_000).collect(),
            text: "Wörter".to_owned(),
        };
        let mut bytes = Vec::new();
        example.state(&mut Tape::Write(&mut bytes)).unwrap();
        (example, bytes)
    }

    #[test]
    fn what_is_read_is_what_was_written() {
        let (example, bytes) = example();
        let mut read = Everything::default();
        let mut rest = &bytes[..];
        read.state(&mut Tape::Read(&mut rest)).unwrap();
        assert_eq!(read, example);
        assert!(rest.is_empty());
    }

    #[test]
    fn tapes_that_end_early_or_hold_something_else_are_refused() {
        let (_, bytes) = example();
        let mut read = Everything::default();
        for end in [0, 7, 8, 20, 100, bytes.len() - 1] {
            let error = read.state(&mut Tape::Read(&mut &bytes[..end])).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::UnexpectedEof);
        }
        let mut four = [0f32; 4];
        let error = Tape::Read(&mut &bytes[9..]).table(&mut four).unwrap_err().to_string();
        assert_eq!(error, "a table of 3 numbers, expected 4");
        let mut endless: &[u8] = &[255; 64];
        assert!(Tape::Read(&mut endless).list(&mut vec![0u8]).is_err());
    }
}
