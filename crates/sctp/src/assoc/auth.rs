//! AUTH in the packets of an association (`rfc4895#section-6`).

use super::{Association, Peer};
use crate::error::KeyError;
use crate::event::Event;
use crate::ext::Ext;
use crate::ext::auth::{AuthFault, Authentication, SharedKeys, Terms};
use crate::path::PathId;
use std::ops::Range;
use transport::Octets;
use wire::{Auth, Cause, Data, IData, PacketWriter};

/// State of AUTH in an association.
#[derive(Debug, Default)]
pub(super) struct AuthState {
    /// None unless both ends support AUTH.
    agreed: Option<Authentication>,
    shared: SharedKeys,
    /// The identifier of the key of the last authentic packet.
    peer_key: u16,
}

/// Byte range of the AUTH chunk in a packet that is being written; none until a chunk needs one.
pub(super) type AuthPlace = Option<Range<usize>>;

impl Association {
    /// Determines algorithm and keys from both announcements. If the peer announced nothing, AUTH is off.
    pub(super) fn agree_on_auth(&mut self, peer: &Peer) {
        let Some(theirs) = &peer.auth else {
            if let Some(auth) = &mut self.auth {
                auth.agreed = None;
            }
            return;
        };
        let random = self.local.key.random_of(self.local_tag, self.initial_tsn);
        let agreed = Authentication::new(&Terms::ours(self.config(), random), theirs);
        self.auth.get_or_insert_default().agreed = Some(agreed);
    }

    fn agreed(&self) -> Option<&Authentication> {
        self.auth.as_ref()?.agreed.as_ref()
    }

    /// The chunk types that the peer requires to be authenticated; none without AUTH.
    pub(crate) fn peer_auth_chunks(&self) -> Option<Vec<u8>> {
        self.agreed().filter(|_| self.extensions.has(Ext::Auth)).map(|agreed| agreed.demanded().list())
    }

    /// The keys that the user set.
    pub(crate) fn shared_keys(&self) -> Option<&SharedKeys> {
        self.auth.as_ref().map(|auth| &auth.shared)
    }

    /// True if the peer accepts chunks of this type only after an AUTH chunk.
    #[inline]
    fn demands(&self, kind: u8) -> bool {
        self.extensions.has(Ext::Auth) && self.agreed().is_some_and(|agreed| agreed.demands(kind))
    }

    /// Bytes of the AUTH chunk that must precede chunks of these types in a packet. Zero if the packet has
    /// one already, or if none of the types needs it.
    #[inline]
    pub(super) fn auth_len(&self, kinds: &[u8], place: &AuthPlace) -> usize {
        if !self.extensions.has(Ext::Auth) || place.is_some() {
            return 0;
        }
        let needed = kinds.iter().any(|&kind| self.demands(kind));
        self.agreed().filter(|_| needed).map_or(0, Authentication::chunk_len)
    }

    /// The type of the chunks that carry user data.
    #[inline]
    pub(super) fn data_type(&self) -> u8 {
        if self.extensions.has(Ext::Interleaving) { IData::TYPE } else { Data::TYPE }
    }

    /// Writes a chunk of type `kind`, after an AUTH chunk if necessary; false if it does not fit.
    #[inline]
    pub(super) fn push_authenticated<'b>(
        &mut self,
        kind: u8,
        w: &mut PacketWriter<'b>,
        place: &mut AuthPlace,
        write: impl FnOnce(&mut Self, &mut PacketWriter<'b>) -> bool,
    ) -> bool {
        let reserved = match self.auth_len(&[kind], place) {
            0 => None,
            length => match w.reserve(length) {
                Some(reserved) => Some(reserved),
                None => return false,
            },
        };
        let written = write(self, w);
        match reserved {
            Some(reserved) if written => *place = Some(reserved),
            Some(reserved) => w.release(&reserved),
            None => {}
        }
        written
    }

