"""Readers of the pieces on a table: the table reader, and one package for each kind of piece.

Example: enrol a piece set from two pictures, then read a third.

>>> from pathlib import Path
>>> from vision.calibration import load_calibration
>>> from vision.frame import Frame
>>> from vision.images import load_image
>>> from vision.layout.table import default_layout
>>> from vision.locating.location import locate
>>> from vision.readers.blocks.enrolment import enrol
>>> from vision.readers.protocols import EnrolmentPicture
>>> from vision.readers.registry import table_reader
>>> pictures, layout = Path("tests/data/photoreal"), default_layout("deblockle")
>>> camera = load_calibration(pictures / "webcam.json")
>>> def taught(colour):
...     image = load_image(pictures / f"enrol-{colour}.jpg")
...     tops = zip("abcdef", ("star", "stop", "cross", "x", "slider", "hoops"))
...     position = {f"{column}4": (colour, top) for column, top in tops}
...     return EnrolmentPicture(image, camera, locate(image, camera, layout).pose, position)
>>> reader = table_reader(camera, layout, enrol([taught("gold"), taught("teal")], layout.board))
>>> reading = reader.read(Frame(load_image(pictures / "010.jpg"), time_s=0.0, sequence=0))
>>> {place: seen.best[0] for place, seen in reading.places.items() if seen.best[0] != "empty"}
{'d1': 'teal block, cross up', 'e7': 'teal block, hoops up', 'g7': 'gold block, stop up'}
"""
