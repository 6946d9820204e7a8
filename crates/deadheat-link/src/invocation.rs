//! Parses the command line of a compiler driver into pieces, and distinguishes arguments that name
//! files from all others.

use std::path::Path;

use crate::arguments::{
    self, LinkerOption, Named, Written, driver_takes_value, driver_writes, is_source,
    linker_option, links_no_executable,
};

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Piece {
    /// An argument that neutral links pass to the compiler driver unchanged.
    Word(String),
    Input(Spelling),
    /// A file that an option names.
    Named(Spelling),
    /// `-l`: a library that the linker has to find.
    Library {
        /// How the command line names the library: `value` is the name, without `-l`.
        spelling: Spelling,
        /// True if the linker may use a shared library for this `-l` option, and not only an
        /// archive.
        dynamic: bool,
    },
    /// The folders in which the executable looks for shared libraries at run time.
    RunPath(Spelling),
    /// `-L`: a folder in which the linker looks for libraries.
    Folder(Spelling),
}

/// A value on a command line, with the option before it, so that another value can replace it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Spelling {
    /// True if the driver passes the value to the linker, by `-Wl,` or `-Xlinker`.
    pub(crate) to_linker: bool,
    /// The option, or the text before the value.
    pub(crate) before: String,
    /// The value, such as a path or the name of a library.
    pub(crate) value: String,
    /// True if `before` and `value` are separate words.
    pub(crate) apart: bool,
}

impl Spelling {
    pub(crate) fn bare(to_linker: bool, value: &str) -> Self {
        Self::behind("", value, to_linker, false)
    }

    fn behind(before: &str, value: &str, to_linker: bool, apart: bool) -> Self {
        Self {
            to_linker,
            before: before.to_owned(),
            value: value.to_owned(),
            apart,
        }
    }

    /// Returns the arguments with `value` instead of this value.
    pub(crate) fn with(&self, value: &str) -> Vec<String> {
        let mut words = self.lead();
        words.push(format!("{}{value}", self.before_value()));
        words
    }

    /// Returns the arguments before the one that contains the value.
    pub(crate) fn lead(&self) -> Vec<String> {
        let through = self.to_linker.then(|| "-Xlinker".to_owned());
        let option = self.apart.then(|| self.before.clone());
        let option_through = option.as_ref().and_then(|_| through.clone());
        [option_through, option, through]
            .into_iter()
            .flatten()
            .collect()
    }

    /// Returns the text before the value in the same argument.
    pub(crate) fn before_value(&self) -> &str {
        if self.apart { "" } else { &self.before }
    }
}

/// The task that the arguments of a compiler driver ask for.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Intent {
    /// Any task other than linking an executable.
    Other,
    /// Compiling and linking in one call, which leaves no objects for another link.
    FromSources {
        /// The path of the executable, as given.
        output: String,
    },
    /// Linking an executable from objects.
    Link(Invocation),
}

/// The parsed link of an executable: its output, and all other arguments in pieces.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Invocation {
    /// The path of the executable, as given.
    pub(crate) output: String,
    /// The arguments in order, without the output and without other files that the link writes.
    pub(crate) pieces: Vec<Piece>,
    /// Folders in which to look for libraries, in order.
    pub(crate) folders: Vec<String>,
}

impl Intent {
    /// Parses the arguments of a compiler driver that runs in the folder `directory`.
    ///
    /// # Errors
    ///
    /// The reason, in words, if a response file cannot be understood.
    pub(crate) fn of(arguments: &[String], directory: &Path) -> Result<Self, String> {
        // Most calls of a compiler driver only compile (`-c`). They return here, because parsing
        // would slow down every compilation.
        if arguments.iter().any(|argument| argument == "-c") {
            return Ok(Self::Other);
        }
        let expanded = arguments::expand(arguments, directory)?;
        let mut reading = Reading::new(directory);
        let mut rest = expanded.into_iter();
        while let Some(argument) = rest.next() {
            if !reading.driver_word(argument, &mut rest) {
                return Ok(Self::Other);
            }
        }
        Ok(reading.done())
    }
}

