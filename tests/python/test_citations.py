"""What to cite."""

import re

import windgrove as wg
from windgrove.citations import references


def test_every_entry_is_whole():
    for key, entry in references().items():
        assert entry.count("{") == entry.count("}"), key
        assert re.search(r"author\s*=", entry) and re.search(r"title\s*=", entry), key


def test_a_grown_tree_cites_how_it_was_grown():
    text = wg.cite(wg.grow_tree("oak"))
    assert "runions2007" in text and "shinozaki1964" in text and "stam1999" not in text


def test_a_wind_cites_its_solver_and_each_entry_once():
    wind = wg.Wind((1, 0, 0), cells=(4, 4, 4), levels=1)
    text = wg.cite(wind, wind)
    assert text.count("{stam1999,") == 1 and "fedkiw2001" in text
    assert text.startswith("@software{windgrove,")


def test_without_objects_everything_is_listed():
    assert all(key in wg.cite() for key in references())


def test_every_key_that_a_class_names_exists():
    from windgrove import citations

    known = references()
    for keys in (*citations._BY_CLASS.values(), *citations._BY_FORMAT.values()):
        assert set(keys) <= set(known)
