//! One unchanged suite, recorded again and again by every tool whose files are read: how often two
//! files of it are told apart, and how often a change of known size is found in several files a
//! side.
//!
//! Keeps the files in `validation/data/saved_recordings.tar.xz` and writes
//! `docs/validation/saved_recordings.md`. Takes some forty minutes on a machine that does nothing
//! else; uses what there is of Google Benchmark, pytest-benchmark and pyperf, hyperfine, Go, Java
//! with Maven, and criterion.

mod pairs;
mod tool;

use deadheat_validation::prelude::*;
use tool::Tool;

/// So many per cent more does a suite do that is to be found out.
const MORE: u32 = 5;

/// Recordings of each side of each tool.
const RECORDINGS: usize = 20;

/// Recordings of each side in a trial: two comparisons of six a side.
const FEW: usize = 12;

const CONDITIONS: [&str; 2] = ["idle", "loaded"];

pub struct Setting {
    shop: Workshop,
    files: PathBuf,
    recordings: usize,
}

impl Setting {
    /// The file, or folder, of one recording; `percent` more was done in it.
    fn file(&self, tool: Tool, condition: &str, percent: u32, number: usize) -> PathBuf {
        let folder = self.files.join(tool.key()).join(condition);
        folder.join(format!("{number:02}-plus-{percent}.json"))
    }
}

fn main() {
    let wanted = Wanted::from_command_line();
    let shop = Workshop::open("saved_recordings", wanted.quick);
    let kept = shop.root.join("validation/data/saved_recordings.tar.xz");
    let setting =
        Setting { files: shop.scratched("files"), recordings: shop.count(RECORDINGS, FEW), shop };
    fs::create_dir_all(&setting.files).expect("a folder");
    if wanted.page {
        tar(&["-xJf"], &kept, &setting.files, &[]);
    } else {
        record(&setting);
        if !wanted.quick {
            tar(&["--format=posix", "-cJf"], &kept, &setting.files, &["."]);
        }
    }
    let facts = fs::read_to_string(setting.files.join("facts.md")).expect("facts");
    let root = setting.shop.root.clone();
    let page = Page {
        title: "One unchanged suite, recorded again and again",
        program: "saved_recordings",
        facts: &facts,
        quick: wanted.quick,
    };
    let questions: &[Question<Setting>] =
        &[("two files", pairs::two_files), ("six files a side", pairs::six_a_side)];
    page.write(&root, &setting, questions);
}

fn tar(words: &[&str], archive: &Path, folder: &Path, names: &[&str]) {
    let mut tar = Command::new("tar");
    tar.args(words).arg(archive).arg("-C").arg(folder);
    done(tar.args(names));
}

/// Records every suite, with and without more to do, in turns: which comes
/// first is drawn for each pair.
fn record(setting: &Setting) {
    let mut random = SplitMix64::new(1);
    let mut facts = format!("Machine: {}. Tools:\n\n", sitting_facts());
    for tool in Tool::ALL {
        let version = match tool.version() {
            Ok(version) => version,
            Err(reason) => {
                facts += &format!("- {}: {reason}\n", tool.name());
                continue;
            }
        };
        facts += &format!("- {} {version}; a file: {}\n", tool.name(), tool.holds());
        let recorder = tool.built(&setting.shop);
        for condition in CONDITIONS {
            eprintln!("{}, {condition} ...", tool.name());
            let load = (condition == "loaded").then(Load::on_every_core);
            let first = setting.file(tool, condition, 0, 0);
            fs::create_dir_all(first.parent().expect("a folder")).expect("a folder");
            for number in 0..setting.recordings {
                let mut sides = [0, MORE];
                sides.rotate_left(random.index_below(2));
                for percent in sides {
                    recorder.record(percent, &setting.file(tool, condition, percent, number));
                }
            }
            drop(load);
        }
    }
    let facts = facts + "\nRaw data: `validation/data/saved_recordings.tar.xz`.";
    fs::write(setting.files.join("facts.md"), facts).expect("a file");
}
