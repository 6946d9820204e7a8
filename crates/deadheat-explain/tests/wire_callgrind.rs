//! Output of callgrind, read from genuine files and from damaged ones.

use deadheat_explain::{Place, Profile, read_callgrind};

const LINES: &str = include_str!("golden/callgrind/lines.out");
const INSTRUCTIONS: &str = include_str!("golden/callgrind/instructions.out");

fn read(text: &str) -> Profile {
    read_callgrind("golden.out", text).unwrap()
}

fn place(function: &str, inlined: Option<&str>) -> Place {
    Place {
        function: function.to_owned(),
        inlined: inlined.map(str::to_owned),
    }
}

#[test]
fn functions_inlined_code_and_calls_are_told_apart() {
    let profile = read(LINES);
    assert_eq!(profile.total, 508);
    let own: Vec<(Place, u64)> = profile.own.clone().into_iter().collect();
    assert_eq!(
        own,
        [
            (place("walk", None), 19),
            (place("walk'2", None), 370),
            (place("walk'2", Some("golden/mixed.h")), 80),
            (place("work", None), 9),
            (place("work", Some("golden/mixed.h")), 30),
        ]
    );
    let call = |caller: &str, callee: &str| {
        let key = (caller.to_owned(), callee.to_owned());
        profile.calls.get(&key).copied()
    };
    assert_eq!(call("main", "work"), Some(508));
    assert_eq!(call("work", "walk"), Some(469));
    assert_eq!(call("walk", "walk'2"), Some(450));
    assert_eq!(
        call("__libc_start_main@@GLIBC_2.34", "[libc.so.6]"),
        Some(508)
    );
    assert_eq!(
        call("[program]", "__libc_start_main@@GLIBC_2.34"),
        Some(508)
    );
}

#[test]
fn instructions_jumps_and_caches_in_a_file_change_nothing() {
    let [lines, instructions] = [LINES, INSTRUCTIONS].map(read);
    assert_eq!(lines.own, instructions.own);
    assert_eq!(lines.total, instructions.total);
    let known = |profile: &Profile| {
        profile
            .calls
            .get(&("work".to_owned(), "walk".to_owned()))
            .copied()
    };
    assert_eq!(known(&lines), known(&instructions));
}

#[test]
fn profiles_of_several_processes_add_up() {
    let mut both = read(LINES);
    both.add(&read(INSTRUCTIONS));
    assert_eq!(both.total, 1016);
    assert_eq!(both.own[&place("walk", None)], 38);
}

#[test]
fn a_file_that_is_cut_anywhere_is_refused_and_its_line_named() {
    for end in 0..LINES.len() - 1 {
        if !LINES.is_char_boundary(end) {
            continue;
        }
        let error = read_callgrind("golden.out", &LINES[..end]).unwrap_err();
        assert!(error.to_string().starts_with("golden.out"), "{error}");
    }
}

#[test]
fn a_count_that_was_changed_is_noticed() {
    let changed = LINES.replacen("+1 68", "+1 69", 1);
    let error = read_callgrind("golden.out", &changed)
        .unwrap_err()
        .to_string();
    assert_eq!(
        error,
        "golden.out:111: the totals of the file are 508 instructions, but its lines sum up to 509"
    );
}
