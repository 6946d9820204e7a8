//! Commands that are converted in advance into arguments of system calls.

use std::ffi::{CString, OsStr};
use std::os::raw::c_char;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::ptr;
use std::time::Duration;

use super::wire::Manner;
use crate::executable::program_paths;
use deadheat_model::{CommandLine, ExitPolicy, Input, Output};

/// The environment variable of the padding, with its equals sign.
const PADDING_NAME: &[u8] = b"DEADHEAT_PADDING=";
/// The longest padding of a slot, in bytes.
pub(crate) const MAX_PADDING: u16 = 4095;

/// The reason why a command cannot be turned into system-call arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ImageError {
    /// The command is empty.
    Empty,
    /// A word or path contains a NUL byte, which system calls do not accept.
    NulByte {
        /// The word without its NUL bytes.
        word: String,
    },
}

impl std::fmt::Display for ImageError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Empty => f.write_str("the command is empty"),
            Self::NulByte { word } => write!(f, "'{word}' contains a NUL byte"),
        }
    }
}

impl std::error::Error for ImageError {}

/// A list of words and the NULL-terminated array of pointers to them.
///
/// The pointers stay valid when the struct moves: they point into the heap
/// buffers of the strings, which are never changed again.
pub(crate) struct Words {
    /// Owns the memory that the pointers refer to.
    _strings: Vec<CString>,
    pointers: Vec<*const c_char>,
}

impl Words {
    fn new(strings: Vec<CString>) -> Self {
        let mut pointers: Vec<*const c_char> = strings.iter().map(|s| s.as_ptr()).collect();
        pointers.push(ptr::null());
        Self {
            _strings: strings,
            pointers,
        }
    }

    pub(crate) fn as_argv(&self) -> *const *const c_char {
        self.pointers.as_ptr()
    }
}

#[derive(Debug)]
pub(crate) enum OutputKind {
    Null,
    Pipe,
    Inherit,
    File(CString),
    /// The output goes into the memory file of the launch.
    Captured,
    /// The output goes into the memory file of the launch, where deadheat reads values from it. A
    /// command that writes more than [`MOST_OUTPUT`] bytes is killed.
    Read,
}

/// The maximum size, in bytes, of an output or a file from which values are read.
pub(crate) const MOST_OUTPUT: u64 = 16 << 20;

pub(crate) struct Image {
    /// The paths to try in turn, as `execvp` would.
    programs: Vec<CString>,
    pub(crate) argv: Words,
    /// The working directory; `None` for deadheat's.
    pub(crate) directory: Option<CString>,
    pub(crate) input: Option<CString>,
    pub(crate) output: OutputKind,
    /// The file that the command writes its values to. It is removed before a launch, and copied
    /// into the memory file of the launch afterwards.
    pub(crate) value_file: Option<CString>,
    /// Time limit in nanoseconds; 0 for none.
    pub(crate) timeout_ns: u64,
    pub(crate) exit_policy: ExitPolicy,
    /// The neutral link that is started instead of `programs`, under the same name.
    pub(crate) variant: Option<CString>,
    /// The arguments with the path of the neutral link as `argv[0]`, if the link is started under
    /// that name.
    renamed: Option<Vec<*const c_char>>,
    /// True if the command runs without address space randomization.
    pub(crate) fixed_addresses: bool,
    /// True if the command keeps the terminal that deadheat was started in.
    pub(crate) keeps_terminal: bool,
}

impl Image {
    pub(crate) fn of_command(command: &CommandLine) -> Result<Self, ImageError> {
        let mut image = Self::of_words(&command.words)?.within(command.directory.as_deref())?;
        image.keeps_terminal = false;
        if let Input::File(path) = &command.input {
            image.input = Some(c_string(path.as_os_str())?);
        }
        image.output = match &command.output {
            Output::Null => OutputKind::Null,
            Output::Pipe => OutputKind::Pipe,
            Output::Inherit => OutputKind::Inherit,
            Output::Compared => OutputKind::Captured,
            Output::Read => OutputKind::Read,
            Output::File(path) => OutputKind::File(c_string(path.as_os_str())?),
        };
        image.exit_policy = command.exit_policy.clone();
        Ok(image.limited(command.timeout))
    }

    pub(crate) fn within(mut self, directory: Option<&Path>) -> Result<Self, ImageError> {
        self.directory = directory
            .map(|folder| c_string(folder.as_os_str()))
            .transpose()?;
        Ok(self)
    }

    pub(crate) fn limited(mut self, limit: Option<Duration>) -> Self {
        self.timeout_ns = limit.map_or(0, |limit| limit.as_nanos() as u64);
        self
    }

    pub(crate) fn with_value_file(mut self, file: Option<&Path>) -> Result<Self, ImageError> {
        self.value_file = file.map(|file| c_string(file.as_os_str())).transpose()?;
        Ok(self)
    }

