//! Queue disciplines: rules for packets that wait for a transmitter.
//!
//! Only waiting packets count as queued. The packet in transmission has left the queue, as in ns-2 and INET,
//! with which the published results were measured.
//!
//! There are two kinds of disciplines:
//!
//! - An [`Admission`] decides when a packet arrives whether it joins a first-in-first-out queue (drop-tail,
//!   RED, PIE). The departure of the packet is known at once, so a packet costs one event per link: its
//!   arrival at the far end.
//! - A [`Server`] owns its packets. A free transmitter asks the server for a packet. A server can choose any
//!   packet (fair queuing) and drop at the head (CoDel). A packet that waits costs one more event: the end of
//!   the transmission before it.
//!
//! # How to add a discipline
//!
//! 1. Write one file in this folder: a specification with the parameters, which implements [`Discipline`],
//!    and the queue at run time, which implements [`Admission`] or [`Server`].
//! 2. Add one line to `disciplines!` below. It declares the module, exports the public items of the file and
//!    adds the variant of [`QueueSpec`].
//!
//! A discipline from outside this crate implements the same traits and is used through [`QueueSpec::custom`].

mod admission;
mod line;
mod policed;
mod server;
#[cfg(test)]
mod testing;
mod waiting;

pub use admission::{Admission, Offered, Verdict};
pub use server::{Drops, Queued, Server};

use crate::fault::SpecFault;
use des::{Random, Streams};
pub(crate) use line::Line;
use std::fmt::Debug;
use std::sync::Arc;
use units::{BitRate, ByteCount};

/// One line for each discipline: its variant, its specification, and its file in this folder.
macro_rules! disciplines {
    ($($(#[$doc:meta])* $variant:ident($spec:ident) in $file:ident;)+) => {
        $(mod $file; pub use $file::*;)+

        /// Discipline of a queue with its parameters.
        #[derive(Clone, Debug, PartialEq)]
        pub enum QueueSpec {
            $($(#[$doc])* $variant($spec),)+
            /// A discipline from outside this crate: see [`QueueSpec::custom`].
            Custom(Custom),
        }

        impl QueueSpec {
            fn discipline(&self) -> &dyn Discipline {
                match self {
                    $(QueueSpec::$variant(spec) => spec,)+
                    QueueSpec::Custom(custom) => &*custom.0,
                }
            }
        }
    };
}

disciplines! {
    /// First in, first out; a packet that does not fit is dropped.
    DropTail(Limit) in drop_tail;
    /// First in, first out, with room for the bytes that the link sends in a given time.
    DropTailDelay(DelayLimit) in delay_limit;
    /// Random early detection.
    Red(RedSpec) in red;
    /// Controlled delay.
    Codel(CodelSpec) in codel;
    /// A queue under CoDel for each flow; the queues send in turn.
    FqCodel(FqCodelSpec) in fq_codel;
    /// Proportional integral controller, enhanced.
    Pie(PieSpec) in pie;
}

/// The specification of a queue: it checks its parameters and builds queues.
///
/// Its `Debug` form must show all parameters: the laboratory stores runs under the hash of that form.
pub trait Discipline: Debug + Send + Sync {
    /// Checks the parameters.
    ///
    /// # Errors
    /// [`SpecFault`] with the first wrong parameter.
    fn check(&self) -> Result<(), SpecFault> {
        Ok(())
    }

    /// Builds the queue of one direction of a link.
    fn build(&self, site: &Site<'_>) -> Queue;
}

/// Data of the link direction for which a queue is built.
#[derive(Debug)]
pub struct Site<'a> {
    /// Mean rate of the transmitter; `None` if transmissions take no time.
    pub rate: Option<BitRate>,
    pub(crate) streams: &'a Streams,
    pub(crate) name: &'a str,
}

impl Site<'_> {
    /// The random stream of this queue, which is named after the queue. Each call returns the same stream
    /// from its beginning.
    pub fn random(&self) -> Random {
        self.streams.stream(&format!("queue {}", self.name))
    }
}

/// A queue at run time, of one of the two kinds of disciplines.
#[derive(Debug)]
pub struct Queue(pub(crate) Kind);

/// The queues at run time. Drop-tail and RED have their own variants, so that the compiler inlines them.
#[derive(Debug)]
pub(crate) enum Kind {
    DropTail(Limit),
    Red(Box<Red>),
    Admission(Box<dyn Admission>),
    Server(Box<Line>),
}

impl Queue {
    /// A first-in-first-out queue whose discipline decides on arrival.
    pub fn admission(admission: impl Admission + 'static) -> Self {
        Queue(Kind::Admission(Box::new(admission)))
    }

    /// A queue whose discipline owns the packets.
    pub fn server(server: impl Server + 'static) -> Self {
        Queue(Kind::Server(Box::new(Line::new(Box::new(server)))))
    }
}

/// A discipline from outside this crate. Two values are equal if they are clones of one another.
#[derive(Clone, Debug)]
pub struct Custom(Arc<dyn Discipline>);

impl PartialEq for Custom {
    fn eq(&self, other: &Custom) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl QueueSpec {
    /// A queue with a discipline from outside this crate.
    pub fn custom(discipline: impl Discipline + 'static) -> Self {
        QueueSpec::Custom(Custom(Arc::new(discipline)))
    }

    /// Checks the parameters.
    ///
    /// # Errors
    /// [`SpecFault`] with the first wrong parameter.
    pub fn check(&self) -> Result<(), SpecFault> {
        self.discipline().check()
    }

    pub(crate) fn build(&self, site: &Site<'_>) -> Kind {
        self.discipline().build(site).0
    }
}

impl Default for QueueSpec {
    /// Drop-tail with room for 100 packets.
    fn default() -> Self {
        QueueSpec::DropTail(Limit::Packets(100))
    }
}

/// The waiting packets at one instant; bytes are those of IP packets, without framing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Backlog {
    /// Number of packets.
    pub packets: u64,
    /// Sum of the sizes of the packets.
    pub bytes: ByteCount,
}
