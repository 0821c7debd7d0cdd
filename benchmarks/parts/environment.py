"""Restarts a benchmark in the project's environment, so that any Python 3.11 or newer can start it.

Standard library only, since the environment may not exist yet.
"""

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
ENVIRONMENT, LOCK = ROOT / ".venv-check", ROOT / "requirements-check.txt"
NEEDED = ("cv2", "numpy", "click", "rich", "pydantic", "gpiozero", "matplotlib", "apsw")


def enter_environment(module_name: str) -> None:
    """If libraries are missing, restart the program in the environment of ``./check``, which is made if needed.

    Does nothing unless ``module_name`` is ``__main__``. Like the command ``referee``, a benchmark does its matrix
    products in one thread.
    """
    if module_name == "__main__":
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    if module_name != "__main__" or all(importlib.util.find_spec(name) for name in NEEDED):
        return
    python = ENVIRONMENT / "bin" / "python"
    if Path(sys.prefix).resolve() == ENVIRONMENT.resolve():
        sys.exit(f"the environment in {ENVIRONMENT.name} lacks a library; delete that folder and start again")
    up_to_date = python.exists() and (ENVIRONMENT / "lock.txt").read_bytes() == LOCK.read_bytes()
    if not up_to_date:
        maker = ROOT / "scripts" / "make_environment.py"
        made = subprocess.run([sys.executable, "-I", str(maker), str(ENVIRONMENT), str(LOCK)], check=False)
        if made.returncode != 0:
            sys.exit(made.returncode)
    os.execv(python, [str(python), *sys.argv])
