"""Registers a base station with the MME on this host: S1 Setup (3GPP TS 36.413, section 8.7.3) over SCTP."""

import socket

import sctp
from pycrate_asn1dir import S1AP

PLMN = bytes.fromhex("00f110")  # 001-01
S1_SETUP = 17
S1AP_PPID = 18
PORT = 36412

ies = [
    (59, "reject", ("Global-ENB-ID", {"pLMNidentity": PLMN, "eNB-ID": ("macroENB-ID", (1, 20))})),
    (64, "reject", ("SupportedTAs", [{"tAC": (12345).to_bytes(2, "big"), "broadcastPLMNs": [PLMN]}])),
    (137, "ignore", ("PagingDRX", "v128")),
]
request = {"protocolIEs": [{"id": ie, "criticality": then, "value": value} for ie, then, value in ies]}
message = {"procedureCode": S1_SETUP, "criticality": "reject", "value": ("S1SetupRequest", request)}
pdu = S1AP.S1AP_PDU_Descriptions.S1AP_PDU
pdu.set_val(("initiatingMessage", message))

mme = sctp.sctpsocket_tcp(socket.AF_INET)
mme.events.data_io = True
mme.connect(("127.0.0.1", PORT))
mme.sctp_send(pdu.to_aper(), ppid=socket.htonl(S1AP_PPID))
_, flags, answer, info = mme.sctp_recv(4096)
pdu.from_aper(answer)
outcome, content = pdu.get_val()
print(pdu.to_asn1())
assert flags & sctp.FLAG_EOR and socket.ntohl(info.ppid) == S1AP_PPID
assert outcome == "successfulOutcome" and content["value"][0] == "S1SetupResponse"
