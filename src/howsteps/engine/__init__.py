"""Cache, executors and events: what stages run on."""
