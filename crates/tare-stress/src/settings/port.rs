//! `-port`: the ports of the nodes.

use super::describe::Dump;
use super::forms::{whole, DIGITS};
use crate::grammar::options::{select, Choice, Group};
use crate::grammar::Usage;

const NATIVE: Choice =
    Choice::value("native=", DIGITS, "the port of the native protocol").or("9042");
const THRIFT: Choice = Choice::value("thrift=", DIGITS, "read and without use").or("9160");
const JMX: Choice = Choice::value("jmx=", DIGITS, "read and without use").or("7199");

pub const GROUPS: &[Group] = &[&[NATIVE, THRIFT, JMX]];

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Port {
    pub native: u16,
    thrift: u16,
    jmx: u16,
}

impl Port {
    pub fn read(parameters: Option<&[String]>) -> Result<Port, Usage> {
        let given = select("-port", parameters.unwrap_or_default(), GROUPS)?;
        Ok(Port {
            native: whole(&given, &NATIVE)?,
            thrift: whole(&given, &THRIFT)?,
            jmx: whole(&given, &JMX)?,
        })
    }

    pub fn dump(&self, out: &mut Dump) {
        out.say("Native Port", self.native);
        out.say("Thrift Port", self.thrift);
        out.say("JMX Port", self.jmx);
    }
}
