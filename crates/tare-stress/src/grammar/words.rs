//! From arguments to sections: a command or `-option` with its parameters.

use super::Usage;

/// Arguments that together are longer than this are not a command line.
const LONGEST: usize = 1 << 20;

/// A command or an option, lower case, with what follows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Section {
    pub key: String,
    pub parameters: Vec<String>,
}

/// Drops the white space around `, = ( )` (before each of them, and after all but `)`) and cuts
/// at the rest, as cassandra-stress does; an argument with a space in it is several words.
///
/// Also mends what copying from a paper or a quoted shell line leaves behind: a typographic dash
/// before an option, and a backslash before a parenthesis.
pub fn words(arguments: &[String]) -> Result<Vec<String>, Usage> {
    if arguments.iter().map(|a| a.len() + 1).sum::<usize>() > LONGEST {
        return Err(Usage::new("the command line is longer than 1 MiB"));
    }
    let joined = arguments.join(" ");
    let mended = joined
        .replace("\\(", "(")
        .replace("\\)", ")")
        .replace("\\=", "=")
        .replace(['\u{2216}', '\u{29f5}'], "");
    let mut out = String::with_capacity(mended.len());
    let mut space = String::new();
    for letter in mended.chars() {
        if letter.is_ascii_whitespace() {
            space.push(letter);
            continue;
        }
        let closes_up = matches!(letter, ',' | '=' | '(' | ')');
        if !closes_up && !out.ends_with([',', '=', '(']) {
            out.push_str(&space);
        }
        space.clear();
        out.push(letter);
    }
    Ok(out
        .split(' ')
        .filter(|word| !word.is_empty())
        .map(dashed)
        .collect())
}

/// A word with its typographic dash made an ordinary one.
fn dashed(word: &str) -> String {
    match word.strip_prefix(['\u{2010}', '\u{2013}', '\u{2014}', '\u{2212}']) {
        Some(rest) => format!("-{rest}"),
        None => word.to_owned(),
    }
}

/// Cuts words into sections: the first word and every word that begins with `-` opens one.
pub fn sections(words: &[String]) -> Result<Vec<Section>, Usage> {
    let mut sections: Vec<Section> = Vec::new();
    for word in words {
        match sections.last_mut() {
            Some(section) if !word.starts_with('-') => section.parameters.push(word.clone()),
            _ => open(&mut sections, word.to_lowercase())?,
        }
    }
    Ok(sections)
}

fn open(sections: &mut Vec<Section>, key: String) -> Result<(), Usage> {
    if sections.iter().any(|section| section.key == key) {
        return Err(Usage(format!(
            "{key} is defined multiple times. Each option/command can be specified at most once."
        )));
    }
    sections.push(Section {
        key,
        parameters: Vec::new(),
    });
    Ok(())
}

/// Takes the section of this name out, if there is one.
pub fn take(sections: &mut Vec<Section>, key: &str) -> Option<Vec<String>> {
    let place = sections.iter().position(|section| section.key == key)?;
    Some(sections.remove(place).parameters)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(line: &str) -> Vec<String> {
        words(&[line.to_owned()]).unwrap()
    }

    #[test]
    fn space_around_signs_is_dropped() {
        assert_eq!(
            cut("mixed ratio( write=1 , read = 3 ) duration=30m"),
            ["mixed", "ratio(write=1,read=3)", "duration=30m"]
        );
    }

    #[test]
    fn space_after_a_closing_parenthesis_stays() {
        assert_eq!(cut("ops(insert=1) n=5"), ["ops(insert=1)", "n=5"]);
    }

    #[test]
    fn typographic_dashes_and_backslashes_are_mended() {
        assert_eq!(
            cut("mixed ratio\\(write=1\\) \u{2013}node 10.0.0.1"),
            ["mixed", "ratio(write=1)", "-node", "10.0.0.1"]
        );
        assert_eq!(
            cut("ratio\u{2216}(write=1, read=3\u{2216})"),
            ["ratio(write=1,read=3)"]
        );
    }

    #[test]
    fn a_section_may_be_said_once() {
        let found = sections(&cut("read n=5 -RATE threads=1 -rate threads=2"));
        assert!(found
            .unwrap_err()
            .0
            .contains("-rate is defined multiple times"));
    }

    #[test]
    fn sections_hold_their_parameters() {
        let found = sections(&cut("write n=5 -node a,b -log file=x")).unwrap();
        let keys: Vec<&str> = found.iter().map(|s| s.key.as_str()).collect();
        assert_eq!(keys, ["write", "-node", "-log"]);
        assert_eq!(found[1].parameters, ["a,b"]);
    }
}
