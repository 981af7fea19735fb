use crate::Hertz;
use crate::decode::{At, table, words};
use cc::ModelState;
use units::{BitRate, Instant, Probability, Span};

table! {
    /// A change of a link or of a flow during the run.
    struct ChangeTable in "[[change]]" {
        /// Time of the change.
        at: Option<At<Instant>>;
        /// State of a congestion control on whose entry the change happens; instead of `at`.
        when: Option<At<WhenTable>>;
        /// Time after which the value that the rest of the file sets holds again; by default never.
        r#for: Option<At<Span>>;
        /// Name of the link, such as `a-b`, for its direction from a to b; `b-a` is the other direction.
        link: Option<At<String>>;
        /// New rate of the link.
        rate: Option<At<BitRate>>;
        /// New propagation delay of the link.
        delay: Option<At<Span>>;
        /// New probability with which the link loses a packet.
        loss: Option<At<Probability>>;
        /// New probability with which the link delays a packet by `reorder_delay`.
        reorder: Option<At<Probability>>;
        /// New additional delay of a reordered packet.
        reorder_delay: Option<At<Span>>;
        /// Name of the flow.
        flow: Option<At<String>>;
        /// New frames per second of the flow's client; "0 Hz": saturated.
        frame_rate: Option<At<Hertz>>;
    }
}

table! {
    /// The entry of a congestion control into a state.
    struct WhenTable in "`when`" {
        /// Name of the flow whose client has the congestion control.
        flow: At<String>;
        /// Number of the path, from 0.
        path: u8 = 0;
        /// The state.
        state: ModelState;
        /// Number of the entry into the state, from 1.
        entry: At<u32> = At { value: 1, span: 0..0 };
        /// Time from the entry into the state to the change.
        after: Span = Span::ZERO;
    }
}

words!(ModelState);
