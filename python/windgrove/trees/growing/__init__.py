"""How trees are grown. Only + - * / and square roots, so that every machine grows the same tree."""
