//! `deadheat link` with real compilers and linkers: the user's link is never
//! harmed, and what is recorded suffices to link again.

use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::thread;

use deadheat_link::{Argument, LinkRecord, Obstacle, RecordError};
use deadheat_testing::needs;
use tempfile::TempDir;

const MAIN: &str = "int work(int); int main(void) { return work(1) - 42; }";
const WORK: &str = "int work(int i) { return i + 41; }";

/// A folder with `main.o` and `work.o`.
fn objects() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    compile(folder.path(), "main", MAIN, &["-ffunction-sections"]);
    compile(folder.path(), "work", WORK, &["-ffunction-sections"]);
    folder
}

fn compile(folder: &Path, name: &str, source: &str, options: &[&str]) {
    fs::write(folder.join(format!("{name}.c")), source).unwrap();
    let source = format!("{name}.c");
    run(folder, &[&["gcc", "-c", &source], options].concat());
    fs::remove_file(folder.join(source)).unwrap();
}

/// Runs what has to succeed.
fn run(folder: &Path, command: &[&str]) {
    let (program, arguments) = command.split_first().unwrap();
    let mut command = Command::new(program);
    let output = command.args(arguments).current_dir(folder).output();
    let output = output.unwrap();
    assert!(output.status.success(), "{command:?}: {output:?}");
}

fn deadheat_link(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_deadheat"));
    command.args(["link", "--"]).current_dir(folder);
    command
}

/// Links through deadheat; the arguments are apart by spaces.
fn link(folder: &Path, line: &str) -> Output {
    deadheat_link(folder)
        .args(line.split_whitespace())
        .output()
        .unwrap()
}

/// Links through deadheat without anything to be said about it.
fn link_quietly(folder: &Path, line: &str) -> LinkRecord {
    let output = link(folder, line);
    assert!(output.status.success(), "{line}: {output:?}");
    assert_eq!(stderr(&output), "", "{line}");
    record(folder, "app")
}

