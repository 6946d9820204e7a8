//! Writes reports in addition to the answer: an HTML page, a Markdown comment for a pull request,
//! pictures, and JUnit test cases for CI services.

use std::path::{Path, PathBuf};

use deadheat_analysis::Options;
use deadheat_format::{
    FileIdentity, OutputKind, ensure_writable, is_same_file, write_text, write_text_by,
};
use deadheat_model::{Analysis, HELP, RunHeader};
use deadheat_report::{CommentOptions, to_comment, to_junit, write_page};
#[cfg(feature = "commands")]
use {
    deadheat_format::{ensure_folder, path_in},
    deadheat_report::to_pictures,
};

use crate::answer::{Answer, RunFiles, to_stdout};
use crate::exit::Failure;

/// The requested reports, each with the path of its file or folder; `None` if it is not requested.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReportFiles {
    /// The path of the HTML page with all results.
    pub html: Option<PathBuf>,
    /// The path of the Markdown comment for a pull request; `-` means standard output.
    pub markdown: Option<PathBuf>,
    /// The path of the JUnit file with a test case per comparison, for CI services.
    pub junit: Option<PathBuf>,
    /// The path of the folder for SVG pictures.
    #[cfg(feature = "commands")]
    pub svg: Option<PathBuf>,
    /// The path of the folder for PNG pictures, which need the feature `png`.
    #[cfg(feature = "commands")]
    pub png: Option<PathBuf>,
}

/// The range of the number of points per series in a plot: at most about as many as a screen has
/// columns; fewer with many benchmarks, so that the page still opens quickly.
const POINTS: std::ops::RangeInclusive<usize> = 300..=2_000;

/// This number, divided by the number of benchmarks, is the number of points per series. [`POINTS`]
/// limits the result.
const POINTS_IN_ALL: usize = 100_000;

impl ReportFiles {
    /// Returns an error if a report cannot be written, or would replace `recording`, the file from
    /// which the reports are made.
    pub fn check(&self, recording: Option<&Path>) -> Result<(), Failure> {
        #[cfg(all(feature = "commands", not(feature = "png")))]
        if self.png.is_some() {
            return Err(Failure::Usage(
                "--png: this deadheat was built without PNG pictures\nhelp: --svg works in \
                 every build, and `cargo install --path crates/deadheat-cli --features png` builds \
                 a deadheat with PNG pictures"
                    .to_owned(),
            ));
        }
        for (flag, path) in self.files() {
            check_file(flag, path, recording)?;
        }
        #[cfg(feature = "commands")]
        for (flag, folder) in self.folders() {
            ensure_folder(folder).map_err(|error| Failure::unwritable(flag, &error))?;
        }
        Ok(())
    }

