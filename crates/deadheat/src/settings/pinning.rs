//! The cores that contenders run on, as people write them.

use deadheat_model::Pinning;

/// `none`, `auto`, or cores and ranges of them: `2,4-6`.
pub fn pinning(text: &str) -> Result<Pinning, String> {
    match text {
        "none" => Ok(Pinning::Inherit),
        "auto" => Ok(Pinning::Auto),
        list => {
            let mut cores = Vec::new();
            for part in list.split(',') {
                let (from, to) = part.split_once('-').unwrap_or((part, part));
                match (from.trim().parse::<u32>(), to.trim().parse::<u32>()) {
                    (Ok(from), Ok(to)) if from <= to && to < 4096 => cores.extend(from..=to),
                    _ => {
                        return Err(format!(
                            "'{part}' is no core; use none, auto, or a list as 2,4-6"
                        ));
                    }
                }
            }
            Ok(Pinning::Cores(cores))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cores_are_none_one_or_a_list_with_ranges() {
        assert_eq!(pinning("none"), Ok(Pinning::Inherit));
        assert_eq!(pinning("auto"), Ok(Pinning::Auto));
        assert_eq!(pinning("0,2-4"), Ok(Pinning::Cores(vec![0, 2, 3, 4])));
        for bad in ["", "a", "4-2", "1,,2", "99999"] {
            assert!(pinning(bad).is_err(), "{bad}");
        }
    }
}
