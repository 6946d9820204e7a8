//! Reports beside an answer, and those of a run that is there already.

mod common;

use std::fs;

use common::{Track, text};

const SHORT: &str = "sleep 0.01";
const LONG: &str = "sleep 0.03";
const FLAGS: [&str; 4] = ["--html", "--markdown", "--junit", "--svg"];

/// Where each flag writes to, in its order.
fn places(track: &Track) -> Vec<String> {
    let names = ["page.html", "comment.md", "tests.xml", "svg"];
    let place = |name: &str| text(&track.path(name)).to_owned();
    names.map(place).to_vec()
}

fn with_flags<'a>(words: &[&'a str], places: &'a [String]) -> Vec<&'a str> {
    let flags = FLAGS.into_iter().zip(places);
    let flags = flags.flat_map(|(flag, place)| [flag, place.as_str()]);
    words.iter().copied().chain(flags).collect()
}

#[track_caller]
fn are_there(track: &Track) {
    let text = |name: &str| fs::read_to_string(track.path(name)).unwrap();
    assert!(text("page.html").starts_with("<!doctype html>"));
    assert!(text("comment.md").starts_with("**deadheat**: "));
    assert!(text("tests.xml").contains("<testsuite "));
    pictures(track, "svg", b"<svg ");
}

/// The folder is full of pictures of this kind, which begin like this.
#[track_caller]
fn pictures(track: &Track, kind: &str, begin: &[u8]) {
    let files = fs::read_dir(track.path(kind)).unwrap();
    let files: Vec<_> = files.map(|file| file.unwrap().path()).collect();
    let fits = |file: &std::path::PathBuf| file.extension().is_some_and(|end| end == kind);
    assert!(files.len() > 5 && files.iter().all(fits), "{files:?}");
    assert!(fs::read(&files[0]).unwrap().starts_with(begin));
}

#[test]
fn pictures_made_of_pixels_are_there_or_the_message_says_how_to_have_them() {
    let track = Track::new();
    let run = track.path("run.jsonl");
    let pixels = track.path("png");
    let words = ["run", "-q", "-r", "4", "--save", text(&run)];
    let words = [&words[..], &["--", SHORT, LONG]].concat();
    track.run(&words).succeeds();
    let done = track.run(&["report", text(&run), "--png", text(&pixels)]);
    if cfg!(feature = "png") {
        done.succeeds();
        pictures(&track, "png", b"\x89PNG\r\n");
    } else {
        done.fails_with(
            2,
            &["--png: ", "--svg works in every build", "--features png"],
        );
        assert!(!pixels.exists());
    }
}

#[test]
fn a_race_writes_every_report_beside_its_answer_and_says_where() {
    let track = Track::new();
    let places = places(&track);
    let mut words = with_flags(&["run", "-q"], &places);
    words.extend(["--", SHORT, LONG]);
    let done = track.run(&words);
    done.succeeds();
    are_there(&track);
    for said in [
        "slower",
        "page in ",
        "comment in ",
        "test cases in ",
        "pictures in ",
    ] {
        assert!(done.stdout.contains(said), "{said}: {}", done.stdout);
    }
    // The page says how to race again, in words that can be typed.
    let page = fs::read_to_string(track.path("page.html")).unwrap();
    let again = page
        .split("deadheat run -q --html")
        .nth(1)
        .expect("the command");
    let again = again.split("</code>").next().expect("its end");
    assert!(
        again.contains("--seed ") && again.contains(SHORT),
        "{again}"
    );
}

#[test]
fn a_saved_run_has_the_reports_it_had_when_it_was_raced() {
    let track = Track::new();
    let run = track.path("run.jsonl");
    let page = track.path("raced.html");
    let args = ["run", "-q", "--save", text(&run), "--html", text(&page)];
    let raced = [&args[..], &["--", SHORT, LONG]].concat();
    track.run(&raced).succeeds();
    let places = places(&track);
    let done = track.run(&with_flags(&["report", text(&run)], &places));
    done.succeeds();
    are_there(&track);
    assert_eq!(done.stdout.lines().count(), 4, "{}", done.stdout);
    let pages = ["raced.html", "page.html"].map(|name| fs::read(track.path(name)).unwrap());
    assert!(pages[0] == pages[1], "the same run, another page");
}

