"""Contacts that bounce, as somebody recorded them.

The figures were read from the sample records of the project *bouncy-button*
(https://github.com/adamfk/bouncy-button), made with an Arduino Uno that samples its pin every few microseconds: a
rocker switch (Banggood 1276758), and a worn push button that its first sample record does not name. Rounded to
microseconds; blips shorter than two samples are left out unless nothing else happened.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Trace:
    """One operation of a contact.

    Attributes:
        switch: which contact.
        number: which operation of the record.
        closes: whether it closes, or opens.
        edges_us: when the level changes, in microseconds; the first change is to the new level, as is the last.
    """

    switch: str
    number: int
    closes: bool
    edges_us: tuple[int, ...]

    @property
    def lasts_ms(self) -> float:
        """From the first change to the last."""
        return (self.edges_us[-1] - self.edges_us[0]) / 1000


ROCKER = "rocker switch"
WORN = "worn push button"


def _trace(switch: str, number: int, edges: str) -> Trace:
    """Odd operations of the records close the contact, even ones open it."""
    return Trace(switch, number, number % 2 == 1, tuple(int(edge) for edge in edges.split()))


TRACES = (
    _trace(
        ROCKER,
        1,
        "1 5 13 18 227 235 243 251 256 262 269 275 292 302 309 314 322 353 356 363 366 368 371 391 404 413 415 422 429 "
        "449 452 478 481",
    ),
    _trace(ROCKER, 2, "1"),
    _trace(
        ROCKER,
        3,
        "1 6 14 20 187 193 206 209 212 231 234 247 250 258 308 315 320 329 335 344 346 355 358 367 371 378 386 391 394 "
        "407 412 639 642 802 831 902 905 912 915",
    ),
    _trace(ROCKER, 4, "1 3 4"),
    _trace(
        ROCKER,
        31,
        "1 5 12 18 206 213 220 227 232 241 244 253 263 269 315 322 327 336 340 349 354 362 370 377 382 392 394",
    ),
    _trace(
        ROCKER,
        33,
        "1 6 12 18 24 30 35 44 46 52 209 215 221 230 235 238 241 243 246 257 260 270 316 325 327 336 341 351 353 363 "
        "366 375 382 390 392",
    ),
    _trace(
        ROCKER,
        35,
        "1 6 13 19 195 201 207 214 217 228 230 239 241 251 311 318 324 332 338 346 352 358 366 373 379 388 390 424 427 "
        "926 942",
    ),
    _trace(
        ROCKER,
        37,
        "1 6 14 20 188 194 199 201 204 209 214 222 225 242 250 257 311 317 324 331 335 345 348 356 358",
    ),
    _trace(
        WORN,
        3,
        "1 45545 45548 45623 45625 45673 45681 45740 45767 45803 45814 45973 45988 46031 46034 46194 46197 46252 46258 "
        "46360 46370 46433 46443 46491 46493 46674 46707 46765 46792 46838 46846 46910 109746",
    ),
    _trace(WORN, 4, "1 2 48 53 412 473 607 614 737"),
    _trace(WORN, 5, "1 126 231 491 495"),
    _trace(WORN, 6, "1 9005 12684 13643 13645"),
    _trace(WORN, 7, "1 26 28 79 84"),
    _trace(WORN, 8, "1"),
    _trace(WORN, 11, "1 47114 47116 47253 90562"),
    _trace(WORN, 12, "1 2 2151"),
    _trace(WORN, 13, "1 17784 17887 18132 105560"),
    _trace(WORN, 14, "1 2 70"),
    _trace(WORN, 15, "1 76798 125018"),
    _trace(WORN, 16, "1 2 42"),
)
