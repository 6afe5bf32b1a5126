#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| tutte_fuzz::factors(data));
