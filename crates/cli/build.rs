//! Unpacks the English model that becomes a part of the program: packed, it has a third of the size in the
//! repository; unpacked, the program needs no time for it when it starts.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    #[cfg(feature = "english")]
    unpack("../../models/en.tutte.gz", "en.tutte");
}

#[cfg(feature = "english")]
fn unpack(packed: &str, name: &str) {
    use std::fs::File;
    use std::path::Path;

    println!("cargo::rerun-if-changed={packed}");
    let folder = std::env::var_os("OUT_DIR").expect("cargo names the folder of what is built");
    let source = File::open(packed).unwrap_or_else(|error| panic!("{packed}: {error}"));
    let mut model = File::create(Path::new(&folder).join(name)).expect("cargo made the folder");
    std::io::copy(&mut flate2::read::GzDecoder::new(source), &mut model)
        .unwrap_or_else(|error| panic!("{packed} cannot be unpacked: {error}"));
}
