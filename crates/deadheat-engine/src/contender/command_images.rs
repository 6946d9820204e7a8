//! The commands of a plan as the launcher knows them: by number.

use deadheat_model::{CommandLine, Output, Slot};

use crate::error::EngineError;
use crate::launcher::image::Image;
use crate::launcher::wire::{Launch, NO_IMAGE};

/// The images of one contender.
pub(super) struct ContenderImages {
    pub(super) command: u16,
    /// The same command, always as the user linked it, where outputs are
    /// compared.
    pub(super) own: Option<u16>,
    prepare: u16,
    conclude: u16,
}

/// A command run once per benchmark.
pub(super) struct Once {
    pub(super) image: u16,
    /// The contender it belongs to, for messages.
    pub(super) contender: usize,
    pub(super) words: Vec<String>,
}

pub(super) struct BenchmarkImages {
    pub(super) name: String,
    pub(super) commands: Vec<CommandLine>,
    pub(super) contenders: Vec<ContenderImages>,
    pub(super) setups: Vec<Once>,
    pub(super) cleanups: Vec<Once>,
}

impl BenchmarkImages {
    pub(super) fn new(
        name: String,
        commands: Vec<CommandLine>,
        images: &mut Vec<Image>,
    ) -> Result<Self, EngineError> {
        let mut add = |command: &CommandLine, image: Result<Image, _>| {
            images.push(image.map_err(|source| EngineError::Command {
                command: command.text.clone(),
                source,
            })?);
            Ok::<u16, EngineError>((images.len() - 1).min(usize::from(NO_IMAGE)) as u16)
        };
        let mut contenders = Vec::new();
        let (mut setups, mut cleanups) = (Vec::<Once>::new(), Vec::<Once>::new());
        for (contender, command) in commands.iter().enumerate() {
            let mut hook = |words: &Option<Vec<String>>| match words {
                None => Ok(NO_IMAGE),
                Some(words) => add(command, Image::of_words(words)),
            };
            let prepare = hook(&command.hooks.prepare)?;
            let conclude = hook(&command.hooks.conclude)?;
            // One setup for all contenders is one setup, not one each: the
            // second start of the same server would fail.
            for (list, words) in [
                (&mut setups, &command.hooks.setup),
                (&mut cleanups, &command.hooks.cleanup),
            ] {
                if let Some(text) = words
                    && !list.iter().any(|once| once.words == *text)
                {
                    list.push(Once {
                        image: hook(words)?,
                        contender,
                        words: text.clone(),
                    });
                }
            }
            let own = match command.output {
                Output::Compared => Some(add(command, Image::of_command(command))?),
                _ => None,
            };
            let command = add(command, Image::of_command(command))?;
            contenders.push(ContenderImages {
                command,
                own,
                prepare,
                conclude,
            });
        }
        Ok(Self {
            name,
            commands,
            contenders,
            setups,
            cleanups,
        })
    }
}

pub(super) fn launch(images: &[ContenderImages], slot: &Slot) -> Launch {
    let images = &images[slot.contender.index()];
    Launch {
        image: images.command,
        prepare: images.prepare,
        conclude: images.conclude,
        padding: slot.padding,
    }
}
