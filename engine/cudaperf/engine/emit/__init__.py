"""The user's files: a `.cu` with a drop-in host function and a device entry point, and the `.h` that declares both."""
