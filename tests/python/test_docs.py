"""Programs in documents run; the stubs name what there is."""

import ast
import inspect
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import stiction as st

ROOT = Path(__file__).resolve().parents[2]


def blocks(page):
    return re.findall(r"```python\n(.*?)```", (ROOT / page).read_text(), re.S)


def has_viewer():
    try:
        return bool(st.replay.read_page())
    except st.IoError:
        return False


@pytest.mark.parametrize("page", ["docs/python.md", "README.md"])
def test_programs_of_a_page_run_one_after_the_other(page, tmp_path, monkeypatch):
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)
    names = {}
    assert blocks(page)
    for number, block in enumerate(blocks(page), 1):
        if ".show()" in block and not has_viewer():
            continue
        exec(compile(block, f"{page}, program {number}", "exec"), names)


def test_the_program_in_c_reads_a_recording(tmp_path, woodpecker):
    """docs/recording-format.md: a reader that knows HDF5 and nothing of us."""
    program = re.search(r"```c\n(.*?)```", (ROOT / "docs/recording-format.md").read_text(), re.S)[1]
    (tmp_path / "read.c").write_text(program)
    compiled = subprocess.run(
        ["cc", "read.c", "-o", "read", "-I/usr/include/hdf5/serial", "-lhdf5_serial"],
        cwd=tmp_path, capture_output=True, text=True,
    )  # fmt: skip
    if "hdf5.h" in compiled.stderr or "-lhdf5_serial" in compiled.stderr:
        pytest.skip("HDF5 is not where Debian has it")
    assert compiled.returncode == 0, compiled.stderr
    run = woodpecker.simulation().run(0.01, out=tmp_path / "run.h5")
    said = subprocess.run(["./read", "run.h5"], cwd=tmp_path, capture_output=True, text=True).stdout
    assert said == f"{len(run)} steps, {len(run.contacts)} rows of contacts\n"


def arguments_of(node):
    """(names, names with a default) of a function of the stub."""
    arguments = node.args
    named = [a.arg for a in (*arguments.args, *arguments.kwonlyargs)]
    optional = [a.arg for a in arguments.args[len(arguments.args) - len(arguments.defaults):]]
    optional += [a.arg for a, d in zip(arguments.kwonlyargs, arguments.kw_defaults) if d is not None]
    return named, optional


def assert_same_signature(node, function, name):
    try:
        parameters = inspect.signature(function).parameters.values()
    except ValueError:
        return  # of the compiled module
    given = [p for p in parameters if p.kind not in (p.VAR_KEYWORD, p.VAR_POSITIONAL)]
    named, optional = arguments_of(node)
    assert named == [p.name for p in given], name
    assert optional == [p.name for p in given if p.default is not p.empty], name


def test_the_stubs_name_what_there_is():
    stub = ast.parse((ROOT / "python/stiction/__init__.pyi").read_text())
    entries = {getattr(node, "name", None): node for node in stub.body}
    entries |= {node.target.id: node for node in stub.body if isinstance(node, ast.AnnAssign)}
    missing = [name for name in st.__all__ if name not in entries and name != "plot"]
    assert not missing
    for name, node in entries.items():
        if isinstance(node, ast.FunctionDef) and inspect.isfunction(getattr(st, name)):
            assert_same_signature(node, getattr(st, name), name)
        if isinstance(node, ast.ClassDef) and not hasattr(st, name):
            assert name.startswith("_"), name
        elif isinstance(node, ast.ClassDef):
            kind = getattr(st, name)
            members = [member for member in node.body if isinstance(member, ast.FunctionDef)]
            for member in members:
                assert hasattr(kind, member.name), f"{name}.{member.name}"
                real = inspect.getattr_static(kind, member.name)
                if inspect.isfunction(real):
                    assert_same_signature(member, real, f"{name}.{member.name}")
            known = {member.name for member in members}
            known |= {node.target.id for node in node.body if isinstance(node, ast.AnnAssign)}
            public = {m for base in kind.__mro__ if base.__module__.startswith("stiction") for m in vars(base)
                      if not m.startswith("_")}
            assert public <= known | set(dir(Exception)), (name, public - known)


@pytest.mark.slow
def test_the_stubs_are_those_of_the_module(tmp_path):
    """By mypy's own comparison, where Debian's mypy is installed."""
    if subprocess.run([sys.executable, "-c", "import mypy.stubtest"], capture_output=True).returncode != 0:
        pytest.skip("mypy is not installed")
    settings = tmp_path / "mypy.ini"  # the sources themselves are not typed
    settings.write_text("[mypy]\nignore_missing_imports = True\n[mypy-stiction.*]\nignore_errors = True\n")
    out = subprocess.run(
        [sys.executable, "-m", "mypy.stubtest", "stiction", "--mypy-config-file", str(settings),
         "--allowlist", str(ROOT / "tests/python/stubtest_allowlist.txt"), "--ignore-unused-allowlist"],
        capture_output=True, text=True, env={**os.environ, "MYPYPATH": str(Path(st.__file__).parents[1])},
    )  # fmt: skip
    assert out.returncode == 0, out.stdout + out.stderr


def test_everything_public_is_explained():
    for name in st.__all__:
        thing = getattr(st, name)
        if inspect.isfunction(thing) or inspect.isclass(thing):
            assert thing.__doc__, name