    /// Returns true if no report is requested.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Returns the option of the first requested report, such as `--html`; `None` if no report is
    /// requested. Commands that write no reports name this option in their error message.
    pub fn first_flag(&self) -> Option<&'static str> {
        let markdown = self.markdown.as_ref().map(|_| "--markdown");
        let file = self.files().next().map(|(flag, _)| flag);
        #[cfg(feature = "commands")]
        let file = file.or_else(|| self.folders().next().map(|(flag, _)| flag));
        file.or(markdown)
    }

    /// Returns true if the Markdown comment is written to standard output instead of the answer.
    pub fn takes_stdout(&self) -> bool {
        self.markdown.as_deref() == Some(Path::new("-"))
    }

    /// Prints the answer and the lines `below`, unless the Markdown comment is written to standard
    /// output instead.
    pub fn print_beside(
        &self,
        answer: &Answer,
        analysis: &Analysis,
        files: &RunFiles,
        below: &[String],
    ) -> Result<(), Failure> {
        if self.takes_stdout() {
            return Ok(());
        }
        answer.print_with(analysis, files, below)
    }

    /// Returns the options for an analysis of this many benchmarks that computes what `options` and
    /// these reports require. Of the reports, only the HTML page needs secondary figures, and only
    /// the page and the pictures need the points of plots.
    pub fn analysis_options(&self, options: Options, benchmarks: usize) -> Options {
        let points = POINTS_IN_ALL / benchmarks.max(1);
        let points = points.clamp(*POINTS.start(), *POINTS.end());
        Options {
            without_figures: options.without_figures && self.html.is_none(),
            plots: options.plots.or(self.draws().then_some(points)),
            ..options
        }
    }

    fn draws(&self) -> bool {
        #[cfg(feature = "commands")]
        if self.folders().next().is_some() {
            return true;
        }
        self.html.is_some()
    }

    /// Writes the reports, and returns a line for each report with its path.
    pub fn write(&self, header: &RunHeader, analysis: &Analysis) -> Result<Vec<String>, Failure> {
        let mut written = Vec::new();
        if let Some(path) = &self.html {
            write_text_by(path, |out| write_page(out, analysis, header))
                .map_err(|error| Failure::writing("--html", error))?;
            written.push(format!("page in {}", path.display()));
        }
        if let Some(path) = &self.junit {
            write_text(path, &to_junit(analysis))
                .map_err(|error| Failure::writing("--junit", error))?;
            written.push(format!("test cases in {}", path.display()));
        }
        if let Some(path) = &self.markdown {
            let comment = to_comment(analysis, Some(header), &CommentOptions::default());
            if self.takes_stdout() {
                to_stdout(&comment)?;
            } else {
                write_text(path, &comment)
                    .map_err(|error| Failure::writing("--markdown", error))?;
                written.push(format!("comment in {}", path.display()));
            }
        }
        #[cfg(feature = "commands")]
        for (flag, folder) in self.folders() {
            written.push(draw(flag, folder, analysis)?);
        }
        Ok(written)
    }

    /// Returns the paths of the requested files and folders, each with its option.
    #[cfg(feature = "commands")]
    pub fn paths(&self) -> impl Iterator<Item = (&'static str, &Path)> {
        self.files().chain(self.folders())
    }

    pub(crate) fn files(&self) -> impl Iterator<Item = (&'static str, &Path)> {
        let markdown = self.markdown.as_ref().filter(|_| !self.takes_stdout());
        [
            ("--html", self.html.as_ref()),
            ("--markdown", markdown),
            ("--junit", self.junit.as_ref()),
        ]
        .into_iter()
        .filter_map(|(flag, path)| Some((flag, path?.as_path())))
    }

    #[cfg(feature = "commands")]
    fn folders(&self) -> impl Iterator<Item = (&'static str, &Path)> {
        [("--svg", &self.svg), ("--png", &self.png)]
            .into_iter()
            .filter_map(|(flag, path)| Some((flag, path.as_deref()?)))
    }
}

/// Returns an error if the file of the option `flag` cannot be written, or if it is `recording`,
/// the file from which the report is made.
pub fn check_file(flag: &str, path: &Path, recording: Option<&Path>) -> Result<(), Failure> {
    if recording.is_some_and(|recording| is_same_file(recording, path)) {
        let path = path.display();
        return Err(Failure::Usage(format!(
            "{flag}: {path} is the recording itself\nhelp: choose another name"
        )));
    }
    refuse_another_kind(flag, path)?;
    ensure_writable(path).map_err(|error| Failure::unwritable(flag, &error))
}

/// Returns an error if the file exists and is of another kind than the option `flag` writes.
/// Without this check, a mistake such as `--html notes.txt` would overwrite the notes.
pub fn refuse_another_kind(flag: &str, path: &Path) -> Result<(), Failure> {
    match OutputKind::of_option(flag) {
        Some(kind) if !kind.may_replace(path) => Err(Failure::Usage(format!(
            "{flag}: {} exists and is not {}{HELP}choose another name, or remove the file",
            path.display(),
            kind.name()
        ))),
        _ => Ok(()),
    }
}

/// Returns an error if two outputs are the same file, so that the second would overwrite the first.
pub(crate) fn refuse_same_files(files: &[(&str, &Path)]) -> Result<(), Failure> {
    for (at, (flag, path)) in files.iter().enumerate() {
        let identity = FileIdentity::of(path);
        let mut before = files[..at].iter();
        let same = before.find(|(_, other)| identity == FileIdentity::of(other));
        if let Some((other, _)) = same.filter(|_| identity.is_replaceable()) {
            let path = path.display();
            return Err(Failure::Usage(format!(
                "{flag} {path} is the same file as {other}\nhelp: name another file"
            )));
        }
    }
    Ok(())
}

