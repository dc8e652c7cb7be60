"""Where candidates run: emulated on the host, on a GPU; one protocol."""
