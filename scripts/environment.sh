# shellcheck shell=sh
# Sourced by run and check: finds a Python and makes sure that the project's environment is there and up to date.
# Exit codes: 70 the packages cannot be installed, 71 no usable Python, 72 Python without venv, 73 the folder or a file in
# it cannot be written, 130 stopped with Ctrl-C.

say_and_leave() {
  printf '%s: %s\n' "${0##*/}" "$2" >&2
  exit "$1"
}

python_version() {
  "$1" -c 'import sys; print("%d.%d" % sys.version_info[:2])' 2>/dev/null
}

# find_python VERSION...: sets $python to a Python of one of these versions. If there is none of them, a newer one is
# used where that is allowed, so that a new Python keeps nobody from playing. PYTHON names the one to use instead.
find_python() {
  newer='' found=''
  for candidate in ${PYTHON:+"$PYTHON"} python3 python3.13 python3.12 python3.11; do
    version=$(python_version "$candidate")
    case " $* " in *" ${version:-none} "*) python=$candidate && return ;; esac
    [ -z "$version" ] || found=${found:-"$candidate is Python $version"}
    case $version in 3.1[4-9] | 3.[2-9][0-9]) newer=${newer:-$candidate} ;; esac
    [ -z "${PYTHON:-}" ] || break
  done
  if [ -n "$newer" ] && [ "$allow_newer" = yes ]; then
    python=$newer
    return
  fi
  [ -z "${PYTHON:-}" ] || found=${found:-"PYTHON=$PYTHON does not start"}
  needed="one of Python $*"
  [ "$allow_newer" = no ] || needed="Python $1 or newer"
  say_and_leave 71 "$needed is needed, but ${found:-no python3 was found}; \
install one of $* (on Debian: apt install python3 python3-venv) or name one: PYTHON=/path/to/python3 $0"
}

is_ready() {
  [ -x "$venv/bin/python" ] && cmp -s "$lock" "$venv/lock.txt" || return 1
  [ -z "${PYTHON:-}" ] && return
  made_with=$("$PYTHON" -c 'import sys; print("%d.%d" % sys.version_info[:2], sys.base_prefix)' 2>/dev/null)
  [ "$made_with" = "$(cat "$venv/made-with.txt" 2>/dev/null)" ]
}

# ready_environment NAME LOCK [VERSION...]: makes $root/NAME from $root/LOCK unless it is there and up to date.
ready_environment() {
  # shellcheck disable=SC2154 # the caller sets root
  venv=$root/$1 lock=$root/$2
  is_ready && return
  shift 2
  allow_newer=no
  [ $# -gt 0 ] || { allow_newer=yes && set -- 3.11 3.12 3.13; }
  find_python "$@"
  "$python" -I "$root/scripts/make_environment.py" "$venv" "$lock" || exit $?
}
