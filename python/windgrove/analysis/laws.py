"""Published laws of sway frequency against the size of trees, as data."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

PREDICTORS = {
    "dbh_h2": ("DBH / H^2", "1/m"),
    "inverse_h": ("1 / H", "1/m"),
    "inverse_sqrt_h": ("1 / sqrt(H)", "m^-1/2"),
}


@dataclass(frozen=True)
class PublishedLaw:
    """frequency = intercept + slope x, with DBH and H in m and the frequency in Hz.

    Attributes
    ----------
    name : str
        Short, for legends.
    predictor : str
        "dbh_h2", "inverse_h" or "inverse_sqrt_h".
    intercept, slope : float
        Hz, and Hz over the unit of the predictor.
    r2 : float
        NaN where it is not known.
    trees : int
        0 where it is not known.
    source : str
        Where the data are from and who fitted.
    verified : bool
        False for coefficients that were quoted from memory and not seen in print.
    """

    name: str
    predictor: str
    intercept: float
    slope: float
    r2: float
    trees: int
    source: str
    verified: bool = True

    def frequency(self, height: ArrayLike, dbh: ArrayLike | None = None) -> NDArray[np.float64]:
        """Hz, for heights and diameters in m."""
        return self.intercept + self.slope * predictor(self.predictor, height, dbh)


def predictor(name: str, height: ArrayLike, dbh: ArrayLike | None = None) -> NDArray[np.float64]:
    """The predictor of that name, from heights and diameters at breast height in m."""
    h = np.asarray(height, dtype=np.float64)
    if name == "inverse_h":
        return 1 / h
    if name == "inverse_sqrt_h":
        return 1 / np.sqrt(h)
    if name == "dbh_h2":
        if dbh is None:
            raise ValueError("dbh: the predictor DBH/H^2 needs diameters")
        return np.asarray(dbh, dtype=np.float64) / h**2
    raise ValueError(f"predictor: expected one of {', '.join(PREDICTORS)}; got {name!r}")


_FIELD = (
    "own fit to the field table of 58 broadleaves (UK, Amazon, Borneo) of Jackson et al. 2019, "
    "repository TobyDJackson/WindAndTrees_NaturalFrequencies"
)
_ELEMENTS = (
    "own fit to the finite-element frequencies of scanned trees of Jackson et al. 2019, same "
    "repository"
)

LAWS: tuple[PublishedLaw, ...] = (
    PublishedLaw("field broadleaves", "dbh_h2", 0.1481, 45.3, 0.165, 58, _FIELD),
    PublishedLaw("field broadleaves", "inverse_h", 0.1096, 1.671, 0.261, 58, _FIELD),
    PublishedLaw("field broadleaves", "inverse_sqrt_h", 0.0407, 0.688, 0.271, 58, _FIELD),
    PublishedLaw("finite elements, no gravity", "dbh_h2", -0.0393, 311.6, 0.602, 1082, _ELEMENTS),
    PublishedLaw("finite elements with gravity", "dbh_h2", -0.0921, 323.0, 0.621, 970, _ELEMENTS),
    PublishedLaw(
        "conifers",
        "dbh_h2",
        0.0766,
        312.19,
        float("nan"),
        602,
        "Moore and Maguire 2004, Trees 18: 195-203; 3.1219 with DBH in cm",
        verified=False,
    ),
)


def published_laws(predictor: str | None = None) -> tuple[PublishedLaw, ...]:
    """All laws, or those over one predictor."""
    if predictor is not None and predictor not in PREDICTORS:
        raise ValueError(f"predictor: expected one of {', '.join(PREDICTORS)}; got {predictor!r}")
    return tuple(law for law in LAWS if predictor in (None, law.predictor))
