use anabranch::cc::{ControlFactory, Growth, LossBased, LossKind, Snapshot, WindowPolicy};
use anabranch::{ByteCount, Config};

/// Each of n paths grows by an n-th of the growth of a single flow. A loss halves the window of its path.
#[derive(Debug)]
struct Gentle;

impl WindowPolicy for Gentle {
    fn name(&self) -> &'static str {
        "gentle"
    }

    fn increase(&mut self, growth: Growth, at: &Snapshot<'_>) -> f64 {
        growth.standard / at.coupled().count() as f64
    }

    fn decrease(&mut self, _kind: LossKind, at: &Snapshot<'_>) -> ByteCount {
        at.halved()
    }
}

pub fn config() -> Config {
    let gentle = ControlFactory::new("gentle", |setup| Box::new(LossBased::new(Gentle, setup)));
    Config { congestion_control: gentle.into(), ..Config::recommended() }
}