    /// Creates the image of a hook: no input, no output, no time limit. A hook keeps the terminal,
    /// because `sudo` remembers passwords by terminal.
    pub(crate) fn of_words(words: &[String]) -> Result<Self, ImageError> {
        let Some(program) = words.first().filter(|program| !program.is_empty()) else {
            return Err(ImageError::Empty);
        };
        let argv = words.iter().map(|word| c_string(OsStr::new(word)));
        // The words come before the paths, so that an error names a word that the user wrote.
        let argv = Words::new(argv.collect::<Result<_, _>>()?);
        let paths = program_paths(Path::new(program)).into_iter();
        let programs = paths.map(|path| c_string(path.as_os_str()));
        Ok(Self {
            programs: programs.collect::<Result<_, _>>()?,
            argv,
            directory: None,
            input: None,
            output: OutputKind::Null,
            value_file: None,
            timeout_ns: 0,
            exit_policy: ExitPolicy::ZeroOnly,
            variant: None,
            renamed: None,
            fixed_addresses: false,
            keeps_terminal: true,
        })
    }

    /// Makes later launches start `variant`, or the image's own programs if `variant` is `None`.
    pub(crate) fn vary(&mut self, variant: Option<CString>, manner: Manner) {
        self.variant = variant;
        self.fixed_addresses = manner.fixed_addresses;
        let named = self.variant.as_ref().filter(|_| manner.named_by_path);
        self.renamed = named.map(|name| {
            let mut pointers = self.argv.pointers.clone();
            pointers[0] = name.as_ptr();
            pointers
        });
    }

    /// Returns the arguments, program name first, as `execve` expects them.
    pub(crate) fn argv(&self) -> *const *const c_char {
        let renamed = self.renamed.as_ref();
        renamed.map_or(self.argv.as_argv(), |pointers| pointers.as_ptr())
    }

    pub(crate) fn programs(&self) -> &[CString] {
        match &self.variant {
            Some(variant) => std::slice::from_ref(variant),
            None => &self.programs,
        }
    }
}

fn c_string(text: &OsStr) -> Result<CString, ImageError> {
    CString::new(text.as_bytes()).map_err(|_| ImageError::NulByte {
        word: text.to_string_lossy().replace('\0', ""),
    })
}

/// The environment of every launch: deadheat's own and a padding whose length
/// changes from launch to launch.
pub(crate) struct EnvironmentImage {
    words: Words,
    padding: Vec<u8>,
    padded_to: usize,
}

impl EnvironmentImage {
    /// Creates the image of the environment that deadheat was started with.
    pub(crate) fn inherited() -> Self {
        let mut strings = Vec::new();
        for (name, value) in std::env::vars_os() {
            let mut entry = name.as_bytes().to_vec();
            if entry == PADDING_NAME[..PADDING_NAME.len() - 1] {
                continue;
            }
            entry.push(b'=');
            entry.extend_from_slice(value.as_bytes());
            strings.extend(CString::new(entry));
        }
        let mut padding = PADDING_NAME.to_vec();
        padding.resize(PADDING_NAME.len() + usize::from(MAX_PADDING), b'x');
        padding.push(0);
        let mut words = Words::new(strings);
        let end = words.pointers.len() - 1;
        words.pointers.insert(end, padding.as_ptr().cast());
        let padded_to = padding.len() - 1;
        Self {
            words,
            padding,
            padded_to,
        }
    }

    /// Sets the length of the padding; allocates nothing.
    pub(crate) fn pad(&mut self, bytes: u16) {
        self.padding[self.padded_to] = b'x';
        self.padded_to = PADDING_NAME.len() + usize::from(bytes.min(MAX_PADDING));
        self.padding[self.padded_to] = 0;
    }

    pub(crate) fn as_envp(&self) -> *const *const c_char {
        self.words.as_argv()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_in_the_path_is_tried_where_it_exists_first() {
        let image = Image::of_words(&["sh".to_owned(), "-c".to_owned(), "x".to_owned()]).unwrap();
        assert!(Path::new(OsStr::from_bytes(image.programs()[0].as_bytes())).is_file());
        assert_eq!(format!("{:?}", image.argv._strings), r#"["sh", "-c", "x"]"#);
    }

    #[test]
    fn a_program_with_a_slash_is_taken_as_it_is() {
        let image = Image::of_words(&["./not-built-yet".to_owned()]).unwrap();
        assert_eq!(image.programs(), [c"./not-built-yet".to_owned()]);
    }

    #[test]
    fn a_variant_is_started_instead_under_the_same_name() {
        let mut image = Image::of_words(&["./tool".to_owned()]).unwrap();
        image.variant = Some(c"/links/17".to_owned());
        assert_eq!(image.programs(), [c"/links/17".to_owned()]);
        assert_eq!(format!("{:?}", image.argv._strings), r#"["./tool"]"#);
        image.variant = None;
        assert_eq!(image.programs(), [c"./tool".to_owned()]);
    }

    #[test]
    fn an_empty_command_and_a_nul_byte_are_told() {
        assert_eq!(Image::of_words(&[]).err(), Some(ImageError::Empty));
        let error = Image::of_words(&["a\0b".to_owned()]).err().unwrap();
        assert_eq!(error.to_string(), "'ab' contains a NUL byte");
    }

    #[test]
    fn the_padding_has_the_length_asked_for_whatever_came_before() {
        let mut env = EnvironmentImage::inherited();
        for bytes in [0, 4095, 17, 4095, 0] {
            env.pad(bytes);
            let end = env.padding.iter().position(|byte| *byte == 0).unwrap();
            assert_eq!(end - PADDING_NAME.len(), usize::from(bytes));
        }
    }
}
