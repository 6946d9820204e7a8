//! Commands that people race, and their inputs.

use deadheat_validation::prelude::*;

pub struct Case {
    pub name: &'static str,
    /// The program that must be installed.
    tool: &'static str,
    pub line: &'static str,
}

const fn case(name: &'static str, tool: &'static str, line: &'static str) -> Case {
    Case { name, tool, line }
}

pub const CASES: [Case; 28] = [
    case("gzip", "gzip", "gzip -6 -c {dir}/text"),
    case("bzip2", "bzip2", "bzip2 -c {dir}/text"),
    case("xz", "xz", "xz -1 -c {dir}/text"),
    case("zstd", "zstd", "zstd -q -9 -c {dir}/text"),
    case("sort", "sort", "sort {dir}/lines"),
    case("grep -c", "grep", "grep -c '[0-9]' {dir}/long"),
    case("grep -E", "grep", "grep -E -c '(ab|cd)+[aeiou]x[0-9]|end [0-9]' {dir}/long"),
    case("awk", "awk", "awk '{ sum += $1 } END { print sum }' {dir}/lines"),
    case("sed", "sed", "sed 's/[aeiou]/_/g' {dir}/text"),
    case("wc", "wc", "wc {dir}/long"),
    case("jq", "jq", "jq '[.[] | .number] | add' {dir}/table.json"),
    case(
        "sqlite3",
        "sqlite3",
        "sqlite3 :memory: 'WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200000) \
         SELECT sum(i * i % 7) FROM n'",
    ),
    case("python start-up", "python3", "{python} -c pass"),
    case("python loop", "python3", "{python} -c 'sum(i * i for i in range(500000))'"),
    case(
        "python json",
        "python3",
        "{python} -c 'import json; json.load(open(\"{dir}/table.json\"))'",
    ),
    case("perl start-up", "perl", "perl -MPOSIX -e 1"),
    case(
        "perl regex",
        "perl",
        "perl -ne '$n++ while /[aeiou]{2}[a-z]/g; END { print $n }' {dir}/text",
    ),
    case("node start-up", "node", "node -e 0"),
    case("cc -c", "cc", "cc -O1 -c -o /dev/null {dir}/source.c"),
    case("cc -fsyntax-only", "cc", "cc -fsyntax-only {dir}/source.c"),
    case("md5sum", "md5sum", "md5sum {dir}/long"),
    case("sha256sum", "sha256sum", "sha256sum {dir}/long"),
    case("base64", "base64", "base64 {dir}/long"),
    case("tar", "tar", "tar -C {dir} -cf - tree"),
    case("git log", "git", "git -C {dir}/history log -p"),
    case("make -n", "make", "make -n -f {dir}/Makefile"),
    case("openssl", "openssl", "openssl dgst -sha512 {dir}/long"),
    case("bc", "bc", "bc -l {dir}/digits.bc"),
];

/// The interpreter that `python3` starts, which may be a script that looks it up; `None` if it is not
/// installed.
pub fn python() -> Option<String> {
    let mut command = Command::new("python3");
    let path = text_of(command.args(["-c", "import sys; print(sys.executable)"]), &[0]);
    Some(path.ok()?.trim().to_owned()).filter(|path| !path.is_empty())
}

pub fn installed(inputs: &Path) -> Vec<(&'static str, String)> {
    let python = python();
    let is_there = |case: &&Case| match case.tool {
        "python3" => python.is_some(),
        tool => is_installed(tool),
    };
    let line = |case: &Case| {
        let line = case.line.replace("{dir}", &inputs.display().to_string());
        line.replace("{python}", python.as_deref().unwrap_or_default())
    };
    CASES.iter().filter(is_there).map(|case| (case.name, line(case))).collect()
}

pub fn is_installed(tool: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(tool).is_file())
}

const SEED: u64 = 55;

