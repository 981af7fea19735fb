"""Joins text room 1234 of a Janus on this host by a data channel, and sends a long message there."""

import asyncio
import json
import urllib.request

from aiortc import RTCPeerConnection, RTCSessionDescription

BASE = "http://127.0.0.1:8088/janus"
LENGTH = 20_000
ROOM = 1234


def call(path: str, body: dict | None = None) -> dict:
    """Asks Janus: POST with a body, otherwise GET."""
    data = None if body is None else json.dumps(body | {"transaction": "t"}).encode()
    request = urllib.request.Request(BASE + path, data, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=15) as answer:
        return json.load(answer)


async def main() -> None:
    """Connects, joins the room, and waits until the message comes back."""
    session = (await asyncio.to_thread(call, "", {"janus": "create"}))["data"]["id"]
    attach = {"janus": "attach", "plugin": "janus.plugin.textroom"}
    handle = (await asyncio.to_thread(call, f"/{session}", attach))["data"]["id"]
    path = f"/{session}/{handle}"
    await asyncio.to_thread(call, path, {"janus": "message", "body": {"request": "setup"}})
    event = {}
    while "jsep" not in event:
        event = await asyncio.to_thread(call, f"/{session}?maxev=1")

    peer = RTCPeerConnection()
    back = asyncio.get_running_loop().create_future()
    channel = peer.createDataChannel("JanusDataChannel")

    @channel.on("open")
    def opened() -> None:
        for request in ({"textroom": "join", "username": "me"}, {"textroom": "message", "text": "x" * LENGTH}):
            channel.send(json.dumps(request | {"room": ROOM, "transaction": "t"}))

    @channel.on("message")
    def message(text: str) -> None:
        told = json.loads(text)
        print(text[:200])
        if told["textroom"] == "message" and not back.done():
            back.set_result(told["text"])

    await peer.setRemoteDescription(RTCSessionDescription(event["jsep"]["sdp"], event["jsep"]["type"]))
    await peer.setLocalDescription(await peer.createAnswer())
    jsep = {"type": peer.localDescription.type, "sdp": peer.localDescription.sdp}
    await asyncio.to_thread(call, path, {"janus": "message", "body": {"request": "ack"}, "jsep": jsep})
    assert await asyncio.wait_for(back, 15) == "x" * LENGTH
    await peer.close()


asyncio.run(main())
