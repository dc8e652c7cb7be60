"""The language server: the only code that may know LSP."""
