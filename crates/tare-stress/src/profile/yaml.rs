//! YAML into a small tree of texts, with limits: profiles come from strangers.

use saphyr_parser::{Event, Parser};

const DEEPEST: usize = 8;
const MOST_NODES: usize = 20_000;

/// A node. Scalars are texts, whatever YAML would make of them, and remember whether they are null.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Node {
    Null,
    Text(String),
    List(Vec<Node>),
    Map(Vec<(String, Node)>),
}

/// Where the text is not YAML of the supported kind, and why.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {why}")]
pub struct BadYaml {
    pub line: usize,
    pub why: String,
}

/// A list or map that is still open.
enum Open {
    List(Vec<Node>),
    Map(Vec<(String, Node)>, Option<String>),
}

/// Reads one document. Anchors and aliases are refused, as are maps with a key twice.
pub fn read(text: &str) -> Result<Node, BadYaml> {
    let mut open: Vec<Open> = Vec::new();
    let mut root = Node::Null;
    let mut nodes = 0;
    for event in Parser::new_from_str(text) {
        let (event, span) = event.map_err(|error| BadYaml {
            line: error.marker().line(),
            why: error.info().to_owned(),
        })?;
        let line = span.start.line();
        let bad = |why: String| BadYaml { line, why };
        nodes += 1;
        if nodes > MOST_NODES {
            return Err(bad(format!("more than {MOST_NODES} parts")));
        }
        let done = match event {
            Event::Alias(_) => return Err(bad("aliases (*name) are not read".to_owned())),
            Event::Scalar(value, style, ..) => {
                let is_null = style == saphyr_parser::ScalarStyle::Plain
                    && matches!(&*value, "" | "~" | "null");
                Some(if is_null {
                    Node::Null
                } else {
                    Node::Text(value.into_owned())
                })
            }
            Event::SequenceStart(..) => {
                open.push(Open::List(Vec::new()));
                None
            }
            Event::MappingStart(..) => {
                open.push(Open::Map(Vec::new(), None));
                None
            }
            Event::SequenceEnd | Event::MappingEnd => open.pop().map(|open| match open {
                Open::List(items) => Node::List(items),
                Open::Map(pairs, _) => Node::Map(pairs),
            }),
            _ => None,
        };
        if open.len() > DEEPEST {
            return Err(bad(format!("deeper than {DEEPEST} levels")));
        }
        if let Some(node) = done {
            match open.last_mut() {
                Some(parent) => place(parent, node).map_err(bad)?,
                None if root == Node::Null => root = node,
                None => return Err(bad("more than one document".to_owned())),
            }
        }
    }
    Ok(root)
}

/// Puts a node into the list or map that is open.
fn place(parent: &mut Open, node: Node) -> Result<(), String> {
    match parent {
        Open::List(items) => items.push(node),
        Open::Map(pairs, key) => match (key.take(), node) {
            (Some(key), node) => pairs.push((key, node)),
            (None, Node::Text(name)) if pairs.iter().any(|(other, _)| *other == name) => {
                return Err(format!("{name:.60} stands there twice"));
            }
            (None, Node::Text(name)) => *key = Some(name),
            (None, _) => return Err("a key must be a text".to_owned()),
        },
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn text(text: &str) -> Node {
        Node::Text(text.to_owned())
    }

    #[test]
    fn numbers_and_words_are_texts() {
        let found = read("page_size: 5000\nlist: [a, 1.5, true, ~]\nempty:\n").unwrap();
        let list = Node::List(vec![text("a"), text("1.5"), text("true"), Node::Null]);
        let expected = [
            ("page_size", text("5000")),
            ("list", list),
            ("empty", Node::Null),
        ];
        assert_eq!(
            found,
            Node::Map(expected.map(|(k, v)| (k.to_owned(), v)).to_vec())
        );
    }

    #[test]
    fn hostile_documents_are_refused() {
        for (hostile, why) in [
            ("a: &x [1]\nb: *x\n", "aliases"),
            ("a: 1\na: 2\n", "twice"),
            (&"[".repeat(50), "deeper"),
            (&"[".repeat(50_000), "limit"),
            (&"- a\n".repeat(30_000), "more than"),
            ("{a: ", "line"),
        ] {
            let error = read(hostile).unwrap_err().to_string();
            assert!(error.contains(why), "{error}");
        }
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic(text in "[ -~\n]{0,200}") {
            let _ = read(&text);
        }
    }
}
