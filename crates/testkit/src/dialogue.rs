use crate::{Ending, Ledger, Script, Speaker, World};
use units::{Instant, Span};

/// Two speakers with something to say to each other.
///
/// Speaker 0 connects. Both say their lines as fast as they are let, until one of them ends it.
pub struct Dialogue<'a> {
    /// What they say.
    pub scripts: [&'a Script; 2],
    /// Who ends it.
    pub closer: usize,
    /// False: when each has heard all of the other's lines. True: as soon as the closer has said its own; then what
    /// was said by then must be heard all the same.
    pub hasty: bool,
    /// When both have to be done.
    pub limit: Span,
}

impl Dialogue<'_> {
    /// Runs it to its end and answers when that was.
    ///
    /// # Errors
    /// What went wrong: a message lost, twice, changed or out of order; an end that was not graceful; no end in time.
    pub fn run(&self, world: &mut World, speakers: &mut [&mut dyn Speaker; 2]) -> Result<Instant, String> {
        let mut ledgers = [Ledger::new(self.scripts[1]), Ledger::new(self.scripts[0])];
        let mut said = [0, 0];
        let mut closing = false;
        speakers[0].connect(world.now());
        world.flush(0, &mut *speakers[0]);
        let limit = world.now() + self.limit;
        while let Some(host) = world.step(speakers, limit) {
            self.act(host, world, speakers, &mut said, &mut ledgers)?;
            let met = speakers.iter().all(|speaker| speaker.is_connected());
            let done = if self.hasty {
                said[self.closer] == self.scripts[self.closer].lines().len()
            } else {
                ledgers.iter().all(Ledger::is_complete)
            };
            if !closing && met && done {
                closing = true;
                speakers[self.closer].shutdown(world.now());
                world.flush(self.closer, &mut *speakers[self.closer]);
            }
            match [speakers[0].ending(), speakers[1].ending()] {
                [None, None] => {}
                endings if !closing => return Err(format!("an early end: {endings:?}")),
                [Some(Ending::Graceful), Some(Ending::Graceful | Ending::Aborted)]
                | [Some(Ending::Aborted), Some(Ending::Graceful)] => {
                    let unheard = [0, 1].map(|n| said[1 - n] - ledgers[n].heard());
                    return if unheard == [0, 0] {
                        Ok(world.now())
                    } else {
                        Err(format!("said and not heard when all ended: {unheard:?}"))
                    };
                }
                [Some(Ending::Graceful), None] | [None, Some(Ending::Graceful)] => {}
                endings => return Err(format!("no graceful end: {endings:?}")),
            }
        }
        let heard = ledgers.map(|ledger| ledger.heard());
        let endings = [speakers[0].ending(), speakers[1].ending()];
        Err(format!("no end: said {said:?}, heard {heard:?}, endings {endings:?}"))
    }

    fn act(
        &self,
        host: usize,
        world: &mut World,
        speakers: &mut [&mut dyn Speaker; 2],
        said: &mut [usize; 2],
        ledgers: &mut [Ledger<'_>; 2],
    ) -> Result<(), String> {
        let now = world.now();
        let speaker = &mut *speakers[host];
        while let Some((stream, bytes)) = speaker.receive(now) {
            ledgers[host].hear(stream, &bytes).map_err(|what| format!("speaker {host} heard: {what}"))?;
        }
        let script = self.scripts[host];
        while speaker.is_connected()
            && let Some(line) = script.lines().get(said[host])
            && speaker.send(now, line.stream, line.unordered, &script.bytes(said[host]))
        {
            said[host] += 1;
        }
        world.flush(host, speaker);
        Ok(())
    }
}
