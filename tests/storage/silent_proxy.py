"""A way to a server that can fall silent: connections stay open, and nothing passes any more."""

from __future__ import annotations

import contextlib
import select
import socket
import threading


class SilentProxy:
    """Listens on a port of this machine and passes everything on to the server's Unix socket."""

    def __init__(self, server: str) -> None:
        self._server = server
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        self._silenced: set[int] = set()
        self._connections = 0
        self.silent = False  # nothing passes on any connection
        threading.Thread(target=self._accept, daemon=True).start()

    def silence(self) -> None:
        """All connections of today fall silent; new ones work."""
        self._silenced.update(range(self._connections))

    def close(self) -> None:
        self._listener.close()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                threading.Thread(target=self._pass, args=(client, self._connections), daemon=True).start()
                self._connections += 1

    def _pass(self, client: socket.socket, number: int) -> None:
        server = socket.socket(socket.AF_UNIX)
        server.connect(self._server)
        with contextlib.suppress(OSError), client, server:
            while True:
                for ready in select.select([client, server], [], [], 0.1)[0]:
                    data = ready.recv(65536)
                    if not data:
                        return
                    if number not in self._silenced and not self.silent:
                        (server if ready is client else client).sendall(data)
