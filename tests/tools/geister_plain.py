"""A client of the Geister competition that knows nothing of nebel: it plays at random.

    python geister_plain.py SEED PORT [PORT ...]

One game at each port of this machine, one after another; then a JSON list of the last lines.
"""

from __future__ import annotations

import json
import random
import socket
import sys


class Plain:
    """The protocol by hand."""

    def __init__(self, port: int, greeted: bool = True) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=10)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.lines = self.socket.makefile("rb", newline=b"\r\n")
        if greeted:
            assert self.read() == "SET?"

    def read(self) -> str:
        """The next line; nothing: the server has closed."""
        try:
            line = self.lines.readline()
        except ConnectionError:
            return ""
        assert line == b"" or line.endswith(b"\r\n")
        return line[:-2].decode()

    def send(self, line: str | bytes) -> None:
        self.socket.sendall(line if isinstance(line, bytes) else f"{line}\r\n".encode())

    def ask(self, line: str) -> str:
        self.send(line)
        return self.read()

    def close(self) -> None:
        self.lines.close()
        self.socket.close()

    def __enter__(self) -> Plain:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def some_move(board: str, dice: random.Random) -> str:
    """A legal move, from the 48 characters alone."""
    own = {(int(board[i]), int(board[i + 1])): (board[i + 2], "ABCDEFGH"[i // 3]) for i in range(0, 24, 3) if int(board[i]) < 6}
    moves = []
    for (x, y), (colour, letter) in own.items():
        for way, (dx, dy) in {"N": (0, -1), "E": (1, 0), "WEST": (-1, 0), "S": (0, 1)}.items():
            to = (x + dx, y + dy)
            inside = 0 <= to[0] < 6 and 0 <= to[1] < 6
            leaves = colour == "B" and y == 0 and ((x == 0 and way in ("N", "WEST")) or (x == 5 and way in ("N", "E")))
            if leaves or (inside and to not in own):
                moves.append(f"MOV:{letter},{way}")
    return dice.choice(moves)


def plain_game(port: int, seed: int) -> str:
    """A whole game at random; the last line."""
    dice = random.Random(seed)
    with Plain(port) as client:
        assert client.ask("SET:" + "".join(dice.sample("ABCDEFGH", 4))) == "OK "
        line = client.read()
        while line[:2] in ("MO", "OK"):  # the other may go at any time, and then a move has no answer
            if line[:4] == "MOV?":
                client.send(some_move(line[4:], dice))
            line = client.read()
        assert line[:4] in ("WON:", "LST:", "DRW:")
        assert len(line) == 52
        assert "u" not in line[4:]
        assert client.read() == ""
    return line


if __name__ == "__main__":
    first, *ports = (int(word) for word in sys.argv[1:])
    print(json.dumps([plain_game(port, first + number) for number, port in enumerate(ports)]))
