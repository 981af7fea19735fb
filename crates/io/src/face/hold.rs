use crate::shared::{Command, Hub, NewConnections};
use std::sync::Arc;

/// Keeps the driver thread running as long as this value exists.
#[derive(Debug)]
pub(super) struct Hold {
    pub(super) hub: Arc<Hub>,
    pub(super) new_connections: Arc<NewConnections>,
}

impl Drop for Hold {
    fn drop(&mut self) {
        self.hub.tell(Command::Leave);
    }
}
