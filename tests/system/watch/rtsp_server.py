"""Serves a film that comes by HTTP as H.264 by RTSP, to who knows the password. For the system's Python.

Run: /usr/bin/python3 rtsp_server.py PORT USER PASSWORD FILM_ADDRESS
"""

import sys
from typing import Any

import gi

gi.require_version("Gst", "1.0")
gi.require_version("GstRtspServer", "1.0")
from gi.repository import GLib, Gst, GstRtspServer  # noqa: E402 - their versions are chosen first


def main(port: str, user: str, password: str, film: str) -> None:
    """Serve until this process is killed; prints a line when it listens."""
    Gst.init(None)
    server: Any = GstRtspServer.RTSPServer()
    server.set_address("127.0.0.1")
    server.set_service(port)
    may_watch = GstRtspServer.RTSPToken()
    may_watch.set_string("media.factory.role", "watcher")
    auth = GstRtspServer.RTSPAuth()
    auth.add_basic(GstRtspServer.RTSPAuth.make_basic(user, password), may_watch)
    server.set_auth(auth)
    factory = GstRtspServer.RTSPMediaFactory()
    # Each picture is as good as the other: by a rate, those that a busy machine sends in a burst would be blurred.
    factory.set_launch(
        f'( souphttpsrc is-live=true do-timestamp=true user-id={user} user-pw={password} location="{film}" '
        "! multipartdemux single-stream=true ! jpegdec ! videoconvert ! video/x-raw,format=I420 "
        "! x264enc tune=zerolatency speed-preset=ultrafast pass=quant quantizer=18 key-int-max=5 "
        "! rtph264pay name=pay0 pt=96 )"
    )
    factory.add_role_from_structure(
        Gst.Structure.from_string("watcher, media.factory.access=true, media.factory.construct=true")[0]
    )
    server.get_mount_points().add_factory("/film", factory)
    server.attach(None)
    print("listens", flush=True)
    GLib.MainLoop().run()


main(*sys.argv[1:])
