#!/usr/bin/env bash
# `pip install .`, offline, into an environment of its own: the package is imported from outside of
# the tree, runs, shows, and goes without a trace.
#   pip_install_test.sh PYTHON FOLDER [MODULE]
# With MODULE, the compiled one of a build of these sources, nothing is compiled.
set -euo pipefail
python=$1 work=$2 module=${3-}
root=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.." && pwd)

"$python" -c 'import importlib.util as i; exit(not all(map(i.find_spec, ["pip", "setuptools", "wheel", "venv"])))' || {
  echo 'skipped: needs python3-pip, python3-setuptools and python3-wheel'
  exit 77
}
list_tree() { (cd "$root" && find . -path ./build -prune -o -path ./.git -prune -o -path ./viewer/node_modules -prune -o -name __pycache__ -prune -o -print | sort); }

rm -rf -- "$work"
mkdir -p -- "$work"
before=$(list_tree)
"$python" -m venv --system-site-packages --without-pip "$work/venv"
export PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_INDEX=1 PIP_NO_CACHE_DIR=1 PYTHONDONTWRITEBYTECODE=1
unset PYTHONPATH
STICTION_ENGINE=$module "$work/venv/bin/python" -m pip install --quiet --no-build-isolation "$root"
packages=$(echo "$work"/venv/lib/python3*/site-packages)
[[ -f $packages/stiction/py.typed && -f $packages/stiction/__init__.pyi ]]

cd -- "$work"
"$work/venv/bin/python" - "$root" "$packages" <<'PROGRAM'
import sys
import stiction as st

root, packages = sys.argv[1:]
assert st.__file__.startswith(packages), st.__file__
assert st._engine.__file__.startswith(packages), st._engine.__file__
run = st.load(root + "/examples/woodpecker.json").simulation(h=1e-4).run(0.2)
assert len(run) == 2001 and run.certificate.max() < 1e-9
try:
    print(run.show())
except st.IoError as error:  # without Node.js there is no page
    assert "not built" in str(error), error
print(st.__version__, run)
PROGRAM
"$work/venv/bin/python" -m pip uninstall --quiet --yes stiction
left=$(find "$packages" -iname '*stiction*')
[[ -z $left ]] || { echo "uninstalling leaves $left"; exit 1; }
after=$(list_tree)
[[ $before == "$after" ]] || { diff <(echo "$before") <(echo "$after"); exit 1; }
