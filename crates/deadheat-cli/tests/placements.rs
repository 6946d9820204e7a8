//! `deadheat placements` with real compilers and linkers, on links recorded by
//! `deadheat link`.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::thread;

use deadheat_testing::{has, needs, skip};
use object::Endianness;
use object::elf::FileHeader64;
use object::read::elf::ElfFile;
use object::{Object, ObjectSymbol, SymbolKind};
use serde_json::Value;
use tempfile::TempDir;

/// Linkers by their names here, and their programs.
const LINKERS: [(&str, &str); 3] = [("lld", "ld.lld"), ("mold", "ld.mold"), ("gnu", "ld.bfd")];

/// The number of functions besides `main`.
const FUNCTIONS: usize = 40;

/// Prints a number; with an argument, where each function is.
fn program() -> String {
    let mut source = String::from("#include <stdio.h>\n");
    for index in 0..FUNCTIONS {
        let factor = index + 3;
        writeln!(
            source,
            "__attribute__((noinline)) int f{index}(int x) {{ return x * {factor} ^ x >> {}; }}",
            index % 7 + 1
        )
        .unwrap();
    }
    source.push_str("int (*all[])(int) = {");
    for index in 0..FUNCTIONS {
        write!(source, "f{index}, ").unwrap();
    }
    source.push_str(
        "};
        int main(int count, char **words) {
            (void)words;
            int sum = 1;
            for (unsigned i = 0; i < sizeof all / sizeof *all; ++i) {
                if (count > 1) printf(\"%p\\n\", (void *)all[i]);
                sum = all[i](sum);
            }
            if (count == 1) printf(\"%d\\n\", sum);
            return 0;
        }\n",
    );
    source
}

/// A folder with `k.o`, compiled with these options.
fn object(compiler: &str, options: &[&str]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("k.c"), program()).unwrap();
    let words = [&[compiler, "-O1", "-c", "k.c"], options].concat();
    run(folder.path(), &words);
    folder
}

/// A folder with `app`, linked through deadheat.
fn app() -> TempDir {
    let folder = object("gcc", &["-ffunction-sections"]);
    link(folder.path(), &["gcc", "-no-pie", "k.o"]);
    folder
}

fn run(folder: &Path, words: &[&str]) -> String {
    let output = Command::new(words[0])
        .args(&words[1..])
        .current_dir(folder)
        .output()
        .unwrap();
    assert!(output.status.success(), "{words:?}: {output:?}");
    String::from_utf8(output.stdout).unwrap()
}

fn link(folder: &Path, words: &[&str]) {
    let deadheat = env!("CARGO_BIN_EXE_deadheat");
    run(
        folder,
        &[&[deadheat, "link", "--"], words, &["-o", "app"]].concat(),
    );
}

fn request(folder: &Path, seeds: &[u32]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_deadheat"));
    command
        .args(["placements", "app"])
        .args(seeds.iter().map(u32::to_string))
        .env_remove("DEADHEAT_NEUTRAL_LINKER")
        .env_remove("DEADHEAT_CACHE_LIMIT")
        .current_dir(folder);
    command
}

fn lines_of(output: &Output) -> Vec<Value> {
    assert!(output.status.success(), "{output:?}");
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    let text = String::from_utf8(output.stdout.clone()).unwrap();
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

fn ask(folder: &Path, seeds: &[u32]) -> Vec<Value> {
    lines_of(&request(folder, seeds).output().unwrap())
}

fn ask_for(folder: &Path, linker: &str, seeds: &[u32]) -> Vec<Value> {
    let output = request(folder, seeds)
        .env("DEADHEAT_NEUTRAL_LINKER", linker)
        .output();
    lines_of(&output.unwrap())
}

/// The path of a variant, and its hash.
fn placed(line: &Value, seed: u32) -> (PathBuf, String) {
    assert_eq!(line["placed"]["seed"], seed, "{line}");
    let text = |name: &str| line["placed"][name].as_str().unwrap().to_owned();
    (PathBuf::from(text("executable")), text("hash"))
}

fn refusal(line: &Value, seed: u32) -> &str {
    assert_eq!(line["refused"]["seed"], seed, "{line}");
    line["refused"]["reason"].as_str().unwrap()
}

fn impossible(lines: &[Value]) -> &str {
    assert_eq!(lines.len(), 1, "{lines:?}");
    lines[0]["impossible"]["reason"]
        .as_str()
        .unwrap_or_else(|| panic!("{lines:?}"))
}

/// Where the functions are in a variant, as it says itself.
fn addresses(variant: &Path) -> Vec<u64> {
    let printed = run(Path::new("/"), &[variant.to_str().unwrap(), "where"]);
    let address = |line: &str| u64::from_str_radix(line.trim_start_matches("0x"), 16).unwrap();
    printed.lines().map(address).collect()
}

/// Functions by address.
fn order(addresses: &[u64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..addresses.len()).collect();
    order.sort_by_key(|&index| addresses[index]);
    order
}

/// A driver that does as a shell script says before it does what gcc does.
fn driver(folder: &Path, script: &str) -> String {
    let path = folder.join("driver");
    fs::write(&path, format!("#!/bin/sh\n{script}\nexec gcc \"$@\"\n")).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    path.to_str().unwrap().to_owned()
}

#[test]
fn every_linker_shuffles_by_the_seed_aligns_every_function_and_changes_no_answer() {
    for ((linker, program), name) in LINKERS.into_iter().zip(["LLD ", "mold ", "GNU ld "]) {
        for compiler in ["gcc", "clang"] {
            if !has!(program, compiler) {
                continue;
            }
            let folder = object(compiler, &["-ffunction-sections", "-g"]);
            link(folder.path(), &[compiler, "-no-pie", "k.o"]);
            let own = folder.path().join("app");
            let lines = ask_for(folder.path(), linker, &[7, 8]);
            assert_eq!(lines.len(), 3);
            let about = &lines[0]["links"];
            assert_eq!(about["executable"], "app");
            assert!(
                about["linker"].as_str().unwrap().starts_with(name),
                "{about}"
            );
            assert_eq!(about["record"].as_str().unwrap().len(), 16);
            assert_eq!(about["unsectioned"], Value::Array(Vec::new()));
            let ((first, first_hash), (second, second_hash)) =
                (placed(&lines[1], 7), placed(&lines[2], 8));
            assert_ne!(first_hash, second_hash);
            let answer = run(Path::new("/"), &[own.to_str().unwrap()]);
            let mut orders = BTreeSet::new();
            for variant in [&first, &second] {
                assert_eq!(run(Path::new("/"), &[variant.to_str().unwrap()]), answer);
                let addresses = addresses(variant);
                assert_eq!(addresses.len(), FUNCTIONS);
                for address in &addresses {
                    assert_eq!(address % 64, 0, "{linker}, {compiler}: {address:x}");
                }
                orders.insert(order(&addresses));
                let size = |path: &Path| fs::metadata(path).unwrap().len();
                assert!(
                    size(variant) < size(&own) + 64 * FUNCTIONS as u64,
                    "debug information is left out"
                );
            }
            orders.insert(order(&addresses(&own)));
            assert_eq!(
                orders.len(),
                3,
                "{linker}, {compiler}: three orders of functions"
            );

            fs::remove_dir_all(folder.path().join(".deadheat/links/placements")).unwrap();
            let again = ask_for(folder.path(), linker, &[8, 7]);
            assert_eq!(placed(&again[1], 8).1, second_hash, "{linker}, {compiler}");
            assert_eq!(placed(&again[2], 7).1, first_hash, "{linker}, {compiler}");
        }
    }
}

/// A branch of 64-bit ARM reaches 128 MiB, and linkers insert a step for longer ones. Each function
/// is 36 MiB long, so in any order, one of those that `main` calls is farther away.
#[test]
#[cfg(target_arch = "aarch64")]
fn calls_beyond_the_range_of_a_branch_arrive_in_every_order() {
    const FAR: std::ops::Range<u32> = 0..8;
    needs!("gcc");
    let folder = tempfile::tempdir().unwrap();
    let mut assembly = String::new();
    let mut main = String::from("#include <stdio.h>\nint ");
    for index in FAR {
        write!(
            assembly,
            ".section .text.far{index},\"ax\",@progbits\n.globl far{index}\n\
             .type far{index},@function\nfar{index}:\nadd x0, x0, {index}\nret\n\
             .zero {}\n.size far{index},.-far{index}\n",
            36 << 20
        )
        .unwrap();
        write!(main, "far{index}(int), ").unwrap();
    }
    let calls: Vec<String> = FAR.map(|index| format!("far{index}(1)")).collect();
    write!(
        main,
        "unused;\nint main(void) {{ printf(\"%d\\n\", {}); }}",
        calls.join(" + ")
    )
    .unwrap();
    fs::write(folder.path().join("far.s"), assembly).unwrap();
    fs::write(folder.path().join("main.c"), main).unwrap();
    let compile = ["gcc", "-ffunction-sections", "-c", "far.s", "main.c"];
    run(folder.path(), &compile);
    link(folder.path(), &["gcc", "far.o", "main.o"]);
    for (linker, program) in LINKERS {
        if !has!(program) {
            continue;
        }
        let (variant, _) = placed(&ask_for(folder.path(), linker, &[7])[1], 7);
        assert_eq!(
            run(folder.path(), &[variant.to_str().unwrap()]),
            "36\n",
            "{linker}"
        );
        fs::remove_dir_all(folder.path().join(".deadheat/links/placements")).unwrap();
    }
}

#[test]
fn the_symbol_table_shows_every_function_at_a_multiple_of_64() {
    let folder = app();
    let lines = ask_for(folder.path(), "gnu", &[3]);
    let bytes = fs::read(placed(&lines[1], 3).0).unwrap();
    let file = ElfFile::<FileHeader64<Endianness>>::parse(&*bytes).unwrap();
    let ours: Vec<(String, u64)> = file
        .symbols()
        .filter(|symbol| symbol.kind() == SymbolKind::Text)
        .map(|symbol| (symbol.name().unwrap().to_owned(), symbol.address()))
        .filter(|(name, _)| {
            name == "main"
                || name
                    .strip_prefix('f')
                    .is_some_and(|rest| rest.parse::<u32>().is_ok())
        })
        .collect();
    assert_eq!(ours.len(), FUNCTIONS + 1, "{ours:?}");
    assert!(
        ours.iter().all(|(_, address)| address % 64 == 0),
        "{ours:?}"
    );
}

#[test]
fn without_seeds_only_the_first_line_is_told_and_a_seed_asked_for_twice_is_told_twice() {
    let folder = app();
    let lines = ask(folder.path(), &[]);
    assert_eq!(lines.len(), 1);
    assert!(lines[0]["links"]["linker"].is_string(), "{lines:?}");
    let lines = ask(folder.path(), &[5, 1, 5]);
    assert_eq!(placed(&lines[1], 5), placed(&lines[3], 5));
    assert_ne!(placed(&lines[2], 1), placed(&lines[3], 5));
}

#[test]
fn a_link_made_before_is_not_made_again() {
    let folder = app();
    let (path, hash) = placed(&ask(folder.path(), &[4])[1], 4);
    let made = fs::metadata(&path).unwrap().ino();
    assert_eq!(
        placed(&ask(folder.path(), &[4])[1], 4),
        (path.clone(), hash)
    );
    assert_eq!(fs::metadata(&path).unwrap().ino(), made);
}

#[test]
fn objects_whose_functions_share_a_section_are_told() {
    let folder = object("gcc", &["-fno-function-sections"]);
    link(folder.path(), &["gcc", "k.o"]);
    let lines = ask(folder.path(), &[1]);
    let unsectioned = lines[0]["links"]["unsectioned"].as_array().unwrap();
    assert_eq!(unsectioned.len(), 1, "{lines:?}");
    assert!(
        unsectioned[0].as_str().unwrap().ends_with("k.o"),
        "{lines:?}"
    );
    placed(&lines[1], 1);
}

#[test]
fn an_archive_with_two_members_of_one_name_keeps_both() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    for (name, source) in [
        (
            "one",
            "int one(void) { return 1; } int uno(void) { return 10; }",
        ),
        (
            "two",
            "int two(void) { return 2; } int due(void) { return 20; }",
        ),
        (
            "main",
            "#include <stdio.h>\nint one(void), two(void), uno(void), due(void);\nint main(void) { printf(\"%d\\n\", one() + two() + uno() + due()); return 0; }",
        ),
    ] {
        fs::create_dir(at(name)).unwrap();
        fs::write(at(name).join("k.c"), source).unwrap();
        run(
            &at(name),
            &["gcc", "-O1", "-ffunction-sections", "-c", "k.c"],
        );
    }
    run(folder.path(), &["ar", "qc", "libk.a", "one/k.o", "two/k.o"]);
    link(folder.path(), &["gcc", "main/k.o", "libk.a"]);
    for (linker, program) in LINKERS {
        if !has!(program) {
            continue;
        }
        let lines = ask_for(folder.path(), linker, &[1, 2]);
        for (line, seed) in lines[1..].iter().zip([1, 2]) {
            let (variant, _) = placed(line, seed);
            assert_eq!(run(Path::new("/"), &[variant.to_str().unwrap()]), "33\n");
        }
    }
}

#[test]
fn a_link_that_fails_for_one_seed_is_refused_and_the_others_are_made() {
    needs!("ld.lld");
    let folder = object("gcc", &["-ffunction-sections"]);
    let driver = driver(
        folder.path(),
        "case \"$*\" in *'sections=.text*=2 '*) echo 'note'; echo 'ld: error: not in this order' >&2; exit 1;; esac",
    );
    link(folder.path(), &[&driver, "k.o"]);
    let lines = ask_for(folder.path(), "lld", &[2, 1, 2, 3]);
    assert_eq!(lines.len(), 5, "{lines:?}");
    let reason = refusal(&lines[1], 2);
    assert!(
        reason.starts_with("ld: error: not in this order\n"),
        "{reason}"
    );
    assert!(reason.contains("`deadheat placements "), "{reason}");
    assert!(reason.contains("/app 2` links it again"), "{reason}");
    placed(&lines[2], 1);
    assert_eq!(refusal(&lines[3], 2), reason);
    placed(&lines[4], 3);
}

#[test]
fn the_linker_alone_makes_what_it_makes_for_the_driver_and_is_called_only_then() {
    needs!("ld.lld");
    let note = "echo \"$*\" >> \"${0%/*}/asked\"";
    let silent = "case \"$*\" in *'-###'*) exit 1;; esac";
    let other = "case \"$*\" in *'-###'*) exec gcc -Wl,--build-id=0x01 \"$@\";; esac";
    let made = |more: &str| {
        let folder = object("gcc", &["-ffunction-sections"]);
        let driver = driver(folder.path(), &format!("{note}\n{more}"));
        link(folder.path(), &[&driver, "k.o"]);
        let lines = ask_for(folder.path(), "lld", &[1, 2, 3]);
        let hashes: Vec<String> = (1..=3)
            .map(|seed| placed(&lines[seed as usize], seed).1)
            .collect();
        let asked = fs::read_to_string(folder.path().join("asked")).unwrap();
        let links = |line: &&str| line.contains("--shuffle-sections");
        (hashes, asked.lines().filter(links).count())
    };
    let (by_driver, links) = made(silent);
    assert_eq!(links, 3);
    assert_eq!(made(""), (by_driver.clone(), 1));
    // It says something else than it does.
    assert_eq!(made(other), (by_driver, 3));
}

#[test]
fn a_linker_that_does_not_know_how_to_shuffle_gives_way_to_the_next() {
    needs!("ld.lld", "ld.mold");
    let folder = object("gcc", &["-ffunction-sections"]);
    let driver = driver(
        folder.path(),
        "case \"$*\" in *'sections=.text'*) echo \"ld.lld: error: unknown argument '--shuffle-sections'\" >&2; exit 1;; esac",
    );
    link(folder.path(), &[&driver, "k.o"]);
    let lines = ask(folder.path(), &[1]);
    assert!(
        lines[0]["links"]["linker"]
            .as_str()
            .unwrap()
            .starts_with("mold "),
        "{lines:?}"
    );
    placed(&lines[1], 1);
    let output = request(folder.path(), &[1])
        .env("DEADHEAT_NEUTRAL_LINKER", "lld")
        .output();
    let lines = lines_of(&output.unwrap());
    let reason = impossible(&lines);
    assert!(
        reason.starts_with("DEADHEAT_NEUTRAL_LINKER selects lld"),
        "{reason}"
    );
    assert!(
        reason.contains("unknown argument '--shuffle-sections'"),
        "{reason}"
    );
}

#[test]
fn without_any_linker_that_shuffles_the_reason_names_all_that_were_tried_and_a_remedy() {
    let folder = object("gcc", &["-ffunction-sections"]);
    let driver = driver(
        folder.path(),
        "case \"$*\" in *-fuse-ld*|*-B*) echo 'driver: error: only my own linker' >&2; exit 1;; esac",
    );
    link(folder.path(), &[&driver, "k.o"]);
    let lines = ask(folder.path(), &[1, 2]);
    let reason = impossible(&lines);
    for word in [
        "lld: ",
        "mold: ",
        "GNU ld: driver: error: only my own linker",
        "apt install lld",
    ] {
        assert!(reason.contains(word), "{word}: {reason}");
    }
}

#[test]
fn code_that_is_made_while_linking_makes_neutral_links_impossible() {
    needs!("clang", "ld.lld");
    for (compile, words) in [
        (&["gcc", "-flto"][..], &["gcc", "-flto", "k.o"][..]),
        // gcc does so even where there is machine code and nobody asks.
        (&["gcc", "-flto", "-ffat-lto-objects"], &["gcc", "k.o"]),
        (
            &["clang", "-flto"],
            &["clang", "-flto", "-fuse-ld=lld", "k.o"],
        ),
    ] {
        let folder = object(compile[0], &compile[1..]);
        link(folder.path(), words);
        let lines = ask(folder.path(), &[1]);
        let reason = impossible(&lines);
        assert!(
            reason.contains("k.o") && reason.contains("-flto"),
            "{reason}"
        );
    }
}

#[test]
fn what_there_is_no_good_record_of_is_told() {
    let folder = object("gcc", &["-ffunction-sections"]);
    let lines = ask(folder.path(), &[1]);
    assert!(
        impossible(&lines).contains("app: No such file"),
        "{lines:?}"
    );
    run(folder.path(), &["gcc", "k.o", "-o", "app"]);
    let lines = ask(folder.path(), &[1]);
    assert!(
        impossible(&lines).contains("not linked through `deadheat link`"),
        "{lines:?}"
    );
    link(folder.path(), &["gcc", "k.o"]);
    run(folder.path(), &["gcc", "-static", "k.o", "-o", "app"]);
    let lines = ask(folder.path(), &[1]);
    assert!(impossible(&lines).contains("link it again"), "{lines:?}");
    link(folder.path(), &["gcc", "k.o"]);
    let inputs = folder.path().join(".deadheat/links/inputs");
    for input in fs::read_dir(inputs).unwrap() {
        fs::remove_file(input.unwrap().path()).unwrap();
    }
    let lines = ask(folder.path(), &[1]);
    let reason = impossible(&lines);
    assert!(
        reason.contains("k.o, is missing; link ") && reason.ends_with(" again"),
        "{reason}"
    );
}

#[test]
fn a_variable_that_makes_no_sense_is_named() {
    let folder = app();
    for (name, value) in [
        ("DEADHEAT_NEUTRAL_LINKER", "gold"),
        ("DEADHEAT_CACHE_LIMIT", "lots"),
    ] {
        let lines = lines_of(
            &request(folder.path(), &[1])
                .env(name, value)
                .output()
                .unwrap(),
        );
        assert!(
            impossible(&lines).starts_with(&format!("{name} is `{value}`")),
            "{lines:?}"
        );
    }
}

/// A link that runs alone has all cores, one among others has its share.
#[test]
fn a_link_made_alone_is_the_one_made_among_others() {
    for (linker, program) in [LINKERS[0], LINKERS[1]] {
        if !has!(program) {
            continue;
        }
        let (one, other) = (app(), app());
        let alone = ask_for(one.path(), linker, &[7]);
        let among = ask_for(other.path(), linker, &[5, 6, 7, 8]);
        let hash = |line: &Value| placed(line, 7).1;
        assert_eq!(hash(&alone[1]), hash(&among[3]), "{linker}");
    }
}

#[test]
fn processes_that_ask_at_once_get_the_same_links() {
    let folder = app();
    let requests = [[1, 2, 3], [3, 2, 1], [2, 4, 5], [1, 5, 6]];
    let answers: Vec<(u32, (PathBuf, String))> = thread::scope(|scope| {
        let asked = requests.map(|seeds| {
            let folder = folder.path();
            scope.spawn(move || {
                let lines = ask(folder, &seeds);
                seeds.map(|seed| {
                    let line = lines.iter().find(|line| line["placed"]["seed"] == seed);
                    (
                        seed,
                        placed(line.unwrap_or_else(|| panic!("{lines:?}")), seed),
                    )
                })
            })
        });
        asked
            .into_iter()
            .flat_map(|asked| asked.join().unwrap())
            .collect()
    });
    let distinct: BTreeSet<_> = answers.iter().collect();
    assert_eq!(distinct.len(), 6, "one link for each seed: {distinct:?}");
    let left: Vec<String> = fs::read_dir(folder.path().join(".deadheat/links/placements"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.starts_with("making-"))
        .collect();
    assert_eq!(left, [""; 0]);
}

#[test]
fn a_bound_on_the_cache_spares_the_links_just_asked_for() {
    let folder = app();
    let bounded = |seeds: &[u32]| {
        let output = request(folder.path(), seeds)
            .env("DEADHEAT_CACHE_LIMIT", "1K")
            .output();
        let lines = lines_of(&output.unwrap());
        lines[1..]
            .iter()
            .zip(seeds)
            .map(|(line, seed)| placed(line, *seed).0)
            .collect::<Vec<_>>()
    };
    let first = bounded(&[1, 2]);
    assert!(first.iter().all(|variant| variant.exists()), "{first:?}");
    let second = bounded(&[3]);
    assert!(second[0].exists());
    assert!(!first.iter().any(|variant| variant.exists()), "{first:?}");
}

#[test]
fn a_call_longer_than_a_system_may_take_goes_through_a_file() {
    needs!("clang");
    let folder = object("gcc", &["-ffunction-sections"]);
    // Each is a word of its own; together they are longer than 100 kB.
    let paths: Vec<String> = (0..900)
        .map(|index| format!("-L/{}/{index} x", "y".repeat(120)))
        .collect();
    for compiler in ["gcc", "clang"] {
        let mut words = vec![compiler, "k.o"];
        words.extend(paths.iter().map(String::as_str));
        link(folder.path(), &words);
        let lines = ask(folder.path(), &[1]);
        let (variant, _) = placed(&lines[1], 1);
        run(Path::new("/"), &[variant.to_str().unwrap()]);
    }
}

#[test]
fn who_closes_standard_output_ends_it_quietly() {
    let folder = app();
    let mut asked = request(folder.path(), &[1, 2, 3])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(asked.stdout.take());
    let output = asked.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
}

#[test]
fn seeds_begin_at_one_and_the_subcommand_is_not_shown_to_people() {
    let folder = app();
    let output = request(folder.path(), &[0]).output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    let help = run(folder.path(), &[env!("CARGO_BIN_EXE_deadheat"), "--help"]);
    assert!(
        help.contains("For set-up: link,") && !help.contains("placements"),
        "{help}"
    );
}

#[test]
fn a_full_disk_refuses_some_links_and_harms_none() {
    let folder = object("gcc", &["-ffunction-sections"]);
    let disk = folder.path().join("disk");
    fs::create_dir(&disk).unwrap();
    // A small file system in a mount namespace of its own.
    let script = format!(
        "mount -t tmpfs -o size=320k tmpfs {disk} || exit 99; cp k.o {disk} && cd {disk} && \
         {deadheat} link -- gcc k.o -o app && {deadheat} placements app $(seq 1 40) && \
         ./app && ls .deadheat/links/placements",
        disk = disk.display(),
        deadheat = env!("CARGO_BIN_EXE_deadheat"),
    );
    let root = fs::metadata("/proc/self").unwrap().uid() == 0;
    let namespace: &[&str] = if root { &["-m"] } else { &["-r", "-m"] };
    let output = Command::new("unshare")
        .args(namespace)
        .args(["sh", "-c", &script])
        .current_dir(folder.path())
        .output();
    let output = match output {
        Ok(output) => output,
        Err(error) => return skip!("no unshare here: {error}"),
    };
    let complaint = String::from_utf8_lossy(&output.stderr);
    if output.status.code() == Some(99) || complaint.contains("unshare") {
        return skip!("this sandbox cannot mount: {complaint}");
    }
    assert!(output.status.success(), "{output:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    let lines: Vec<Value> = text
        .lines()
        .map_while(|line| serde_json::from_str(line).ok())
        .collect();
    let refused: Vec<&str> = lines
        .iter()
        .filter_map(|line| line["refused"]["reason"].as_str())
        .collect();
    let made = lines
        .iter()
        .filter(|line| line["placed"].is_object())
        .count();
    assert!(made > 0, "{text}");
    assert_eq!(made + refused.len(), 40, "{text}");
    assert!(!refused.is_empty(), "{text}");
    for reason in refused {
        assert!(
            reason.starts_with("no space is left for neutral links in "),
            "{reason}"
        );
    }
    assert!(!text.contains("making-"), "{text}");
}

/// Two builds of the program in folders `old` and `new`: in the newer one a function is larger, one
/// is new, and one is gone.
fn builds(words: &[&str]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let grown =
        "int f7(int x) { for (int i = 0; i < 9; i++) x = x * 31 + (x >> 3) * i + 1; return x; }
        __attribute__((noinline)) int extra(int x) { return x * 5 + f7(x) % 3; }
        int (*kept)(int) = extra;";
    let old = program();
    let f7 = old.lines().find(|line| line.contains("int f7(")).unwrap();
    let new = old.replace(f7, &format!("__attribute__((noinline)) {grown}"));
    for (name, source) in [("old", old), ("new", new)] {
        let side = folder.path().join(name);
        fs::create_dir(&side).unwrap();
        fs::write(side.join("k.c"), source).unwrap();
        run(&side, &["gcc", "-O1", "-c", "k.c", "-ffunction-sections"]);
        link(&side, &[words, &["k.o"]].concat());
    }
    folder
}

/// Links of one build beside the other.
fn ask_beside(folder: &Path, [own, other]: [&str; 2], linker: &str, seeds: &[u32]) -> Vec<Value> {
    let mut request = request(&folder.join(own), seeds);
    request.args(["--beside", &format!("../{other}/app")]);
    lines_of(
        &request
            .env("DEADHEAT_NEUTRAL_LINKER", linker)
            .output()
            .unwrap(),
    )
}

#[test]
fn matched_builds_have_what_they_share_at_the_same_addresses_and_answer_as_their_own_links() {
    needs!("ld.lld");
    let folder = builds(&["gcc", "-no-pie"]);
    let own = |name: &str| run(&folder.path().join(name), &["./app"]);
    assert_ne!(own("old"), own("new"));
    for linker in ["lld", "gnu"] {
        let seeds = [1, 2, 77];
        let sides = [["old", "new"], ["new", "old"]];
        let lines = sides.map(|sides| ask_beside(folder.path(), sides, linker, &seeds));
        let mut orders = BTreeSet::new();
        for (at, seed) in seeds.into_iter().enumerate() {
            let [old, new] = [&lines[0], &lines[1]].map(|lines| {
                assert_eq!(lines[0]["links"]["matched"], true, "{lines:?}");
                placed(&lines[1 + at], seed).0
            });
            for (variant, name) in [(&old, "old"), (&new, "new")] {
                let answer = run(Path::new("/"), &[variant.to_str().unwrap()]);
                assert_eq!(answer, own(name), "{linker}, seed {seed}");
            }
            let starts = [&old, &new].map(|variant| start_of_text(variant));
            let from = |variant: &Path, start: u64| -> Vec<u64> {
                addresses(variant)
                    .iter()
                    .map(|address| address - start)
                    .collect()
            };
            let (old, new) = (from(&old, starts[0]), from(&new, starts[1]));
            assert_eq!(old, new, "{linker}, seed {seed}");
            assert!(old.iter().all(|address| address % 64 == 0));
            orders.insert(order(&old));
        }
        assert_eq!(orders.len(), seeds.len(), "{linker}: a seed draws an order");
    }
}

#[test]
fn lld_is_told_by_an_order_of_symbols_and_by_a_script_where_it_does_not_take_that() {
    needs!("ld.lld");
    let refusal = "case \"$*\" in *order.symbols*) echo 'unknown argument' >&2; exit 1;; esac";
    for (refusal, told_by) in [("", "order.symbols"), (refusal, "order.ld")] {
        let folder = builds(&["gcc"]);
        let calls = folder.path().join("calls");
        let body = format!("echo \"$*\" >> {}\n{refusal}", calls.display());
        let driver = driver(folder.path(), &body);
        link(&folder.path().join("old"), &[&driver, "k.o"]);
        let lines = ask_beside(folder.path(), ["old", "new"], "lld", &[5, 6]);
        assert_eq!(lines[0]["links"]["matched"], true, "{lines:?}");
        let told = fs::read_to_string(&calls).unwrap();
        // Beside the links themselves it is asked how it would link.
        let last = told.lines().rfind(|line| !line.contains("-###")).unwrap();
        assert!(last.contains(told_by), "{last}");
    }
}

/// Where the code of a matched link begins.
fn start_of_text(variant: &Path) -> u64 {
    let bytes = fs::read(variant).unwrap();
    let file = ElfFile::<FileHeader64<Endianness>>::parse(&*bytes).unwrap();
    let mut symbols = file.symbols();
    let start = symbols.find(|symbol| symbol.name() == Ok("__deadheat_text"));
    let start = start.unwrap().address();
    assert_eq!(start % 4096, 0);
    start
}

#[test]
fn builds_that_cannot_be_matched_are_shuffled_each_for_itself_and_the_reason_is_told() {
    needs!("ld.lld", "ld.mold");
    let folder = builds(&["gcc"]);
    // A linker that cannot be told, one that does not like what it is told, and other programs.
    let lines = ask_beside(folder.path(), ["old", "new"], "mold", &[5]);
    let reason = lines[0]["links"]["unmatched"].as_str().unwrap();
    assert!(reason.contains("cannot place sections"), "{reason}");
    placed(&lines[1], 5);

    let driver = driver(
        folder.path(),
        "case \"$*\" in *order.*) echo 'ld: error: relocation out of range' >&2; exit 1;; esac",
    );
    link(&folder.path().join("old"), &[&driver, "k.o"]);
    let lines = ask_beside(folder.path(), ["old", "new"], "lld", &[5]);
    assert_eq!(
        lines[0]["links"]["unmatched"],
        "ld: error: relocation out of range"
    );
    placed(&lines[1], 5);

    let other = folder.path().join("other");
    fs::create_dir(&other).unwrap();
    fs::write(other.join("k.c"), "int main(void) { return 0; }").unwrap();
    run(&other, &["gcc", "-c", "k.c", "-ffunction-sections"]);
    link(&other, &["gcc", "k.o"]);
    let lines = ask_beside(folder.path(), ["new", "other"], "lld", &[5]);
    let reason = lines[0]["links"]["unmatched"].as_str().unwrap();
    assert!(reason.starts_with("only "), "{reason}");
    placed(&lines[1], 5);
}
