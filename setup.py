"""Builds the Python package with CMake: `pip install . --no-build-isolation` works offline with
Debian's packages (cmake/packages.txt, purposes run and python; python3-pip and python3-setuptools).
All that is made on the way is below build/pip.

Environment: STICTION_JOBS=N       compiles N files at once.
             STICTION_ENGINE=FILE  takes this compiled module, of the same sources, and builds none."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

ROOT = Path(__file__).resolve().parent
VERSION = re.search(r"project\(stiction VERSION ([\d.]+)", (ROOT / "CMakeLists.txt").read_text())[1]
WORK = Path("build") / "pip"  # relative: setuptools wants it so


class CMakeBuild(build_ext):
    """Compiles the one extension by the project's own build, and takes the page of the viewer along
    if it is built."""

    def build_extension(self, ext):
        target = Path(self.get_ext_fullpath(ext.name)).resolve()
        target.parent.mkdir(parents=True, exist_ok=True)
        if os.environ.get("STICTION_ENGINE"):
            shutil.copy(os.environ["STICTION_ENGINE"], target)
        else:
            self.compile_module(target)
        page = ROOT / "build" / "viewer" / "index.html"
        if page.exists():
            shutil.copy(page, target.parent / "viewer.html")

    def compile_module(self, target):
        build = Path(self.build_temp).resolve()
        build.mkdir(parents=True, exist_ok=True)
        generator = ["-G", "Ninja"] if not os.environ.get("CMAKE_GENERATOR") else []
        subprocess.check_call(
            [
                "cmake", "-S", str(ROOT), "-B", str(build), *generator,
                "-DCMAKE_BUILD_TYPE=Release", "-DSTICTION_BUILD_PYTHON=ON",
                "-DSTICTION_BUILD_APP=OFF", "-DSTICTION_BUILD_TESTS=OFF", "-DSTICTION_BUILD_BENCH=OFF",
                f"-DPython3_EXECUTABLE={sys.executable}", f"-Dstiction_python_dir={target.parent}",
                "-DSTICTION_PYTHON_LINKS=OFF", "-DSTICTION_JOIN_SOURCES=ON",
            ]
        )  # fmt: skip
        jobs = os.environ.get("STICTION_JOBS") or str(len(os.sched_getaffinity(0)))
        subprocess.check_call(["cmake", "--build", str(build), "--target", "stiction_python", "-j", jobs])


os.chdir(ROOT)
WORK.mkdir(parents=True, exist_ok=True)
setup(
    version=VERSION,
    packages=["stiction"],
    package_dir={"stiction": "python/stiction"},
    package_data={"stiction": ["*.pyi", "py.typed"]},
    ext_modules=[Extension("stiction._engine", sources=[])],
    cmdclass={"build_ext": CMakeBuild},
    options={
        "build": {"build_base": str(WORK)},
        "egg_info": {"egg_base": str(WORK)},
        "bdist_wheel": {"bdist_dir": str(WORK / "wheel")},
    },
)