/// The largest number of pictures of a report. A recording of 1 MB with 55,000 benchmarks would
/// make 200,000 files.
#[cfg(feature = "commands")]
const MOST_PICTURES: usize = 5_000;

/// Writes each picture to a separate file in `folder`, and returns a line with their number and the
/// folder.
#[cfg(feature = "commands")]
fn draw(flag: &'static str, folder: &Path, analysis: &Analysis) -> Result<String, Failure> {
    let mut count = 0;
    for picture in to_pictures(analysis).take(MOST_PICTURES) {
        count += 1;
        let name = &picture.name;
        let ending = flag.trim_start_matches('-');
        let path = path_in(folder, &format!("{name}.{ending}"));
        let path = path.map_err(|error| Failure::writing(flag, error))?;
        refuse_another_kind(flag, &path)?;
        match flag {
            #[cfg(feature = "png")]
            "--png" => {
                let pixels = picture
                    .png()
                    .map_err(|error| Failure::Internal(format!("{flag}: {name}: {error}")))?;
                deadheat_format::write_bytes(path, &pixels)
            }
            _ => write_text(path, &picture.svg),
        }
        .map_err(|error| Failure::writing(flag, error))?;
    }
    let noun = if count == 1 { "picture" } else { "pictures" };
    let rest = match count == MOST_PICTURES {
        true => ", the most that deadheat draws: select fewer benchmarks to see the others",
        false => "",
    };
    Ok(format!("{count} {noun} in {}{rest}", folder.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page() -> ReportFiles {
        ReportFiles {
            html: Some(PathBuf::from("page.html")),
            ..ReportFiles::default()
        }
    }

    #[test]
    fn plots_and_figures_are_worked_out_only_for_who_shows_them() {
        let plain = Options {
            without_figures: true,
            ..Options::default()
        };
        let nothing = ReportFiles::default();
        assert_eq!(nothing.analysis_options(plain, 3), plain);
        let drawn = page().analysis_options(plain, 3);
        assert!(!drawn.without_figures);
        assert_eq!(drawn.plots, Some(2_000));
        assert_eq!(page().analysis_options(plain, 500).plots, Some(300));
        assert_eq!(page().analysis_options(plain, 100).plots, Some(1_000));
        assert_eq!(page().analysis_options(plain, 0).plots, Some(2_000));
    }

    #[test]
    fn a_comment_on_standard_output_leaves_no_room_for_another_answer() {
        let files = ReportFiles {
            markdown: Some(PathBuf::from("-")),
            ..ReportFiles::default()
        };
        assert!(files.takes_stdout());
        assert_eq!(files.files().count(), 0);
        assert_eq!(files.first_flag(), Some("--markdown"));
        assert!(!page().takes_stdout());
        assert_eq!(page().first_flag(), Some("--html"));
        assert!(ReportFiles::default().is_empty());
    }

    #[test]
    fn what_cannot_be_written_is_told_before_the_race_with_its_flag() {
        let files = ReportFiles {
            junit: Some(PathBuf::from("/no/such/folder/x.xml")),
            ..ReportFiles::default()
        };
        let failure = files.check(None).unwrap_err();
        assert_eq!(failure.code(), 2);
        assert!(failure.to_string().starts_with("--junit: "), "{failure}");
    }

    #[test]
    fn outputs_of_one_file_are_refused_and_devices_are_not() {
        let [x, same, y, null] = ["no/x", "no/./x", "no/y", "/dev/null"].map(Path::new);
        refuse_same_files(&[("--save", x), ("--html", y)]).unwrap();
        refuse_same_files(&[("--save", null), ("--html", null)]).unwrap();
        let failure = refuse_same_files(&[("--save", x), ("--html", y), ("--junit", same)]);
        let failure = failure.unwrap_err().to_string();
        assert!(
            failure.starts_with("--junit no/./x is the same file as --save"),
            "{failure}"
        );
    }

    #[test]
    fn a_report_never_takes_the_place_of_its_recording() {
        let folder = tempfile::tempdir().unwrap();
        let run = folder.path().join("run.jsonl");
        write_text(&run, "kept").unwrap();
        let files = ReportFiles {
            html: Some(run.clone()),
            ..ReportFiles::default()
        };
        let failure = files.check(Some(&run)).unwrap_err();
        assert!(
            failure.to_string().contains("recording itself"),
            "{failure}"
        );
    }
}
