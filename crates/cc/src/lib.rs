//! Congestion control over several paths: one controller per association, which sees all its paths.
//!
//! A transport calls a [`CongestionControl`] once per SACK with the bytes acknowledged on each path, and the
//! controller sets the windows. Time is an argument. Nothing is allocated once all paths are added.
//!
//! # How to add a congestion control in one file
//!
//! Papers on loss-based congestion control mostly change two formulas: the increase of the window, and its
//! decrease after a loss. The other rules are the same in all of them: slow start or congestion avoidance,
//! growth of full windows only, counting `partial_bytes_acked`, no growth during fast recovery, one segment
//! after a timeout, decay when idle. [`LossBased`] implements these rules; a [`WindowPolicy`] implements the
//! two formulas:
//!
//! ```
//! use anabranch_cc::{
//!     CongestionControl, Growth, GrowthRule, LossBased, LossKind, Setup, Snapshot, WindowPolicy,
//! };
//! use units::ByteCount;
//!
//! /// Together, n paths grow as fast as a single path; a loss halves only the window of its own path:
//! ///
//! /// increase   c_P = c_P + i/n, where i is the growth of a single path
//! /// decrease   s_P = max(c_P - c_P/2, 4 M)
//! #[derive(Debug)]
//! struct Gentle;
//!
//! impl WindowPolicy for Gentle {
//!     fn name(&self) -> &'static str {
//!         "gentle"
//!     }
//!
//!     fn increase(&mut self, growth: Growth, at: &Snapshot<'_>) -> f64 {
//!         growth.standard / at.coupled().count() as f64
//!     }
//!
//!     fn decrease(&mut self, _kind: LossKind, at: &Snapshot<'_>) -> ByteCount {
//!         at.halved()
//!     }
//! }
//!
//! let peer_rwnd = ByteCount::new(1_000_000);
//! let setup = Setup::sctp(GrowthRule::Rfc9260, ByteCount::new(20), peer_rwnd, 2);
//! let control: Box<dyn CongestionControl> = Box::new(LossBased::new(Gentle, &setup));
//! assert_eq!(control.name(), "gentle");
//! ```
//!
//! A formula reads the [`Snapshot`], which has the state of all paths before the SACK. So its totals do not
//! depend on the order in which the paths are processed. [`Snapshot::coupled`] gives the paths that the
//! control couples, and [`Snapshot::total_cwnd`] the sum of their cwnd, the C of the papers.
//!
//! An SCTP endpoint takes the policy as a [`ControlFactory`], the option `congestion_control` of its
//! configuration:
//! `ControlFactory::new("gentle", |setup| Box::new(LossBased::new(Gentle, setup))).into()`.
//!
//! To give the algorithm a name in scenarios, on the command line and in results, add a file below
//! `src/algorithm/`, with the source and the equations in its header and a function
//!
//! ```ignore
//! pub(super) fn build(setup: &Setup) -> Box<dyn CongestionControl> {
//!     Box::new(LossBased::new(Gentle, setup))
//! }
//! ```
//!
//! and add an entry to the list `algorithms!` in `src/algorithm.rs`:
//!
//! ```ignore
//! #[doc = "Ours: each of n paths grows by an n-th of the growth of a single flow."]
//! Gentle = "gentle" in gentle, alone Standard;
//! ```
//!
//! `cargo test -p anabranch-cc` tests it, and `make build` builds the command `anabranch` and the Python
//! module with it. docs/tutorials/researcher.md shows these steps with the whole file. An algorithm that is
//! merged into this repository also needs a page in docs/controls; `cargo test -p anabranch --test controls`
//! checks the page.
//!
//! The entry also names the algorithm that the new one equals on one path. A property test runs random
//! histories through both and checks that their windows are equal. The same formulas serve SCTP and TCP;
//! [`Setup::rules`] contains the rules by which the transport lets a window grow.
//!
//! Parameters that a paper leaves open are declared beside the formulas with [`transport::options!`], each
//! with its documentation, type, default and valid values. One more line in `src/algorithm.rs` (`gentle:
//! gentle::GentleKnobs = Default::default();`) makes `[sctp.x.knobs.gentle]` a table of scenarios, and the
//! entry `in gentle with gentle` passes them to `build(setup, knobs)`.
//!
//! A delay-based algorithm is a [`DelayPolicy`] for [`DelayBased`]. Any other algorithm implements
//! [`CongestionControl`] itself. The other steps are the same.
//!
//! # Rate-based algorithms
//!
//! If [`CongestionControl::wants_rate_samples`] is true, the transport reports each packet sent, adds a
//! [`RateSample`] and the bytes lost to each acknowledgement, and paces the paths if the controller is paced.
//! The transports keep the state for rate samples and pacing ([`RateEstimator`], [`SendRecord`], [`Pacer`])
//! only for these controllers. [`paced()`] paces the paths of any other controller by their windows.
#![forbid(unsafe_code)]

mod algorithm;
mod choice;
mod control;
mod delay;
mod delay_based;
mod delivery;
mod fraction;
mod hystart;
mod idle;
mod loss_based;
mod model_state;
mod one_way_delay;
mod paced;
mod pacer;
mod policy;
mod rate;
mod resume;
mod setup;
mod shares;
mod window;

pub use algorithm::*;
pub use choice::{ControlChoice, ControlFactory};
pub use control::CongestionControl;
pub use delay_based::{DelayBased, DelayPolicy, Exact};
pub use loss_based::LossBased;
pub use model_state::ModelState;
pub use one_way_delay::OneWayDelay;
pub use paced::paced;
pub use pacer::Pacer;
pub use policy::{Growth, Phase, Snapshot, WindowPolicy};
pub use rate::{RateEstimator, RateSample, SendRecord};
pub use resume::resumed;
pub use setup::{GrowthRule, IdleThreshold, Rules, Setup, TcpRules};
pub use window::{CongestionWindow, LossKind, PathAck, PathView, SavedPath, WindowRule};