fn record(folder: &Path, name: &str) -> LinkRecord {
    LinkRecord::beside(&folder.join(name)).unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// Where the kept files of a record are, in the order of its arguments.
fn kept(record: &LinkRecord) -> Vec<PathBuf> {
    let inputs = LinkRecord::home(record.output.parent().unwrap()).join("inputs");
    let arguments = record.arguments.iter();
    arguments
        .filter_map(|argument| match argument {
            Argument::Word(_) => None,
            Argument::Kept { input, .. } => Some(inputs.join(&input.name)),
        })
        .collect()
}

fn words(record: &LinkRecord) -> Vec<&str> {
    let arguments = record.arguments.iter();
    arguments
        .map(|argument| match argument {
            Argument::Word(word) => word.as_str(),
            Argument::Kept { before, .. } => before.as_str(),
        })
        .collect()
}

/// Links again from the record alone, and runs what comes out.
fn link_again(record: &LinkRecord) {
    let inputs = LinkRecord::home(record.output.parent().unwrap()).join("inputs");
    let folder = tempfile::tempdir().unwrap();
    let again = folder.path().join("again");
    let mut command = Command::new(&record.driver);
    command.current_dir(&record.directory).arg("-o").arg(&again);
    for argument in &record.arguments {
        command.arg(match argument {
            Argument::Word(word) => word.clone(),
            Argument::Kept { before, input } => {
                format!("{before}{}", inputs.join(&input.name).display())
            }
        });
    }
    let output = command.output().unwrap();
    assert!(output.status.success(), "{command:?}: {}", stderr(&output));
    let output = Command::new(&again).output().unwrap();
    assert!(output.status.success(), "{output:?}");
}

#[test]
fn the_same_bytes_come_out_with_and_without_deadheat() {
    needs!("clang", "ld.lld");
    let folder = objects();
    for line in [
        "gcc main.o work.o",
        "clang main.o work.o",
        "clang -fuse-ld=lld main.o work.o -Wl,--gc-sections",
        "gcc -static main.o work.o",
    ] {
        // The same name, because clang's `ld` may write it into the output.
        let plain: Vec<&str> = line.split(' ').chain(["-o", "app"]).collect();
        run(folder.path(), &plain);
        let expected = fs::read(folder.path().join("app")).unwrap();
        fs::remove_file(folder.path().join("app")).unwrap();
        let record = link_quietly(folder.path(), &format!("{line} -o app"));
        assert_eq!(fs::read(folder.path().join("app")).unwrap(), expected);
        assert_eq!(kept(&record).len(), 2, "{line}");
        assert_eq!(record.obstacle, None, "{line}");
        link_again(&record);
    }
}

#[test]
fn a_link_that_fails_fails_as_it_does_without_deadheat() {
    let folder = objects();
    let plain = Command::new("gcc")
        .args(["main.o", "-o", "app"])
        .current_dir(folder.path())
        .output()
        .unwrap();
    let output = link(folder.path(), "gcc main.o -o app");
    assert_eq!(output.status.code(), plain.status.code());
    assert!(stderr(&output).contains("work"), "{output:?}");
    assert!(!stderr(&output).contains("deadheat"), "{output:?}");
    assert!(!folder.path().join(".deadheat").exists());
}

#[test]
fn exit_codes_and_signals_of_the_driver_are_passed_on() {
    let folder = objects();
    let script = |name: &str, text: &str| {
        fs::write(folder.path().join(name), text).unwrap();
        run(folder.path(), &["chmod", "+x", name]);
    };
    script("driver", "#!/bin/sh\nexit 7\n");
    script("killed", "#!/bin/sh\nkill -TERM $$\n");
    // One of them is a link, the other one is not.
    for arguments in ["main.o", "-c main.c"] {
        let output = link(folder.path(), &format!("./driver {arguments}"));
        assert_eq!(output.status.code(), Some(7), "{output:?}");
        let output = link(folder.path(), &format!("./killed {arguments}"));
        assert_eq!(output.status.signal(), Some(15), "{output:?}");
    }
    let output = link(folder.path(), "./no-such-driver main.o");
    assert_eq!(output.status.code(), Some(127), "{output:?}");
    assert!(stderr(&output).contains("./no-such-driver"), "{output:?}");
}

#[test]
fn what_is_no_link_of_an_executable_leaves_no_trace() {
    let folder = objects();
    fs::write(folder.path().join("work.c"), WORK).unwrap();
    for line in [
        "gcc -c work.c -o w.o",
        "gcc -fPIC -shared work.c -o libw.so",
        "gcc -shared main.o -Wl,-shared -o libm.so",
        "gcc main.o work.o -Wl,-r -nostdlib -no-pie -o r.o",
        "gcc --version",
    ] {
        let output = link(folder.path(), line);
        assert!(output.status.success(), "{line}: {output:?}");
        assert_eq!(stderr(&output), "", "{line}");
        assert!(!folder.path().join(".deadheat").exists(), "{line}");
    }
}

#[test]
fn sources_linked_in_one_call_are_told_to_be_compiled_apart() {
    let folder = objects();
    fs::write(folder.path().join("work.c"), WORK).unwrap();
    let output = link(folder.path(), "gcc main.o work.c -o app");
    assert!(output.status.success(), "{output:?}");
    let told = stderr(&output);
    assert!(told.contains("compiled and linked in one call"), "{told}");
    assert!(told.contains("-c first"), "{told}");
    assert_eq!(told.lines().count(), 1, "{told}");
    let output = link(folder.path(), "gcc main.o work.c -o conftest");
    assert_eq!(stderr(&output), "");
}

#[test]
fn what_a_compiler_deletes_after_the_link_is_kept() {
    let folder = objects();
    let at = |name: &str| folder.path().join(name);
    fs::create_dir(at("temporary")).unwrap();
    fs::rename(at("work.o"), at("temporary/work.o")).unwrap();
    fs::write(at("temporary/list"), "{ global: main; local: *; };").unwrap();
    fs::write(
        at("temporary/arguments"),
        "'main.o' \"temporary/work.o\" -Wl,-z,now,--version-script=temporary/list -o \\app",
    )
    .unwrap();
    let record = link_quietly(folder.path(), "gcc @temporary/arguments -L temporary/..");
    fs::remove_dir_all(at("temporary")).unwrap();
    fs::remove_file(at("main.o")).unwrap();
    assert_eq!(kept(&record).len(), 3, "{record:?}");
    assert_eq!(
        words(&record)[2..6],
        ["-Wl,-z", "-Wl,now", "-Xlinker", "--version-script="]
    );
    // The folder is gone, and so is what `-L` named.
    fs::create_dir(at("temporary")).unwrap();
    link_again(&record);
}

#[test]
fn programs_that_rustc_links_can_be_linked_again_without_its_temporaries() {
    let folder = tempfile::tempdir().unwrap();
    let linker = folder.path().join("linker");
    let deadheat = env!("CARGO_BIN_EXE_deadheat");
    fs::write(
        &linker,
        format!("#!/bin/sh\nexec {deadheat} link -- cc \"$@\"\n"),
    )
    .unwrap();
    run(folder.path(), &["chmod", "+x", "linker"]);
    fs::write(
        folder.path().join("app.rs"),
        "fn main() { println!(\"{}\", 1); }",
    )
    .unwrap();
    let option = format!("linker={}", linker.display());
    let mut digests = Vec::new();
    for _ in 0..2 {
        run(folder.path(), &["rustc", "-O", "-C", &option, "app.rs"]);
        let record = record(folder.path(), "app");
        assert_eq!(record.obstacle, None);
        assert_eq!(record.unsectioned, [""; 0]);
        link_again(&record);
        digests.push(record.digest);
    }
    assert_eq!(digests[0], digests[1], "the same link is known again");
}

#[test]
fn where_nothing_can_be_kept_the_link_succeeds_and_one_line_says_so() {
    let folder = objects();
    // A file in the way stops everybody, also those whom no permission stops.
    fs::write(folder.path().join(".deadheat"), "").unwrap();
    let output = link(folder.path(), "gcc main.o work.o -o app");
    assert!(output.status.success(), "{output:?}");
    let told = stderr(&output);
    assert_eq!(told.lines().count(), 1, "{told}");
    assert!(
        told.starts_with("deadheat link: the link of app was not"),
        "{told}"
    );
    assert!(told.contains(".deadheat"), "{told}");
    assert!(
        told.ends_with("races of it will have scope `binary`\n"),
        "{told}"
    );
    run(folder.path(), &["./app"]);
}

#[test]
fn an_output_that_vanished_is_one_line() {
    let folder = objects();
    let output = link(folder.path(), "true main.o -o app");
    assert!(output.status.success(), "{output:?}");
    let told = stderr(&output);
    assert_eq!(told.lines().count(), 1, "{told}");
    assert!(told.contains("the link of app was not recorded"), "{told}");
}

#[test]
fn an_argument_that_is_not_unicode_is_passed_on_and_told() {
    let folder = objects();
    let name = OsString::from_vec(b"w\xff.o".to_vec());
    fs::rename(folder.path().join("work.o"), folder.path().join(&name)).unwrap();
    let mut command = deadheat_link(folder.path());
    let output = command.args(["gcc", "main.o", "-o", "app"]).arg(name);
    let output = output.output().unwrap();
    assert!(output.status.success(), "{output:?}");
    assert!(stderr(&output).contains("is not Unicode"), "{output:?}");
    run(folder.path(), &["./app"]);
}

#[test]
fn links_into_one_folder_at_the_same_time_do_not_disturb_each_other() {
    let folder = objects();
    thread::scope(|scope| {
        for i in 0..8 {
            let folder = folder.path();
            scope.spawn(move || {
                for _ in 0..2 {
                    let line = format!("gcc main.o work.o -Wl,--defsym=v=0x{i} -o app{i}");
                    let output = link(folder, &line);
                    assert!(output.status.success(), "{output:?}");
                    assert_eq!(stderr(&output), "");
                }
            });
        }
    });
    for i in 0..8 {
        let record = record(folder.path(), &format!("app{i}"));
        assert!(kept(&record).iter().all(|file| file.exists()));
        link_again(&record);
    }
    let inputs = LinkRecord::home(folder.path()).join("inputs");
    assert_eq!(fs::read_dir(inputs).unwrap().count(), 2);
}

#[test]
fn archives_keep_members_of_the_same_name() {
    let folder = objects();
    compile(folder.path(), "member", "int one(void) { return 20; }", &[]);
    run(folder.path(), &["ar", "qc", "libtwo.a", "member.o"]);
    compile(folder.path(), "member", "int two(void) { return 22; }", &[]);
    run(folder.path(), &["ar", "qc", "libtwo.a", "member.o"]);
    let main = "int one(void); int two(void); int main(void) { return one() + two() - 42; }";
    compile(folder.path(), "main", main, &[]);
    for line in ["gcc main.o libtwo.a -o app", "gcc main.o -o app -ltwo -L ."] {
        let record = link_quietly(folder.path(), line);
        assert_eq!(kept(&record).len(), 2, "{record:?}");
        link_again(&record);
    }
}

#[test]
fn thin_archives_are_kept_with_their_members() {
    let folder = objects();
    let at = |name: &str| folder.path().join(name);
    fs::create_dir_all(at("lib/objects")).unwrap();
    fs::rename(at("work.o"), at("lib/objects/work.o")).unwrap();
    run(&at("lib"), &["ar", "qcT", "libwork.a", "objects/work.o"]);
    let record = link_quietly(folder.path(), "gcc main.o lib/libwork.a -o app");
    fs::remove_file(at("lib/objects/work.o")).unwrap();
    link_again(&record);
    compile(
        folder.path(),
        "work",
        "int work(int i) { return 40 + i + i; }",
        &[],
    );
    fs::rename(at("work.o"), at("lib/objects/work.o")).unwrap();
    let changed = link_quietly(folder.path(), "gcc main.o lib/libwork.a -o app");
    assert_ne!(changed.digest, record.digest);
    link_again(&changed);
}

#[test]
fn cmake_links_through_deadheat_when_it_is_the_launcher() {
    needs!("cmake", "make");
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    fs::write(at("main.c"), MAIN).unwrap();
    fs::write(at("work.c"), WORK).unwrap();
    let lists = "cmake_minimum_required(VERSION 3.21)\nproject(app C)\n\
                 add_library(work STATIC work.c)\nadd_executable(app main.c)\n\
                 target_link_libraries(app work)\n";
    fs::write(at("CMakeLists.txt"), lists).unwrap();
    let deadheat = env!("CARGO_BIN_EXE_deadheat");
    let launcher = format!("-DCMAKE_C_LINKER_LAUNCHER={deadheat};link;--");
    let sections = "-DCMAKE_C_FLAGS=-ffunction-sections";
    run(
        folder.path(),
        &["cmake", "-B", "build", &launcher, sections],
    );
    run(folder.path(), &["cmake", "--build", "build"]);
    let record = record(folder.path(), "build/app");
    assert_eq!(kept(&record).len(), 2, "{record:?}");
    assert_eq!(record.unsectioned, [""; 0]);
    link_again(&record);
}

#[test]
fn libraries_are_kept_where_the_linker_takes_an_archive() {
    let folder = objects();
    fs::create_dir(folder.path().join("lib")).unwrap();
    run(folder.path(), &["ar", "qc", "lib/libwork.a", "work.o"]);
    let kept_of = |line: &str| {
        let record = link_quietly(folder.path(), line);
        link_again(&record);
        kept(&record).len()
    };
    assert_eq!(kept_of("gcc main.o -Llib -lwork -lm -o app"), 2);
    fs::write(folder.path().join("work.c"), WORK).unwrap();
    run(
        folder.path(),
        &["gcc", "-shared", "-fPIC", "work.c", "-o", "lib/libwork.so"],
    );
    let run_path = "-Wl,-rpath,$ORIGIN/lib";
    assert_eq!(
        kept_of(&format!("gcc main.o -Llib -lwork {run_path} -o app")),
        1
    );
    assert_eq!(
        kept_of("gcc main.o -Llib -Wl,-Bstatic -lwork -Wl,-Bdynamic -o app"),
        2
    );
    let record = link_quietly(
        folder.path(),
        &format!("gcc main.o lib/libwork.so {run_path} -o app"),
    );
    let library = folder.path().canonicalize().unwrap().join("lib/libwork.so");
    assert!(
        words(&record).contains(&library.to_str().unwrap()),
        "{record:?}"
    );
}

#[test]
fn objects_whose_functions_share_a_section_are_named() {
    let folder = objects();
    compile(
        folder.path(),
        "work",
        &format!("{WORK} int more(void) {{ return 2; }}"),
        &[],
    );
    let output = link(folder.path(), "gcc main.o work.o -o app");
    assert!(output.status.success(), "{output:?}");
    let told = stderr(&output);
    assert!(told.contains("functions of work.o share"), "{told}");
    assert!(told.contains("-ffunction-sections"), "{told}");
    assert_eq!(record(folder.path(), "app").unsectioned, ["work.o"]);
}

#[test]
fn code_that_is_only_generated_while_linking_is_an_obstacle() {
    let folder = objects();
    compile(folder.path(), "work", WORK, &["-flto"]);
    let output = link(folder.path(), "gcc -flto main.o work.o -o app");
    assert!(output.status.success(), "{output:?}");
    assert!(stderr(&output).contains("-flto"), "{output:?}");
    let object = "work.o".to_owned();
    let obstacle = Some(Obstacle::LinkTimeCode { object });
    assert_eq!(record(folder.path(), "app").obstacle, obstacle);
}

#[test]
fn an_executable_that_was_replaced_has_no_record_any_more() {
    let folder = objects();
    let app = folder.path().join("app");
    run(folder.path(), &["gcc", "main.o", "work.o", "-o", "app"]);
    let missing = LinkRecord::beside(&app).unwrap_err();
    assert!(matches!(missing, RecordError::Missing { .. }), "{missing}");
    link_quietly(folder.path(), "gcc main.o work.o -o app");
    run(folder.path(), &["strip", "app"]);
    let stale = LinkRecord::beside(&app).unwrap_err();
    assert!(matches!(stale, RecordError::Stale { .. }), "{stale}");
    let file = LinkRecord::home(folder.path()).join("app.json");
    fs::write(&file, "{").unwrap();
    let unreadable = LinkRecord::beside(&app).unwrap_err().to_string();
    assert!(unreadable.contains("app.json"), "{unreadable}");
    assert!(unreadable.contains("again"), "{unreadable}");
}

#[test]
fn a_record_is_found_through_a_symbolic_link_and_after_a_move() {
    let folder = objects();
    let at = |name: &str| folder.path().join(name);
    fs::create_dir(at("build")).unwrap();
    let output = link(folder.path(), "gcc main.o work.o -o build/app");
    assert!(output.status.success(), "{output:?}");
    std::os::unix::fs::symlink("build/app", at("alias")).unwrap();
    let direct = record(folder.path(), "build/app");
    assert_eq!(record(folder.path(), "alias"), direct);
    fs::rename(at("build"), at("moved")).unwrap();
    let moved = record(folder.path(), "moved/app");
    assert_eq!(moved.output, at("moved/app").canonicalize().unwrap());
    link_again(&moved);
}

#[test]
fn what_no_executable_needs_any_more_is_cleared_away() {
    let folder = objects();
    let home = LinkRecord::home(folder.path());
    // Names that files of the store have as well.
    for name in ["index", "lock", "old"] {
        link(folder.path(), &format!("gcc main.o work.o -o {name}"));
    }
    fs::remove_file(folder.path().join("old")).unwrap();
    let all = ["index", "lock"].map(|name| record(folder.path(), name));
    for name in ["index", "lock"] {
        fs::remove_file(folder.path().join(name)).unwrap();
    }
    compile(
        folder.path(),
        "work",
        "int work(int i) { return 41 + i; }",
        &["-O1"],
    );
    let record = link_quietly(folder.path(), "gcc main.o work.o -o app");
    let mut names: Vec<_> = fs::read_dir(&home)
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    names.sort();
    assert_eq!(names, ["app.json", "index", "inputs", "lock"]);
    assert_eq!(fs::read_dir(home.join("inputs")).unwrap().count(), 2);
    assert!(kept(&record).iter().all(|file| file.exists()));
    assert!(!kept(&all[0])[1].exists());
    let ignore = fs::read_to_string(folder.path().join(".deadheat/.gitignore")).unwrap();
    assert_eq!(ignore, "*\n");
}