/// Writes the inputs, the same bytes every time.
pub fn write_inputs(folder: &Path) {
    let mut random = SplitMix64::new(SEED);
    let write = |name: &str, text: &str| {
        fs::write(folder.join(name), text).expect("room for the inputs");
    };
    fs::create_dir_all(folder.join("tree")).expect("a folder for the inputs");
    let text = words(&mut random, 1_200_000);
    // grep stops at the first match if its output is thrown away, so the only match is at the end.
    write("long", &(text.repeat(10) + "the end 1\n"));
    write("text", &text);
    // Beyond 128 Ki lines, sort starts threads.
    let numbers = (0..100_000).map(|_| random.below(1_000_000_000).to_string() + "\n");
    write("lines", &numbers.collect::<String>());
    let items = (0..12_000).map(|at| {
        let name = word(&mut random);
        let number = random.below(1_000_000);
        format!("{{\"id\":{at},\"name\":\"{name}\",\"number\":{number}}}")
    });
    let items: Vec<String> = items.collect();
    write("table.json", &format!("[{}]", items.join(",\n")));
    write("source.c", &source(&mut random));
    write("digits.bc", "scale = 700\n4 * a(1)\nquit\n");
    let rules = (0..3_000).map(|at| format!("t{at}: ; @echo {}\n", word(&mut random)));
    let all: String = (0..3_000).map(|at| format!(" t{at}")).collect();
    write("Makefile", &format!("all:{all}\n{}.PHONY: all{all}\n", rules.collect::<String>()));
    for at in 0..2_000 {
        write(&format!("tree/{at}"), &text[at * 100..at * 100 + 4_000]);
    }
    if is_installed("git") {
        write_history(&folder.join("history"), &mut random);
    }
}

fn word(random: &mut SplitMix64) -> String {
    let length = 2 + random.below(8);
    let letter = |_| char::from(b'a' + random.below(26) as u8);
    (0..length).map(letter).collect()
}

fn words(random: &mut SplitMix64, bytes: usize) -> String {
    // Fewer words than the text has, so that it can be compressed.
    let known: Vec<String> = (0..3_000).map(|_| word(random)).collect();
    let mut text = String::with_capacity(bytes + 16);
    while text.len() < bytes {
        text += &known[random.index_below(known.len())];
        text.push(if random.below(10) == 0 { '\n' } else { ' ' });
    }
    text + "\n"
}

fn source(random: &mut SplitMix64) -> String {
    let mut text = String::from("#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n");
    for at in 0..40 {
        let [one, two, three] = [(); 3].map(|()| random.below(1000));
        let _ = writeln!(
            text,
            "int f{at}(int x, int *y) {{\n    int sum = {one};\n    for (int i = 0; i < x; i++) {{\n        \
             if (y[i] % 3 == {}) sum += y[i] * {two};\n        else sum ^= i << {};\n    }}\n    \
             switch (sum & 3) {{\n    case 0: return sum / {};\n    case 1: return {two} - sum;\n    \
             default: return sum;\n    }}\n}}",
            one % 3,
            two % 20,
            three + 1
        );
    }
    text
}

fn write_history(folder: &Path, random: &mut SplitMix64) {
    let git = |words: &[&str]| {
        let mut command = Command::new("git");
        command.arg("-C").arg(folder).args(words);
        command.stdout(Stdio::null());
        command
    };
    fs::create_dir_all(folder).expect("a folder for the repository");
    done(&mut git(&["init", "-q", "-b", "main"]));
    let mut stream = String::new();
    for at in 0..400_u64 {
        let lines = words(random, 2_000);
        let _ = write!(
            stream,
            "commit refs/heads/main\ncommitter V <v@example.org> {} +0000\ndata 7\nCommit\n\
             M 100644 inline file{}\ndata {}\n{lines}\n",
            1_700_000_000 + at,
            at % 20,
            lines.len()
        );
    }
    let file = folder.join("stream");
    fs::write(&file, stream).expect("room for the inputs");
    let stream = fs::File::open(&file).expect("the stream of commits");
    done(git(&["fast-import", "--quiet"]).stdin(stream));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inputs_are_the_same_every_time() {
        let text = |seed| words(&mut SplitMix64::new(seed), 1_000);
        assert_eq!(text(1), text(1));
        assert_ne!(text(1), text(2));
        assert!(text(1).len() >= 1_000 && text(1).ends_with('\n'));
        let source = source(&mut SplitMix64::new(1));
        assert_eq!(source.matches("int f").count(), 40);
    }

    #[test]
    fn names_of_commands_hold_no_name_of_a_part() {
        // `--only pass` must not ask for a command.
        for case in &CASES {
            for part in ["aa", "power", "size", "bias", "pass", "peers"] {
                assert!(!case.name.contains(part), "{}", case.name);
            }
        }
    }
}