/// The meaning of the linker's next word, after an option with a separate value.
#[derive(Debug)]
enum Awaited {
    Value,
    Dropped,
    Output,
    Names(Named, String),
}

#[derive(Debug)]
struct Reading<'a> {
    directory: &'a Path,
    invocation: Invocation,
    awaited: Option<Awaited>,
    /// True if `-l` may find shared libraries.
    dynamic: bool,
    /// The values of `dynamic` saved by `--push-state`.
    pushed: Vec<bool>,
    /// True if `-static` or `-static-pie` was given, which excludes shared libraries.
    all_static: bool,
    /// True after `-x LANGUAGE`, which makes the driver compile every input.
    language: bool,
    sources: bool,
    inputs: bool,
}

impl<'a> Reading<'a> {
    fn new(directory: &'a Path) -> Self {
        Self {
            directory,
            invocation: Invocation {
                output: "a.out".to_owned(),
                ..Invocation::default()
            },
            awaited: None,
            dynamic: true,
            pushed: Vec::new(),
            all_static: false,
            language: false,
            sources: false,
            inputs: false,
        }
    }

    fn done(mut self) -> Intent {
        if !self.inputs {
            return Intent::Other;
        }
        if self.sources {
            return Intent::FromSources {
                output: self.invocation.output,
            };
        }
        for piece in &mut self.invocation.pieces {
            if let Piece::Library { dynamic, .. } = piece {
                *dynamic &= !self.all_static;
            }
        }
        Intent::Link(self.invocation)
    }

    /// Parses a word of the driver's command line, and its value from `rest`; returns false if the
    /// driver will not link an executable.
    fn driver_word(&mut self, word: String, rest: &mut impl Iterator<Item = String>) -> bool {
        if links_no_executable(&word) {
            return false;
        }
        if let Some(words) = word.strip_prefix("-Wl,") {
            self.linker_argument(&word, words);
            return true;
        }
        // These options apply to all libraries, wherever they are on the command line.
        self.all_static |= matches!(word.as_str(), "-static" | "--static" | "-static-pie");
        match driver_writes(&word) {
            Written::Nothing => {}
            Written::Here => return true,
            Written::InNext => {
                rest.next();
                return true;
            }
        }
        // The options whose value names something, and how to write them again.
        let naming = match word.as_str() {
            "-L" | "--library-directory" => Some((Named::Folder, "-L", false)),
            "-l" => Some((Named::Library, "-l", false)),
            "-T" => Some((Named::File, "-T", true)),
            "-rpath" => Some((Named::RunPath, "-rpath", true)),
            _ => None,
        };
        if let Some((named, before, apart)) = naming {
            if let Some(value) = rest.next() {
                self.push_named(named, Spelling::behind(before, &value, false, apart));
            }
            return true;
        }
        match word.as_str() {
            "-o" | "--output" => self.invocation.output = rest.next().unwrap_or_default(),
            "-Xlinker" => {
                if let Some(value) = rest.next() {
                    self.through_to_linker(value);
                }
            }
            "-x" => {
                let language = rest.next().unwrap_or_default();
                self.language = language != "none";
            }
            "-" => {
                self.sources = true;
                self.inputs = true;
            }
            _ if driver_takes_value(&word) => {
                self.push(Piece::Word(word));
                if let Some(value) = rest.next() {
                    self.push(Piece::Word(value));
                }
            }
            _ => self.joined(word),
        }
        true
    }

    /// Parses a word that has no value in the next word.
    fn joined(&mut self, word: String) {
        let spelling = |before, value: &str| Spelling::behind(before, value, false, false);
        let Some(option) = word.strip_prefix('-') else {
            self.sources |= self.language || is_source(&word);
            self.inputs = true;
            self.push(Piece::Input(spelling("", &word)));
            return;
        };
        if let Some(output) = word.strip_prefix("--output=") {
            self.invocation.output = output.to_owned();
        } else if option.starts_with('-') {
            self.push(Piece::Word(word));
        } else if let Some(output) = option.strip_prefix('o') {
            self.invocation.output = output.to_owned();
        } else if let Some(language) = option.strip_prefix('x') {
            self.language = language != "none";
        } else if let Some(folder) = option.strip_prefix('L') {
            self.push_named(Named::Folder, spelling("-L", folder));
        } else if let Some(name) = option.strip_prefix('l') {
            self.push_named(Named::Library, spelling("-l", name));
        } else if let (LinkerOption::Names(Named::File, "-T"), Some(script)) =
            (linker_option(&word), option.strip_prefix('T'))
        {
            self.push_named(Named::File, spelling("-T", script));
        } else {
            self.push(Piece::Word(word));
        }
    }

