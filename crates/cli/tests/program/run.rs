//! Output of a job over a corpus that is killed and resumed.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::LazyLock;
use std::thread::sleep;
use std::time::{Duration, Instant};

fn tutte() -> Command {
    Command::new(env!("CARGO_BIN_EXE_tutte"))
}

fn example(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(name)
}

/// Two models, the same for all tests.
static MODELS: LazyLock<PathBuf> = LazyLock::new(|| {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("run-models");
    fs::create_dir_all(&folder).unwrap();
    for (model, seed) in [("garden.tutte", "1"), ("other.tutte", "2")] {
        let train = [
            "train", "-q", "--with", "parser", "--preset", "fast", "--passes", "1", "--seed", seed,
            "-o",
        ];
        let model = folder.join(model);
        let garden = example("garden.conllu");
        let trained = tutte().args(train).args([&model, &garden]).output().unwrap();
        assert!(trained.status.success(), "{}", said(&trained));
    }
    folder
});

/// A folder with both models, and a corpus of many files, some in folders.
struct World {
    folder: PathBuf,
}

/// Files of the corpus.
const FILES: usize = 24;

impl World {
    fn new(name: &str) -> Self {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("run-{name}"));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(folder.join("corpus/inner/most")).unwrap();
        for model in ["garden.tutte", "other.tutte"] {
            fs::copy(MODELS.join(model), folder.join(model)).unwrap();
        }
        let garden = fs::read_to_string(example("garden.conllu")).unwrap();
        let sentences: Vec<&str> = garden.split_inclusive("\n\n").collect();
        for file in 0..FILES {
            let inner = ["", "inner/", "inner/most/"][file % 3];
            // Some are long, most are short, one is empty, one ends without a blank line.
            let many = match file {
                3 => 0,
                5 | 11 => 400,
                _ => 1 + file * 7 % 40,
            };
            let mut text: String =
                (0..many).map(|at| sentences[(file * 31 + at) % sentences.len()]).collect();
            if file == 4 {
                text.truncate(text.trim_end().len());
            }
            fs::write(folder.join(format!("corpus/{inner}{file:02}.conllu")), text).unwrap();
        }
        Self { folder }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// A job into a folder.
    fn job(&self, out: &str, more: &[&str]) -> Command {
        let mut command = tutte();
        command.current_dir(&self.folder).args(["run", "--json", "-m", "garden.tutte", "corpus"]);
        command.args(["-o", out]).args(more).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    fn done(&self, out: &str, more: &[&str]) -> serde_json::Value {
        let output = self.job(out, more).output().unwrap();
        assert!(output.status.success(), "{}", said(&output));
        serde_json::from_slice(&output.stdout).unwrap()
    }

    /// All files of a folder, hidden ones too.
    fn files(&self, out: &str) -> BTreeMap<PathBuf, Vec<u8>> {
        let top = self.path(out);
        let mut files = BTreeMap::new();
        let mut folders = vec![top.clone()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                } else {
                    let inside = path.strip_prefix(&top).unwrap().to_owned();
                    files.insert(inside, fs::read(&path).unwrap());
                }
            }
        }
        files
    }

    /// Starts a job repeatedly and kills it at different times. Returns how often some files were done and others not.
    fn kill_often(&self, out: &str, more: &[&str]) -> usize {
        let mut halfway = 0;
        for attempt in 0u64..12 {
            let mut more = more.to_vec();
            // Scripts may pass it from the first attempt on.
            more.push("--resume");
            let mut job = self.job(out, &more).spawn().unwrap();
            // A different moment of the job every time, but the same in every test run.
            let wait = Duration::from_millis(4 + (attempt * 37 + 11) % 60);
            if !ends_within(&mut job, wait) {
                job.kill().unwrap();
                job.wait().unwrap();
                let files = if self.path(out).exists() { self.files(out).len() } else { 0 };
                halfway += usize::from((2..FILES).contains(&files));
            }
        }
        halfway
    }
}

