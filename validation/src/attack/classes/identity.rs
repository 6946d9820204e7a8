//! A race continues only with the programs, scripts and inputs that it began with.

use std::fs;

use crate::case::{Case, Found};

pub fn check(case: &mut Case) -> Found {
    for name in ["old", "new"] {
        case.script(name, "exit 0");
        case.write(&format!("{name}.sh"), ":\n# end\n");
    }
    case.write("words", "some words\n");
    let direct = case.once_in(2);
    let commands: [&str; 2] = if direct { ["./old", "./new"] } else { ["sh old.sh", "sh new.sh"] };
    let input = ["--input", "words"];
    let planned = case.once_in(2);
    let words = match planned {
        true => [
            &["plan", "run", "--max-replicates", "6", "--save", "plan.json"],
            &input[..],
            &["--"],
            &commands,
        ]
        .concat(),
        false => [
            &["run", "-q", "--max-replicates", "6", "--save", "r.jsonl"],
            &input[..],
            &["--"],
            &commands,
        ]
        .concat(),
    };
    case.run(&words, &[0])?;
    let again: &[&str] = match planned {
        true => &["run", "-q", "--plan", "plan.json"],
        false => &["run", "-q", "--resume", "r.jsonl"],
    };
    let name = case.pick(&["old", "new", "words", ""]);
    if name.is_empty() {
        return case.run(again, &[0]).map(drop);
    }
    let name = match name {
        "words" => name.to_owned(),
        _ if direct => name.to_owned(),
        _ => format!("{name}.sh"),
    };
    let path = case.work(&name);
    let when = fs::metadata(&path).and_then(|about| about.modified()).map_err(|e| e.to_string())?;
    let mut bytes = fs::read(&path).map_err(|e| e.to_string())?;
    let last = bytes.len() - 1;
    match case.random.index_below(4) {
        0 => bytes.extend(b"# more\n"),
        1 => bytes[last] = b' ',
        2 => bytes.truncate(last),
        _ => bytes.insert(last, b'#'),
    }
    fs::write(&path, bytes).map_err(|e| e.to_string())?;
    if case.once_in(2) {
        let file = fs::File::options().append(true).open(&path).map_err(|e| e.to_string())?;
        file.set_modified(when).map_err(|e| e.to_string())?;
    }
    case.commands.push(format!("{name} was changed"));
    let ended = case.run(again, if planned { &[3] } else { &[4] })?;
    match ended.stderr.contains("has different bytes") {
        true => Ok(()),
        false => Err(format!("another reason: {}", ended.stderr)),
    }
}
