"""Builds the Python package with CMake: `pip install . --no-build-isolation` works offline with
Debian's packages (cmake/packages.txt, purposes run and python; python3-pip and python3-setuptools)."""

import os
import re
import subprocess
import sys
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

ROOT = Path(__file__).resolve().parent
VERSION = re.search(r"project\(stiction VERSION ([\d.]+)", (ROOT / "CMakeLists.txt").read_text())[1]


class CMakeBuild(build_ext):
    """Compiles the one extension by the project's own build."""

    def build_extension(self, ext):
        target = Path(self.get_ext_fullpath(ext.name)).resolve()
        build = Path(self.build_temp).resolve()
        build.mkdir(parents=True, exist_ok=True)
        generator = ["-G", "Ninja"] if not os.environ.get("CMAKE_GENERATOR") else []
        subprocess.check_call(
            [
                "cmake", "-S", str(ROOT), "-B", str(build), *generator,
                "-DCMAKE_BUILD_TYPE=Release", "-DSTICTION_BUILD_PYTHON=ON",
                "-DSTICTION_BUILD_APP=OFF", "-DSTICTION_BUILD_TESTS=OFF", "-DSTICTION_BUILD_BENCH=OFF",
                f"-DPython3_EXECUTABLE={sys.executable}", f"-Dstiction_python_dir={target.parent}",
                "-DSTICTION_PYTHON_LINKS=OFF",
            ]
        )  # fmt: skip
        jobs = os.environ.get("STICTION_JOBS") or str(len(os.sched_getaffinity(0)))
        subprocess.check_call(["cmake", "--build", str(build), "--target", "stiction_python", "-j", jobs])


setup(
    version=VERSION,
    packages=["stiction"],
    package_dir={"stiction": "python/stiction"},
    package_data={"stiction": ["*.pyi", "py.typed"]},
    ext_modules=[Extension("stiction._engine", sources=[])],
    cmdclass={"build_ext": CMakeBuild},
)