#[test]
fn a_broken_rule_is_told_by_the_exit_code_and_by_every_report() {
    let track = Track::new();
    let run = track.path("run.jsonl");
    track
        .run(&["run", "-q", "--save", text(&run), "--", SHORT, LONG])
        .succeeds();
    let places = places(&track);
    let words = with_flags(&["report", text(&run), "--fail-on", "slower"], &places);
    assert_eq!(track.run(&words).code, Some(1));
    let read = |name: &str| fs::read_to_string(track.path(name)).unwrap();
    assert!(read("page.html").contains("data-gate=\"red\""));
    assert!(read("comment.md").contains("The gate is closed"));
    assert!(read("tests.xml").contains("<failure type=\"slower\""));
    let words = with_flags(
        &["report", text(&run), "--fail-on", "inconclusive"],
        &places,
    );
    assert_eq!(track.run(&words).code, Some(0));
    assert!(read("page.html").contains("data-gate=\"green\""));
    assert!(read("comment.md").contains("The gate is open"));
    assert!(!read("tests.xml").contains("<failure"));
}

#[test]
fn a_comment_without_a_file_is_all_there_is_on_standard_output() {
    let track = Track::new();
    let done = track.run(&["run", "-q", "--markdown", "--", SHORT, LONG]);
    let comment = &done.succeeds().stdout;
    assert!(comment.starts_with("**deadheat**: 1 slower."), "{comment}");
    assert!(!comment.contains(".deadheat/runs/"), "{comment}");
    let run = track.recorded().remove(0);
    let again = track.run(&["report", text(&run), "--markdown"]);
    assert_eq!(&again.succeeds().stdout, comment);
    let both = track.run(&["report", text(&run), "--json", "--markdown"]);
    both.fails_with(2, &["--markdown and --json", "--markdown=FILE"]);
}

#[test]
fn results_that_stand_where_a_comment_could_are_not_lost() {
    let track = Track::new();
    let [old, new] = ["old.csv", "new.csv"].map(|name| track.path(name));
    let table = "benchmark,contender,role,iterations,wall_ns\nb,x,baseline,1,5\n";
    for path in [&old, &new] {
        fs::write(path, table).unwrap();
    }
    let printed = track.run(&["compare", "--markdown", text(&old), text(&new)]);
    printed.succeeds();
    let to_file = format!("--markdown={}", text(&old));
    let done = track.run(&["compare", &to_file, text(&new), text(&new)]);
    done.fails_with(2, &["--markdown", "old.csv", "choose another name"]);
    assert_eq!(fs::read_to_string(&old).unwrap(), table);
    // A comment of before is what one expects to be replaced.
    let comment = track.path("comment.md");
    for _ in 0..2 {
        let words = ["run", "-q", "--markdown", text(&comment), "--", SHORT, LONG];
        track.run(&words).succeeds();
    }
}

#[test]
fn what_cannot_be_written_is_told_before_anything_is_raced() {
    let track = Track::new();
    let nowhere = track.path("no/such/folder/page.html");
    for (flag, place) in [("--html", text(&nowhere)), ("--svg", "/dev/null")] {
        let done = track.run(&["run", "-q", flag, place, "--", SHORT, LONG]);
        done.fails_with(2, &[flag, place]);
    }
    assert_eq!(track.recorded().len(), 0);
    let run = track.path("run.jsonl");
    track
        .run(&["run", "-q", "-r", "2", "--save", text(&run), "--", SHORT])
        .succeeds();
    let kept = fs::read(&run).unwrap();
    let done = track.run(&["report", text(&run), "--html", text(&run)]);
    done.fails_with(2, &["--html", "is the same file as the argument"]);
    assert!(fs::read(&run).unwrap() == kept);
    let done = track.run(&["report", text(&run)]);
    done.fails_with(2, &["--html FILE"]);
    let done = track.run(&["analyze", text(&run), text(&run), "--junit", "x.xml"]);
    done.fails_with(2, &["--junit", "one by one"]);
}

#[test]
fn a_contender_alone_and_a_race_that_was_cut_have_reports_too() {
    let track = Track::new();
    let run = track.path("run.jsonl");
    track
        .run(&["run", "-q", "-r", "4", "--save", text(&run), "--", SHORT])
        .succeeds();
    let places = places(&track);
    track
        .run(&with_flags(&["report", text(&run)], &places))
        .succeeds();
    let whole = fs::read_to_string(&run).unwrap();
    let lines: Vec<&str> = whole.lines().collect();
    // Nothing but the header: killed before the first block.
    fs::write(&run, format!("{}\n", lines[0])).unwrap();
    track
        .run(&with_flags(&["report", text(&run)], &places))
        .succeeds();
    let page = fs::read_to_string(track.path("page.html")).unwrap();
    assert!(page.contains("<h1"), "{}", &page[..500]);
}