fn ends_within(job: &mut Child, wait: Duration) -> bool {
    let started = Instant::now();
    while started.elapsed() < wait {
        if job.try_wait().unwrap().is_some() {
            return true;
        }
        sleep(Duration::from_millis(1));
    }
    false
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn assert_same(a: &BTreeMap<PathBuf, Vec<u8>>, b: &BTreeMap<PathBuf, Vec<u8>>) {
    assert_eq!(a.keys().collect::<Vec<_>>(), b.keys().collect::<Vec<_>>());
    for (name, content) in a {
        assert!(content == &b[name], "{} differs", name.display());
    }
}

#[test]
fn a_killed_job_resumes_to_the_same_bytes() {
    let world = World::new("killed");
    let said = world.done("whole", &["--probs"]);
    assert_eq!((said["parsed"].as_u64(), said["files"].as_u64()), (Some(24), Some(24)));
    let whole = world.files("whole");
    assert_eq!(whole.len(), FILES + 1, "an output for each input, and the manifest");

    world.done("alone", &["--probs", "-j", "1"]);
    assert_same(&whole, &world.files("alone"));
    world.done("together", &["--probs", "-j", "3"]);
    assert_same(&whole, &world.files("together"));

    let halfway = world.kill_often("killed", &["--probs", "-j", "2"]);
    assert!(halfway > 0, "it was always too early or too late");
    world.done("killed", &["--probs", "--resume"]);
    assert_same(&whole, &world.files("killed"));
    let again = world.done("killed", &["--probs", "--resume"]);
    assert_eq!((again["parsed"].as_u64(), again["done_before"].as_u64()), (Some(0), Some(24)));
    assert_same(&whole, &world.files("killed"));

    // Every output is the same as if its input were parsed alone.
    let parsed = tutte()
        .current_dir(&world.folder)
        .args(["parse", "-q", "--probs", "-m", "garden.tutte", "corpus/inner/most/11.conllu"])
        .output()
        .unwrap();
    assert!(parsed.stdout == whole[Path::new("inner/most/11.conllu")]);
}

#[test]
fn killed_shards_together_are_the_whole_job() {
    let world = World::new("parts");
    // Random numbers depend on each file alone.
    let options = ["--sample", "2"];
    world.done("whole", &options);
    let mut whole = world.files("whole");
    whole.remove(Path::new("manifest.jsonl")).unwrap();
    for part in ["1/2", "2/2"] {
        let options = ["--sample", "2", "--shard", part];
        world.kill_often("parts", &options);
        let said = world.done("parts", &["--sample", "2", "--shard", part, "--resume"]);
        assert_eq!(said["files"].as_u64(), Some(12));
    }
    let mut parts = world.files("parts");
    for manifest in ["manifest-1of2.jsonl", "manifest-2of2.jsonl"] {
        assert!(parts.remove(Path::new(manifest)).is_some(), "{manifest}");
    }
    assert_same(&whole, &parts);
}

#[test]
fn changed_files_are_parsed_again() {
    let world = World::new("changed");
    world.done("out", &[]);
    let whole = world.files("out");
    let out = |name: &str| world.path("out").join(name);

    // Outputs that are missing, truncated or altered, a temporary file, and an incomplete line.
    fs::remove_file(out("00.conllu")).unwrap();
    fs::write(out("06.conllu"), "1\tmine").unwrap();
    let mut altered = whole[Path::new("09.conllu")].clone();
    altered[20] ^= 1;
    fs::write(out("09.conllu"), &altered).unwrap();
    fs::write(out("inner/.tutte-99999-0.tmp"), "1\tx").unwrap();
    fs::write(out(".tutte-99999-0.tmp"), "{").unwrap();
    let mut manifest = whole[Path::new("manifest.jsonl")].clone();
    manifest.extend_from_slice(br#"{"output": "00.con"#);
    fs::write(out("manifest.jsonl"), manifest).unwrap();
    let said = world.done("out", &["--resume"]);
    assert_eq!((said["parsed"].as_u64(), said["done_before"].as_u64()), (Some(3), Some(21)));
    // Edited outputs are kept.
    let mut files = world.files("out");
    assert_eq!(files.remove(Path::new("06.conllu.old")).as_deref(), Some(&b"1\tmine"[..]));
    assert!(files.remove(Path::new("09.conllu.old")).unwrap() == altered);
    assert_same(&whole, &files);
    fs::remove_file(out("06.conllu.old")).unwrap();
    fs::remove_file(out("09.conllu.old")).unwrap();

    // Inputs that have changed.
    let inner = world.path("corpus/inner/01.conllu");
    let changed = fs::read_to_string(&inner).unwrap().replace("sent_id = ", "sent_id = new-");
    fs::write(&inner, changed).unwrap();
    let said = world.done("out", &["--resume"]);
    assert_eq!(said["parsed"].as_u64(), Some(1));
    let new = world.files("out");
    assert!(String::from_utf8_lossy(&new[Path::new("inner/01.conllu")]).contains("new-"));
    assert_eq!(new.len(), whole.len(), "outputs of this job are replaced");
}

#[test]
fn resuming_does_not_delete_my_own_files() {
    let world = World::new("mine");
    world.done("out", &[]);
    // A new input, whose output has the name of a file of the user's. It cannot be parsed at first.
    fs::write(world.path("corpus/notes.conllu"), b"1\t\xff\n").unwrap();
    fs::write(world.path("out/notes.conllu"), "my notes").unwrap();
    fs::write(world.path("out/00.conllu"), "my edit").unwrap();
    fs::write(world.path("out/00.conllu.old"), "my first edit").unwrap();
    let output = world.job("out", &["--resume"]).output().unwrap();
    assert_eq!(output.status.code(), Some(3), "{}", said(&output));
    let kept = "out/00.conllu was not as this job had written it; it is kept as out/00.conllu.old2";
    assert!(said(&output).contains(kept), "{}", said(&output));
    let mine = |name: &str| fs::read_to_string(world.path("out").join(name)).unwrap();
    assert_eq!(mine("notes.conllu"), "my notes", "nothing was parsed to replace it");
    assert_eq!(mine("00.conllu.old"), "my first edit");
    assert_eq!(mine("00.conllu.old2"), "my edit");

    fs::copy(world.path("corpus/00.conllu"), world.path("corpus/notes.conllu")).unwrap();
    world.done("out", &["--resume"]);
    assert_eq!(mine("notes.conllu.old"), "my notes");
    assert_eq!(mine("notes.conllu"), mine("00.conllu"));
}

/// A job that is killed after it has renamed an output, but before it has recorded it.
#[test]
fn an_output_that_is_not_recorded_is_not_kept_twice() {
    let world = World::new("unrecorded");
    world.done("out", &[]);
    let whole = world.files("out");
    let manifest = String::from_utf8(whole[Path::new("manifest.jsonl")].clone()).unwrap();
    let some: String = manifest.split_inclusive('\n').take(5).collect();
    // Killed again, it has also given one of these outputs a second name.
    let is_unrecorded = |name: &&PathBuf| {
        let name = name.to_string_lossy();
        name.ends_with(".conllu") && !some.contains(&*name)
    };
    let unrecorded = world.path("out").join(whole.keys().find(is_unrecorded).unwrap());
    fs::hard_link(&unrecorded, unrecorded.with_extension("conllu.old")).unwrap();
    fs::write(world.path("out/manifest.jsonl"), &some).unwrap();
    let said = world.done("out", &["--resume"]);
    assert_eq!((said["parsed"].as_u64(), said["done_before"].as_u64()), (Some(20), Some(4)));
    assert_same(&whole, &world.files("out"));
}

#[cfg(target_os = "linux")]
#[test]
fn names_that_are_not_utf8_do_not_collide() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt as _;
    let world = World::new("names");
    let names: [&[u8]; 3] = [b"caf\xe9", b"caf\xea", br"caf\xe9"];
    let garden = fs::read_to_string(example("garden.conllu")).unwrap();
    let sentences: Vec<&str> = garden.split_inclusive("\n\n").collect();
    for (sentence, name) in sentences.iter().zip(names) {
        let name = [name, b".conllu"].concat();
        fs::write(world.path("corpus").join(OsStr::from_bytes(&name)), sentence).unwrap();
    }
    let said = world.done("out", &[]);
    assert_eq!(said["parsed"].as_u64(), Some(FILES as u64 + 3));
    let said = world.done("out", &["--resume"]);
    assert_eq!(said["done_before"].as_u64(), Some(FILES as u64 + 3));
    for name in names {
        let name = [name, b".conllu"].concat();
        assert!(world.path("out").join(OsStr::from_bytes(&name)).is_file());
    }
    // Each input has its own output with --outfile, too.
    let mut parse = tutte();
    parse.current_dir(&world.folder).args(["parse", "-q", "-m", "garden.tutte"]);
    parse.args(["--outfile", "{}.parsed.conllu"]);
    for name in names {
        parse.arg(OsStr::from_bytes(&[b"corpus/", name, b".conllu"].concat()));
    }
    assert!(parse.output().unwrap().status.success());
    for name in names {
        let output =
            world.path("corpus").join(OsStr::from_bytes(&[name, b".parsed.conllu"].concat()));
        assert!(output.is_file(), "{}", output.display());
    }
}

#[test]
fn an_input_that_fails_does_not_end_a_job() {
    let world = World::new("failing");
    let broken = world.path("corpus/inner/10.conllu");
    let text = fs::read_to_string(&broken).unwrap();
    // The last sentence cannot be read, so the file has no output.
    fs::write(&broken, format!("{text}1\tTea\n\n")).unwrap();
    fs::write(world.path("corpus/99.conllu"), b"1\t\xff\n").unwrap();
    let output = world.job("out", &[]).output().unwrap();
    assert_eq!(output.status.code(), Some(3), "{}", said(&output));
    let summary: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(summary["parsed"].as_u64(), Some(FILES as u64 - 1));
    let failed = summary["failed"].as_array().unwrap();
    let failed: Vec<&str> = failed.iter().map(|failed| failed["input"].as_str().unwrap()).collect();
    assert_eq!(failed, ["corpus/99.conllu", "corpus/inner/10.conllu"]);
    let files = world.files("out");
    assert_eq!(files.len(), FILES - 1 + 1);
    assert!(!files.contains_key(Path::new("inner/10.conllu")));

    // The repaired files are parsed, and no others.
    fs::write(&broken, text).unwrap();
    fs::remove_file(world.path("corpus/99.conllu")).unwrap();
    let summary = world.done("out", &["--resume"]);
    assert_eq!(summary["parsed"].as_u64(), Some(1));
    world.done("whole", &[]);
    assert_same(&world.files("whole"), &world.files("out"));
}

#[test]
fn another_model_or_a_job_that_runs_is_refused() {
    let world = World::new("refused");
    world.done("out", &[]);
    let whole = world.files("out");
    let other = ["run", "-m", "other.tutte", "corpus", "-o", "out", "--resume"];
    let output = tutte().current_dir(&world.folder).args(other).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(said(&output).contains("the model's checksum was "), "{}", said(&output));
    assert_same(&whole, &world.files("out"));

    let lock = fs::File::create(world.path("out/.manifest.jsonl.lock")).unwrap();
    lock.lock().unwrap();
    let output = world.job("out", &["--resume"]).output().unwrap();
    assert_eq!(output.status.code(), Some(3));
    assert!(said(&output).contains("another tutte is running this job"), "{}", said(&output));
    drop(lock);
    world.done("out", &["--resume"]);
    assert_same(&whole, &world.files("out"));
}

/// An interrupted job says how to resume it, and leaves no incomplete files.
#[cfg(unix)]
#[test]
fn ctrl_c_leaves_what_is_done() {
    let world = World::new("interrupted");
    world.done("whole", &["--kbest", "10"]);
    let job = world.job("out", &["--kbest", "10", "-j", "1"]).spawn().unwrap();
    let started = Instant::now();
    while !world.path("out/00.conllu").exists() {
        assert!(started.elapsed() < Duration::from_secs(60), "nothing is done");
        sleep(Duration::from_millis(1));
    }
    let killed = Command::new("kill").args(["-INT", &job.id().to_string()]).status();
    assert!(killed.unwrap().success());
    let output = job.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130), "{}", said(&output));
    assert!(
        said(&output).contains("continue with the same command and --resume"),
        "{}",
        said(&output)
    );
    let summary: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(summary["interrupted"], true);
    let done = summary["parsed"].as_u64().unwrap() as usize;
    assert!(done < FILES, "it was too late");
    assert_eq!(world.files("out").len(), done + 1, "finished files, and the manifest");
    world.done("out", &["--kbest", "10", "--resume"]);
    assert_same(&world.files("whole"), &world.files("out"));
}
