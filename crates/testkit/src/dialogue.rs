use crate::{Ending, Ledger, Script, Speaker, World};
use units::{Instant, Span};

/// An exchange of messages between two speakers over one association.
///
/// Speaker 0 connects. Both send the messages of their scripts as fast as their send buffers accept them;
/// then one of them shuts the association down.
pub struct Dialogue<'a> {
    /// The messages that speakers 0 and 1 send.
    pub scripts: [&'a Script; 2],
    /// Index of the speaker that shuts down.
    pub closer: usize,
    /// False: the closer shuts down when both speakers have received all messages. True: the closer shuts
    /// down as soon as its send buffer has accepted its last message. All messages accepted before the
    /// shutdown must still be delivered.
    pub hasty: bool,
    /// Maximum duration of the exchange.
    pub limit: Span,
}

impl Dialogue<'_> {
    /// Runs the exchange and returns the time at which the association has ended on both sides.
    ///
    /// # Errors
    /// A message was lost, duplicated, changed or out of order; the shutdown was not graceful; or the limit
    /// passed.
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
                endings if !closing => {
                    return Err(format!("the association ended before the shutdown: {endings:?}"));
                }
                [Some(Ending::Graceful), Some(Ending::Graceful | Ending::Aborted)]
                | [Some(Ending::Aborted), Some(Ending::Graceful)] => {
                    let unheard = [0, 1].map(|n| said[1 - n] - ledgers[n].heard());
                    return if unheard == [0, 0] {
                        Ok(world.now())
                    } else {
                        Err(format!("accepted messages that were not delivered: {unheard:?}"))
                    };
                }
                [Some(Ending::Graceful), None] | [None, Some(Ending::Graceful)] => {}
                endings => return Err(format!("the shutdown was not graceful: {endings:?}")),
            }
        }
        let heard = ledgers.map(|ledger| ledger.heard());
        let endings = [speakers[0].ending(), speakers[1].ending()];
        Err(format!(
            "not finished in time: {said:?} messages accepted, {heard:?} delivered, endings {endings:?}"
        ))
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
            ledgers[host].hear(stream, &bytes).map_err(|what| format!("speaker {host} received: {what}"))?;
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
