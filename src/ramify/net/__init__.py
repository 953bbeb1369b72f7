"""Sockets: the shells around what is decided without them."""
