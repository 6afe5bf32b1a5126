#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| tutte_fuzz::encoder(data));