    /// Parses `-Wl,` and its options. If none of them names a file, the argument stays as it was.
    fn linker_argument(&mut self, argument: &str, words: &str) {
        let parts: Vec<(&str, Option<Piece>)> = words
            .split(',')
            .map(|word| (word, self.linker_word(word)))
            .collect();
        if parts.iter().all(|(_, part)| part.is_none()) {
            self.push(Piece::Word(argument.to_owned()));
            return;
        }
        for (word, part) in parts {
            self.push(part.unwrap_or_else(|| Piece::Word(format!("-Wl,{word}"))));
        }
    }

    fn through_to_linker(&mut self, word: String) {
        match self.linker_word(&word) {
            Some(piece) => self.push(piece),
            None => {
                self.push(Piece::Word("-Xlinker".to_owned()));
                self.push(Piece::Word(word));
            }
        }
    }

    /// Parses a word of the linker's own command line; `None` if it is passed on unchanged.
    fn linker_word(&mut self, word: &str) -> Option<Piece> {
        let spelling =
            |before: &str, value: &str, apart| Spelling::behind(before, value, true, apart);
        const NOTHING: Option<Piece> = Some(Piece::Word(String::new()));
        match self.awaited.take() {
            None => {}
            Some(Awaited::Value) => return None,
            Some(Awaited::Dropped) => return NOTHING,
            Some(Awaited::Output) => {
                self.invocation.output = word.to_owned();
                return NOTHING;
            }
            Some(Awaited::Names(named, before)) => {
                return Some(self.piece(named, spelling(&before, word, true)));
            }
        }
        // The value, unless it is the next word.
        let value_after = |before: &str| {
            let value = &word[before.len()..];
            (before.ends_with('=') || !value.is_empty()).then(|| spelling(before, value, false))
        };
        match linker_option(word) {
            LinkerOption::Input => {
                self.inputs = true;
                Some(Piece::Input(Spelling::bare(true, word)))
            }
            LinkerOption::Plain => None,
            LinkerOption::Value => {
                self.awaited = Some(Awaited::Value);
                None
            }
            LinkerOption::Names(named, before) => match value_after(before) {
                Some(spelling) => Some(self.piece(named, spelling)),
                None => self.wait_for(Awaited::Names(named, before.to_owned())),
            },
            LinkerOption::Writes(Written::InNext) => self.wait_for(Awaited::Dropped),
            LinkerOption::Writes(_) => NOTHING,
            LinkerOption::Output => self.wait_for(Awaited::Output),
            LinkerOption::Dynamic(dynamic) => {
                self.dynamic = dynamic;
                None
            }
            LinkerOption::PushState => {
                self.pushed.push(self.dynamic);
                None
            }
            LinkerOption::PopState => {
                self.dynamic = self.pushed.pop().unwrap_or(self.dynamic);
                None
            }
        }
    }

    /// Remembers that the next word is the value of the current option. Returns an empty piece in
    /// place of the word of the option; `push` drops empty pieces.
    fn wait_for(&mut self, awaited: Awaited) -> Option<Piece> {
        self.awaited = Some(awaited);
        Some(Piece::Word(String::new()))
    }

    fn push_named(&mut self, named: Named, spelling: Spelling) {
        let piece = self.piece(named, spelling);
        self.push(piece);
    }

    fn piece(&mut self, named: Named, spelling: Spelling) -> Piece {
        match named {
            Named::File => Piece::Named(spelling),
            Named::RunPath => Piece::RunPath(spelling),
            Named::Folder => Piece::Folder(spelling),
            Named::Library => {
                self.inputs = true;
                let dynamic = self.dynamic;
                Piece::Library { spelling, dynamic }
            }
        }
    }

