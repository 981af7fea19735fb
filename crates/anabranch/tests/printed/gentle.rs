use anabranch::cc::{ControlFactory, Growth, LossBased, LossKind, Snapshot, WindowPolicy};
use anabranch::{ByteCount, Config};

/// n paths grow together as fast as one does; a loss halves the window of its own path.
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
