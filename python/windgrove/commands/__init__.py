"""One file for each command of `windgrove`: ``add_arguments(parser)`` and ``run(options)``."""
