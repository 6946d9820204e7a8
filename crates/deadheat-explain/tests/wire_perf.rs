//! Output of perf, read from a genuine file and from damaged ones.

use deadheat_explain::{Place, Profile, read_perf_script};

const SAMPLES: &str = include_str!("golden/perf/samples.txt");

fn read(text: &str) -> Profile {
    read_perf_script("samples.txt", text).unwrap()
}

fn own(profile: &Profile, function: &str) -> u64 {
    let place = Place {
        function: function.to_owned(),
        inlined: None,
    };
    profile.own.get(&place).copied().unwrap_or_default()
}

#[test]
fn samples_count_for_inlined_functions_and_for_every_caller() {
    let profile = read(SAMPLES);
    assert_eq!(profile.total, 11);
    assert_eq!(own(&profile, "mixed"), 11);
    let call = |caller: &str, callee: &str| {
        let key = (caller.to_owned(), callee.to_owned());
        profile.calls.get(&key).copied().unwrap_or_default()
    };
    assert_eq!(call("main", "walk"), 11);
    let walks = ["walk", "walk'2", "walk'3", "walk'4"];
    let mixed: Vec<u64> = walks.iter().map(|walk| call(walk, "mixed")).collect();
    assert_eq!(mixed.iter().sum::<u64>(), 11);
    for depth in 1..walks.len() {
        let deeper: u64 = mixed[depth..].iter().sum();
        assert_eq!(call(walks[depth - 1], walks[depth]), deeper);
    }
}

#[test]
fn what_is_cut_within_a_sample_is_refused_and_its_line_named() {
    for end in 1..SAMPLES.len() {
        let text = &SAMPLES[..end];
        // A text that ends between two samples is valid.
        if text.ends_with("\n\n") {
            assert!(read_perf_script("samples.txt", text).is_ok(), "{end}");
            continue;
        }
        let error = read_perf_script("samples.txt", text).unwrap_err();
        let line = text.lines().count();
        let place = format!("samples.txt:{line}: ");
        assert!(error.to_string().starts_with(&place), "{end}: {error}");
    }
}
