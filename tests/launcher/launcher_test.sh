#!/usr/bin/env bash
# What the launcher promises, tried on a made-up tree with made-up tools: dpkg-query, apt-get, sudo,
# id, cmake, ninja and ctest are small scripts that write down how they were called. Needs neither
# rights nor network nor compiler. Every test is a function named after its claim.
# shellcheck disable=SC2016,SC2317 # scripts are written from quotes; tests are called by name
set -uo pipefail
here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
unset "${!STICTION_@}"
scratch=$(mktemp -d)
trap 'rm -rf -- "$scratch"' EXIT
tree="$scratch/a tree" # the space is part of the test
tools=$scratch/tools
state=$scratch/state # what the made-up machine has, and what was done to it
export state

tool() { # name; the script is on stdin
  {
    printf '#!/usr/bin/env bash\nprintf "%%s\\n" "%s $*" >>"$state/calls"\n' "$1"
    cat
  } >"$tools/$1"
  chmod +x "$tools/$1"
}

make_tools() {
  # Installed are the packages named in $state/installed; installable those of $state/mirror, once
  # the package lists have been fetched.
  tool dpkg-query <<<'while read -r p; do echo "installed $p"; done <"$state/installed"'
  tool apt-get <<'TOOL'
[[ $DEBIAN_FRONTEND == noninteractive ]] || exit 100
echo "made-up apt output"
if [[ " $* " == *" update "* ]]; then touch "$state/lists"; exit; fi
[[ -e $state/lists && -e $state/mirror ]] || exit 100
for word; do [[ $word == -* ]] || echo "$word" >>"$state/installed"; done
TOOL
  tool sudo <<<'[[ -e $state/sudo ]] || exit 1; [[ $1 == -n ]] && shift; exec "$@"'
  tool id <<<'cat "$state/uid"'
  tool cmake <<'TOOL'
while (($#)); do [[ $1 == --preset ]] && preset=$2; [[ $1 == -S ]] && source=$2; shift; done
[[ ! -e $state/cmake-fails ]] || { echo "made-up configure error"; exit 1; }
mkdir -p "$source/build/$preset/bin" && touch "$source/build/$preset/build.ninja"
TOOL
  tool ninja <<'TOOL'
[[ $1 == -C ]] && cd "$2" || exit 1
[[ ! -e $state/ninja-fails ]] || { echo "FAILED: made-up.o"; exit 1; }
mkdir "$state/building" || touch "$state/built-on-top"
sleep 0.1
rmdir "$state/building"
[[ -e bin/stiction ]] && { echo "ninja: no work to do."; exit; }
echo "[1/1] made-up linking"
for name in stiction stiction_bench stiction_bench_scenes; do cp "$state/program" "bin/$name"; done
TOOL
  tool ctest <<<'echo "made-up ctest in ${PWD##*/}"; [[ ! -e $state/fails-in-${PWD##*/} ]]'
  tool clang-format <<<'[[ ! -e $state/ugly ]]'
  tool clang-tidy <<<'[[ ! -e $state/unclean ]]'
  tool node <<<'cat "$state/node" 2>/dev/null || exit 127'
  tool npm <<'TOOL'
[[ ! -e $state/npm-fails ]] || { echo "made-up npm error"; exit 1; }
[[ $1 != run ]] || { mkdir -p ../build/viewer && touch ../build/viewer/index.html; }
TOOL
}

# A clean clone on a machine of a user without rights, where nothing is installed.
begin() {
  rm -rf -- "$tree" "$tools" "$state"
  mkdir -p "$tree/cmake" "$tree/tests/format" "$tree/tests/base" "$tree/src" "$tools" "$state"
  mkdir -p "$tree/viewer/src" "$tree/docs" "$tree/examples"
  printf '```python\nopen("woodpecker.png", "w").write("drawn")\n```\n' >"$tree/docs/python.md"
  touch "$tree"/viewer/{package-lock.json,index.html,vite.config.js,tsconfig.json,src/main.ts}
  cp "$here/../../stiction" "$tree/"
  cp "$here/../../cmake/packages.txt" "$tree/cmake/"
  cp "$here/../format/check_format.sh" "$tree/tests/format/"
  touch "$tree/CMakePresets.json" "$tree/tests/base/x_test.cc" "$tree/src/x.cc"
  touch -d '1 minute ago' "$tree/CMakePresets.json"
  touch "$state/installed" "$state/calls"
  echo 1000 >"$state/uid"
  make_tools
  cat >"$state/program" <<'PROGRAM'
#!/usr/bin/env bash
printf '[%s]' "$PWD" "$@"
exit 7
PROGRAM
  chmod +x "$state/program"
}
be_root() { echo 0 >"$state/uid"; }
have_packages() { # purposes
  local purpose package _
  while read -r purpose package _; do
    [[ " $* " == *" $purpose "* ]] && echo "$package" >>"$state/installed"
  done <"$tree/cmake/packages.txt"
}

launch() { # words → out, err, status; stdin is no terminal
  (cd "$scratch" && PATH=$tools:$PATH "$tree/stiction" "$@") \
    >"$scratch/out" 2>"$scratch/err" </dev/null
  status=$?
  out=$(<"$scratch/out")
  err=$(<"$scratch/err")
}

failures=0
fail() {
  echo "$claim: $1"
  printf 'status %s\nstdout: %s\nstderr: %s\n' "$status" "$out" "$err"
  sed 's/^/called: /' "$state/calls"
  failures=$((failures + 1))
}
expect_status() { [[ $status == "$1" ]] || fail "expected exit status $1"; }
expect_err() { [[ $err == *"$1"* ]] || fail "expected on stderr: $1"; }
expect_out() { [[ $out == "$1" ]] || fail "expected on stdout exactly: $1"; }
expect_call() { grep -q -e "$1" "$state/calls" || fail "expected a call like: $1"; }
expect_no_call() { ! grep -q -e "$1" "$state/calls" || fail "expected no call like: $1"; }

test_without_rights_says_the_apt_line() {
  launch run x.json
  expect_status 2
  expect_err $'\n  sudo apt-get install -y --no-install-recommends g++ cmake ninja-build '
  expect_out ''
  expect_no_call '^apt-get'
  expect_no_call '^cmake'
}

test_apt_line_names_only_what_is_missing() {
  have_packages run
  sed -i '/^libfmt-dev$/d' "$state/installed"
  launch run x.json
  expect_status 2
  [[ $err == *'--no-install-recommends libfmt-dev' ]] || fail "only libfmt-dev is missing"
}

test_no_install_holds_for_root_too() {
  be_root
  STICTION_NO_INSTALL=1 launch run x.json
  expect_status 2
  expect_err 'sudo apt-get install -y'
  expect_no_call '^apt-get'
}

test_root_installs_and_refreshes_lists_only_when_needed() {
  be_root
  touch "$state/mirror" "$state/lists"
  launch run x.json
  expect_status 7
  expect_call '^apt-get .*install -y --no-install-recommends g++ '
  expect_no_call '^apt-get .*update'
  rm "$state/lists"
  : >"$state/installed"
  rm -rf "$tree/build"
  launch run x.json
  expect_status 7
  expect_call '^apt-get .*update'
}

test_sudo_without_password_is_used() {
  touch "$state/sudo" "$state/mirror" "$state/lists"
  launch run x.json
  expect_status 7
  expect_call '^sudo -n env DEBIAN_FRONTEND=noninteractive apt-get '
}

test_failing_apt_shows_its_log_and_the_line() {
  be_root
  launch run x.json
  expect_status 2
  expect_err 'made-up apt output'
  expect_err 'sudo apt-get install -y'
}

test_program_gets_words_directory_and_answers_unchanged() {
  have_packages run
  launch run 'two words' --json ''
  expect_status 7
  expect_out "[$scratch][run][two words][--json][]"
  launch
  expect_out "[$scratch]"
}

test_second_start_configures_nothing_and_says_nothing() {
  have_packages run
  launch run
  expect_err 'configuring release'
  expect_err 'building release'
  : >"$state/calls"
  launch run
  [[ -z $err ]] || fail "expected silence"
  expect_no_call '^cmake'
  grep -q 'made-up linking' "$tree/build/log/build-release.log" || fail "the build log was lost"
}

test_works_through_a_symbolic_link() {
  have_packages run
  ln -s "$tree/stiction" "$scratch/link"
  out=$(PATH=$tools:$PATH "$scratch/link" run 2>/dev/null)
  rm "$scratch/link"
  expect_out "[$PWD][run]"
}

test_running_needs_no_test_packages_and_testing_configures_again() {
  have_packages run
  launch run
  expect_call '^cmake .*-DSTICTION_BUILD_TESTS=OFF -DSTICTION_BUILD_PYTHON=OFF -DSTICTION_BUILD_BENCH=OFF'
  launch test
  expect_status 2
  expect_err '--no-install-recommends libgtest-dev'
  have_packages test view python
  launch test
  expect_status 0
  expect_call '^cmake .*--preset release -DSTICTION_BUILD_TESTS=ON -DSTICTION_BUILD_PYTHON=ON -DSTICTION_BUILD_BENCH=OFF'
  launch bench
  expect_status 2
  expect_err '--no-install-recommends libbenchmark-dev'
}

test_moved_tree_is_configured_afresh() {
  have_packages run
  launch run
  sed -i '1s/.*/another place/' "$tree/build/release/.configured"
  : >"$state/calls"
  launch run
  expect_call '^cmake .*--fresh'
}

test_failed_build_shows_the_log_and_exits_with_1() {
  have_packages run
  touch "$state/ninja-fails"
  launch run
  expect_status 1
  expect_err 'FAILED: made-up.o'
  expect_err "$tree/build/log/build-release.log"
  expect_out ''
}

test_failed_configuration_is_tried_again() {
  have_packages run
  touch "$state/cmake-fails"
  launch run
  expect_status 1
  expect_err 'made-up configure error'
  rm "$state/cmake-fails"
  launch run
  expect_status 7
}

test_two_launchers_do_not_build_on_top_of_each_other() {
  have_packages run
  local i
  for i in 1 2 3; do
    PATH=$tools:$PATH "$tree/stiction" run >"$state/out$i" 2>/dev/null &
  done
  wait
  [[ ! -e $state/built-on-top ]] || fail "two builds ran at once"
  for i in 1 2 3; do
    [[ $(<"$state/out$i") == "[$PWD][run]" ]] || fail "launcher $i did not run the program"
  done
}

test_testing_ends_with_the_release_tests() {
  have_packages run test view python
  launch test -R Something
  expect_status 0
  expect_out $'made-up ctest in sanitize\nmade-up ctest in release'
  expect_call '^ninja -C .*/build/sanitize '
  expect_call '^ctest .*test-sanitize.log -LE ^slow\$ .*-R Something'
  expect_call '^ctest .*-LE ^slow\$ -R Something'
  expect_no_call '^clang-tidy'
}

test_test_all_includes_slow_tests_and_lint() {
  have_packages run test view python
  launch test --all
  expect_status 0
  expect_no_call '^ctest .*test-release.log .*slow'
  expect_call '^clang-tidy'
}

test_every_failing_part_is_named_at_the_end() {
  have_packages run test view python
  touch "$tree/src/x.h" "$state/ugly" "$state/fails-in-sanitize"
  launch test
  expect_status 1
  expect_out $'made-up ctest in sanitize\nmade-up ctest in release'
  [[ ${err##*$'\n'} == *'FAILED: format; tests under sanitizers '* ]] || fail "expected a last word"
  rm "$state/ugly" "$state/fails-in-sanitize"
  touch "$state/fails-in-release" "$state/unclean"
  printf '```python\n1 / 0\n```\n' >"$tree/docs/python.md"
  launch test --all
  expect_status 1
  [[ ${err##*$'\n'} == *'FAILED: first program in Python; lint; tests '* ]] || fail "expected a last word"
}

test_without_apt_it_names_what_it_needs_and_tries() {
  local name path
  rm "$tools/apt-get" "$tools/dpkg-query"
  for name in bash cat cp env flock grep mkdir nproc readlink rm rmdir sed sleep tail touch; do
    path=$(command -v "$name") && ln -s "$path" "$tools/$name"
  done
  launch_foreign() {
    out=$(PATH=$tools "$tree/stiction" run 2>"$scratch/err")
    status=$?
    err=$(<"$scratch/err")
  }
  launch_foreign
  expect_status 2
  expect_err 'not found: g++'
  expect_err 'libeigen3-dev'
  tool g++ <<<''
  launch_foreign
  expect_status 7
  expect_out "[$PWD][run]"
  launch_foreign
  [[ -z $err ]] || fail "expected to be told only once"
}

test_viewing_builds_the_page_when_it_changed() {
  have_packages run view
  launch view x.h5
  expect_status 7
  expect_out "[$scratch][view][x.h5]"
  expect_call '^npm ci '
  expect_call '^npm run build'
  : >"$state/calls"
  launch view x.h5
  expect_no_call '^npm'
  echo change >"$tree/viewer/src/main.ts"
  launch view x.h5
  expect_call '^npm run build'
  echo another >"$tree/viewer/src/main.ts"
  touch "$state/npm-fails"
  launch view x.h5
  expect_status 1
  expect_err 'made-up npm error'
}

test_a_run_that_is_viewed_builds_the_page() {
  have_packages run view
  launch run x.json --view
  expect_status 7
  expect_call '^npm run build'
  launch run x.json
  expect_status 7
}

test_node_from_elsewhere_counts_if_it_is_new_enough() {
  have_packages run
  echo v16.20.0 >"$state/node"
  launch view x.h5
  expect_status 2
  [[ $err == *'--no-install-recommends nodejs' ]] || fail "only nodejs is missing"
  echo v18.19.0 >"$state/node"
  launch view x.h5
  expect_status 7
  launch run x.json
  expect_status 7
}

test_comparisons_go_on_without_the_other_engines() {
  have_packages run bench
  launch bench scenes --list
  expect_status 7
  expect_err 'not compared with, since not installed: libode-dev'
  expect_no_call '^apt-get'
  have_packages peers
  launch bench scenes --list
  expect_status 7
  [[ $err != *'not compared'* ]] || fail 'expected nothing to be missed'
}

test_results_are_the_full_reproduction_with_tables_for_the_documents() {
  have_packages run
  launch results --threads 1
  expect_status 7
  expect_out "[$scratch][reproduce][all][--full][--out][$tree/build/results][--docs][$tree/docs/results][--threads][1]"
  mkdir -p "$tree/docs/results"
  have_packages bench
  launch results bench
  expect_status 7
  grep -q 'ended with status 7' "$tree/docs/results/benchmarks.md" ||
    fail 'expected the tables of the benchmarks'
}

test_python_is_debians_with_the_package_on_its_path() {
  have_packages run
  launch python -c 'import sys'
  expect_status 2
  expect_err '--no-install-recommends python3-dev pybind11-dev'
  have_packages python
  launch python -c 'import sys; print(sys.argv[1], sys.path[1].rpartition("a tree/")[2], sys.executable)' x
  expect_status 0
  expect_out 'x build/release/python /usr/bin/python3'
  expect_call '^cmake .*-DSTICTION_BUILD_PYTHON=ON'
  expect_call '^ninja .* stiction_python$'
}

for claim in $(compgen -A function test_); do
  begin
  out='' err='' status=''
  "$claim"
done
((failures == 0)) && echo "all claims hold"
exit $((failures > 0))
