"""Programs in documents run; the stubs name what there is."""

import ast
import inspect
import re
from pathlib import Path

import pytest

import stiction as st

ROOT = Path(__file__).resolve().parents[2]


def blocks(page):
    return re.findall(r"```python\n(.*?)```", (ROOT / page).read_text(), re.S)


@pytest.mark.parametrize("page", ["docs/python.md", "README.md"])
def test_programs_of_a_page_run_one_after_the_other(page, tmp_path, monkeypatch):
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)
    names = {}
    assert blocks(page)
    for number, block in enumerate(blocks(page), 1):
        exec(compile(block, f"{page}, program {number}", "exec"), names)


def test_the_stubs_name_what_there_is():
    stub = ast.parse((ROOT / "python/stiction/__init__.pyi").read_text())
    entries = {getattr(node, "name", None): node for node in stub.body}
    entries |= {node.target.id: node for node in stub.body if isinstance(node, ast.AnnAssign)}
    missing = [name for name in st.__all__ if name not in entries and name != "plot"]
    assert not missing
    for name, node in entries.items():
        if isinstance(node, ast.FunctionDef) and inspect.isfunction(getattr(st, name)):
            arguments = node.args
            stubbed = [a.arg for a in (*arguments.args, *arguments.kwonlyargs)]
            real = [
                p.name for p in inspect.signature(getattr(st, name)).parameters.values()
                if p.kind not in (p.VAR_KEYWORD, p.VAR_POSITIONAL)
            ]
            assert stubbed == real, name
        if isinstance(node, ast.ClassDef):
            for member in node.body:
                if isinstance(member, ast.FunctionDef) and not hasattr(st, name):
                    assert name in ("Columns", "CertificateColumns", "EnergyColumns")
                elif isinstance(member, ast.FunctionDef):
                    assert hasattr(getattr(st, name), member.name), f"{name}.{member.name}"


def test_everything_public_is_explained():
    for name in st.__all__:
        thing = getattr(st, name)
        if inspect.isfunction(thing) or inspect.isclass(thing):
            assert thing.__doc__, name