    fn push(&mut self, piece: Piece) {
        match &piece {
            // An empty word has no meaning.
            Piece::Word(word) if word.is_empty() => return,
            Piece::Folder(spelling) => self.invocation.folders.push(spelling.value.clone()),
            // The linker reads response files too.
            Piece::Input(spelling) if spelling.to_linker && spelling.value.starts_with('@') => {
                let named = [spelling.value.clone()];
                if let Ok(words) = arguments::expand(&named, self.directory)
                    && words != named
                {
                    words
                        .into_iter()
                        .for_each(|word| self.through_to_linker(word));
                    return;
                }
            }
            _ => {}
        }
        self.invocation.pieces.push(piece);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_replaced_value_keeps_its_spelling() {
        let said = |to_linker, apart| {
            let spelling = Spelling {
                to_linker,
                before: "-T".to_owned(),
                value: "old".to_owned(),
                apart,
            };
            spelling.with("a,b").join(" ")
        };
        assert_eq!(said(false, false), "-Ta,b");
        assert_eq!(said(false, true), "-T a,b");
        assert_eq!(said(true, false), "-Xlinker -Ta,b");
        assert_eq!(said(true, true), "-Xlinker -T -Xlinker a,b");
    }

    fn intent(arguments: &str) -> Intent {
        Intent::of(&arguments::split(arguments), Path::new("/")).unwrap()
    }

    fn link(arguments: &str) -> Invocation {
        match intent(arguments) {
            Intent::Link(invocation) => invocation,
            other => panic!("{arguments}: {other:?}"),
        }
    }

    fn words(arguments: &str) -> Vec<String> {
        let pieces = link(arguments).pieces.into_iter();
        pieces
            .flat_map(|piece| match piece {
                Piece::Word(word) => vec![word],
                Piece::Input(spelling)
                | Piece::Named(spelling)
                | Piece::Library { spelling, .. }
                | Piece::RunPath(spelling)
                | Piece::Folder(spelling) => spelling.with(&spelling.value),
            })
            .collect()
    }

    #[test]
    fn recognises_only_links_of_executables() {
        for other in [
            "-c main.c",
            "-o x.o main.o -c",
            "-S x.o",
            "-E x.c",
            "-M x.c",
            "-MM x.c",
            "-shared x.o -o libx.so",
            "-r x.o -o y.o",
            "-fsyntax-only x.c",
            "--version",
            "-v",
            "-### x.o",
            "-print-search-dirs",
            "-print-prog-name=ld x.o",
            "-dumpmachine",
            "",
            "-o nothing",
        ] {
            assert_eq!(intent(other), Intent::Other, "{other}");
        }
        for linked in ["x.o", "-MD -MF x.d x.o", "-lmain", "-v x.o", "-Wl,x.o"] {
            assert!(matches!(intent(linked), Intent::Link(_)), "{linked}");
        }
    }

    #[test]
    fn values_of_options_are_neither_inputs_nor_options() {
        assert_eq!(intent("-include x.o"), Intent::Other);
        assert!(matches!(intent("-o -shared x.o"), Intent::Link(_)));
        assert!(matches!(intent("-Xclang -S x.o"), Intent::Link(_)));
    }

    #[test]
    fn the_output_is_named_in_every_way_drivers_know() {
        assert_eq!(link("x.o").output, "a.out");
        for named in [
            "-o app",
            "-oapp",
            "--output=app",
            "--output app",
            "-Wl,-o,app",
        ] {
            let invocation = link(&format!("x.o {named} y.o"));
            assert_eq!(invocation.output, "app", "{named}");
            assert_eq!(invocation.pieces.len(), 2, "{named}");
        }
    }

    #[test]
    fn sources_among_the_inputs_leave_no_objects_to_link_again() {
        for sources in ["main.c -o app", "-o app x.o main.cc", "-o app -x c main.o"] {
            let output = "app".to_owned();
            assert_eq!(intent(sources), Intent::FromSources { output }, "{sources}");
        }
        assert!(matches!(intent("-x none main.o"), Intent::Link(_)));
    }

    #[test]
    fn keeps_linker_arguments_without_files_unchanged() {
        let plain = "x.o -Wl,-z,relro,-z,now -Wl,--gc-sections -Wl,-e,main -Xlinker -O1";
        assert_eq!(words(plain), arguments::split(plain));
    }

    #[test]
    fn files_in_arguments_to_the_linker_are_found() {
        assert_eq!(
            words(
                "-Wl,-z,now,--version-script=v,x.o -Wl,-T -Wl,s -Xlinker --dynamic-list -Xlinker d"
            ),
            arguments::split(
                "-Wl,-z -Wl,now -Xlinker --version-script=v -Xlinker x.o -Xlinker -T -Xlinker s \
                 -Xlinker --dynamic-list -Xlinker d"
            )
        );
        let pieces = link("-Wl,-e,main,main x.o").pieces;
        let inputs = pieces
            .iter()
            .filter(|piece| matches!(piece, Piece::Input(_)));
        assert_eq!(inputs.count(), 2, "{pieces:?}");
    }

    #[test]
    fn drops_options_that_write_other_files() {
        assert_eq!(
            words("x.o -MD -MF x.d -Wl,-Map=app.map,--cref -Wl,-Map,m -save-temps -Wl,-O1"),
            ["x.o", "-Wl,--cref", "-Wl,-O1"]
        );
    }

    #[test]
    fn libraries_record_whether_a_shared_one_is_accepted() {
        let dynamic = |arguments: &str| -> Vec<bool> {
            let pieces = link(arguments).pieces.into_iter();
            pieces
                .filter_map(|piece| match piece {
                    Piece::Library { dynamic, .. } => Some(dynamic),
                    _ => None,
                })
                .collect()
        };
        assert_eq!(
            dynamic(
                "-la -Wl,-Bstatic -lb -Wl,--push-state,-Bdynamic,-lc,--pop-state -ld -Wl,-Bdynamic -l e"
            ),
            [true, false, true, false, true]
        );
        assert_eq!(dynamic("-la -lb -static"), [false, false]);
    }

    #[test]
    fn response_files_of_the_linker_are_read() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("list"), "x.o -z now --version-script v").unwrap();
        let arguments = ["-Wl,@list".to_owned()];
        let Intent::Link(invocation) = Intent::of(&arguments, folder.path()).unwrap() else {
            panic!("no link");
        };
        assert_eq!(invocation.pieces.len(), 6, "{:?}", invocation.pieces);
        assert!(matches!(&invocation.pieces[5], Piece::Named(v) if v.value == "v"));
    }

    #[test]
    fn folders_are_gathered_wherever_they_are_named() {
        let invocation = link("-La -L b x.o -Wl,-Lc -Wl,-L,d -Xlinker --library-path=e");
        assert_eq!(invocation.folders, ["a", "b", "c", "d", "e"]);
    }

    proptest! {
        #[test]
        fn nothing_is_made_up_whatever_was_asked_for(
            words in proptest::collection::vec(
                prop_oneof![
                    "x[0-9]\\.o", "-Wl,-?-?[LlTRo]?[a-z=,@-]{0,6}", "-[LlTxozBR]?[a-z=]{0,4}",
                    "-(Xlinker|T|rpath|L|l|o|static)", "--[a-z-]{0,9}=?", "\\PC*",
                ],
                0..12,
            ),
        ) {
            let intent = Intent::of(&words, Path::new("/nowhere")).unwrap();
            // The pieces contain only what the arguments contain.
            if let Intent::Link(invocation) = intent {
                let said = words.join(",");
                for piece in &invocation.pieces {
                    if let Piece::Input(spelling) | Piece::Named(spelling) = piece {
                        prop_assert!(said.contains(&spelling.value), "{:?}", spelling);
                    }
                }
                let objects = |of: &str| of.matches(".o").count();
                let all: Vec<String> = invocation.pieces.iter().map(|piece| format!("{piece:?}")).collect();
                let found = objects(&all.join(","));
                prop_assert!(found <= objects(&said));
            }
        }
    }
}
