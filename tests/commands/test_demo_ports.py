"""A demo's parts listen on ports that no other program takes meanwhile."""

import socket

import pytest

from punto.commands.demo.configuration import free_port


def test_a_port_that_was_chosen_is_only_for_the_part_that_listens_there():
    port = free_port()

    with socket.socket() as other, pytest.raises(OSError, match="in use"):
        other.bind(("127.0.0.1", port))
    with socket.create_server(("127.0.0.1", port)) as part, socket.create_connection(part.getsockname()):
        assert free_port() != port
