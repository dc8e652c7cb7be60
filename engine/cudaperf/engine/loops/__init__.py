"""Loop nests: typed trees, the polyhedral model, dependences and legality. Pure: sets in, data out."""
