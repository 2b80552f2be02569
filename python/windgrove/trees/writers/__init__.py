"""One module a format, each with `encode(tree, *, world) -> bytes`."""