    /// Writes the HMAC and the checksum of a packet.
    #[inline]
    pub(super) fn finish(&self, w: PacketWriter<'_>, place: &AuthPlace) {
        match place {
            None => w.finish(self.checksum),
            Some(place) => self.finish_signed(w, place),
        }
    }

    #[cold]
    fn finish_signed(&self, w: PacketWriter<'_>, place: &Range<usize>) {
        w.finish_with(self.checksum, |packet| {
            if let Some(AuthState { agreed: Some(agreed), shared, .. }) = self.auth.as_deref() {
                agreed.sign(shared, &mut packet[place.start..]);
            }
        });
    }

    /// True if we accept chunks of this type only after an AUTH chunk.
    #[inline]
    pub(super) fn requires_auth(&self, kind: u8) -> bool {
        self.agreed().is_some_and(|agreed| agreed.requires(kind))
    }

    /// Processes an AUTH chunk; false if it and the `rest` of its packet are to be discarded.
    #[cold]
    pub(super) fn on_auth(&mut self, answer: PathId, auth: &Auth<'_>, rest: Octets<'_>) -> bool {
        let Some(AuthState { agreed: Some(agreed), shared, peer_key }) = self.auth.as_deref_mut() else {
            return false;
        };
        match agreed.verify(shared, auth, rest) {
            Ok(()) => {
                if std::mem::replace(peer_key, auth.key_id) != auth.key_id {
                    self.events.auth_key_used(auth.key_id);
                }
                return true;
            }
            Err(AuthFault::Algorithm) => {
                self.report(answer, &Cause::UnsupportedHmac { hmac_id: auth.hmac_id })
            }
            Err(AuthFault::Forged) => {}
        }
        self.unauthenticated += 1;
        false
    }

    /// Counts a chunk that was discarded because nothing authenticated it.
    pub(super) fn note_unauthenticated(&mut self) {
        self.unauthenticated += 1;
    }

    /// Adds or replaces a key.
    pub(crate) fn set_auth_key(&mut self, id: u16, key: &[u8]) -> Result<(), KeyError> {
        self.auth.get_or_insert_default().shared.set(id, key)
    }

    /// Authenticates packets with this key from now on.
    pub(crate) fn activate_auth_key(&mut self, id: u16) -> Result<(), KeyError> {
        self.auth.get_or_insert_default().shared.activate(id)
    }

    /// Ends the use of a key for packets that we send.
    pub(crate) fn deactivate_auth_key(&mut self, id: u16) -> Result<(), KeyError> {
        let sent = self.sender.next_index();
        let done = self.auth.get_or_insert_default().shared.deactivate(id, sent);
        self.tell_unused_keys();
        done
    }

    pub(crate) fn remove_auth_key(&mut self, id: u16) -> Result<(), KeyError> {
        match &mut self.auth {
            Some(auth) => auth.shared.remove(id),
            None => SharedKeys::default().remove(id),
        }
    }

    /// Reports the deactivated keys with which no outstanding data was sent: the user may remove them.
    pub(super) fn tell_unused_keys(&mut self) {
        let first = self.sender.first_index();
        let Some(auth) = &mut self.auth else { return };
        while let Some(id) = auth.shared.next_unused(first) {
            self.events.push(Event::AuthKeyUnused { id });
        }
    }
}

/// True if the first chunk of a packet is AUTH and the second is COOKIE ECHO (`rfc4895#section-6.3`).
pub(crate) fn precedes_cookie(bytes: Octets<'_>) -> bool {
    const AT: usize = wire::CommonHeader::LEN;
    let Some(&[_, _, high, low]) = bytes.head.get(AT..AT + 4) else { return false };
    let next = AT + usize::from(u16::from_be_bytes([high, low])).next_multiple_of(4);
    bytes.head.get(AT) == Some(&Auth::TYPE) && bytes.head.get(next) == Some(&wire::CookieEcho::TYPE)
}
