"""``python -m windgrove`` is the command ``windgrove``."""

from .cli import main

raise SystemExit(main())