/// Go's benchmarks of which one has time, and the other nothing but a metric of its own.
const MIXED: &str = "BenchmarkTime-8 10 50 ns/op\nBenchmarkRate-8 10 7 frames/op\n";

#[test]
fn a_file_that_cannot_hold_the_results_keeps_none_of_the_others_from_being_written() {
    let track = Track::new();
    for name in ["old.txt", "new.txt"] {
        std::fs::write(track.path(name), "BenchmarkRate-8 10 7 frames/op\n").unwrap();
    }
    let files = ["compare", "--no-config", "old.txt", "new.txt"];
    let asked = [
        "--export-hdr",
        "o.hdr",
        "--html",
        "p.html",
        "--export-csv",
        "o.csv",
    ];
    let done = track.run(&[&files[..], &asked].concat());
    done.fails_with(2, &["--export-hdr", "no wall times", "--export-csv"]);
    assert!(track.path("p.html").exists());
    let rows = std::fs::read_to_string(track.path("o.csv")).unwrap();
    assert_eq!(rows.lines().count(), 3, "{rows}");
}

#[test]
fn benchmarks_that_a_format_cannot_hold_are_counted() {
    let track = Track::new();
    for name in ["old.txt", "new.txt"] {
        std::fs::write(track.path(name), MIXED).unwrap();
    }
    for (flag, file) in [
        ("--export-hdr", "o.hdr"),
        ("--export-json", "o.json"),
        ("--export-google-benchmark", "g.json"),
    ] {
        let done = track.run(&["compare", "--no-config", "old.txt", "new.txt", flag, file]);
        let told = &done.stdout;
        assert!(
            told.contains(&format!("{flag} leaves out 1 benchmark without wall times")),
            "{done:?}"
        );
    }
    let google = std::fs::read_to_string(track.path("g.json")).unwrap();
    assert!(google.contains("\"library_version\": \"Go\""), "{google}");
}

#[test]
fn several_files_are_headed_by_their_names_and_make_one_json_document() {
    let track = Track::new();
    for (name, ns) in [("a.txt", 50), ("b.txt", 70)] {
        std::fs::write(track.path(name), format!("BenchmarkSort-8 10 {ns} ns/op\n")).unwrap();
    }
    let text = track.run(&["analyze", "a.txt", "b.txt"]);
    let told = text.succeeds().stdout.clone();
    let lines: Vec<&str> = told.lines().collect();
    assert!(
        lines.contains(&"a.txt") && lines.contains(&"b.txt"),
        "{told}"
    );
    assert!(
        told.contains("Sort-8") && !told.contains("analyze a second one"),
        "{told}"
    );
    let json = track.run(&["analyze", "--json", "a.txt", "b.txt"]).json();
    let medians: Vec<f64> = json
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["benchmarks"][0]["baseline"]["median"].as_f64().unwrap())
        .collect();
    assert_eq!(medians, [50.0, 70.0]);
}

#[test]
fn names_in_a_pipe_are_whole_and_in_a_narrow_table_no_two_are_alike() {
    let track = Track::new();
    let name = |size: u32| {
        format!(
            "BenchmarkGramSchmidtOrthonormalisation/rows={size}/columns=1024/repeats=10/checked-8"
        )
    };
    let lines = [1, 2, 16].map(|size| format!("{} 10 5{size} ns/op\n", name(size)));
    std::fs::write(track.path("a.txt"), lines.concat()).unwrap();
    let told = |columns: Option<&str>| {
        let mut command = track.command();
        command.args(["analyze", "a.txt"]).env_remove("COLUMNS");
        if let Some(columns) = columns {
            command.env("COLUMNS", columns);
        }
        String::from_utf8(command.output().unwrap().stdout).unwrap()
    };
    let whole = told(None);
    for size in [1, 2, 16] {
        assert!(
            whole.contains(name(size).trim_start_matches("Benchmark")),
            "{whole}"
        );
    }
    let narrow = told(Some("80"));
    let rows: Vec<&str> = narrow
        .lines()
        .filter(|line| line.contains("alone "))
        .collect();
    let names: std::collections::HashSet<&str> = rows
        .iter()
        .map(|row| row.split_whitespace().last().unwrap())
        .collect();
    assert_eq!((rows.len(), names.len()), (3, 3), "{narrow}");
}
