#!/usr/bin/env bash
# Checks and benchmarks on a GPU, in under ten minutes.
#
#   benchmarks/gpu.sh [OUT]                 OUT: folder for JSON and logs, $OUT or runs/gpu by default
#   benchmarks/gpu.sh --dry [OUT]           the same on the CPU at tiny sizes, to try this script
#   benchmarks/gpu.sh --table2=FILES [OUT]  only 180 s of ecord-solve a graph (the paper's Table 2);
#                                           FILES: paths with commas between them
#
# Python is $PYTHON, .venv/bin/python or python3, whichever first has JAX; where none has, one is
# made in .venv-gpu, which needs the network. Exit status: 1 where there is no GPU or a step failed.
set -u
cd "$(dirname "$0")/.." || exit 1

dry=0 table2=
while [[ "${1:-}" == --* ]]; do
  case "$1" in
    --dry) dry=1 ;;
    --table2=*) table2="${1#--table2=}" ;;
    *) echo "gpu.sh: unknown option $1" >&2; exit 1 ;;
  esac
  shift
done
out="${1:-${OUT:-runs/gpu}}"
mkdir -p "$out" || exit 1
export PYTHONPATH="$PWD"

find_python() {
  local candidate
  for candidate in "${PYTHON:-}" .venv/bin/python python3 .venv-gpu/bin/python; do
    [[ -n "$candidate" ]] && "$candidate" -c "import jax" 2>/dev/null && echo "$candidate" && return
  done
  python3 -m venv .venv-gpu >/dev/null 2>&1 &&
    .venv-gpu/bin/python -m pip --quiet install ".[cuda,experiments,test]" >/dev/null 2>&1 &&
    echo .venv-gpu/bin/python
}
python="$(find_python)"
if [[ -z "$python" ]]; then
  echo "gpu.sh: no Python with JAX, and none could be installed" >&2
  exit 1
fi
if ((dry)); then
  export JAX_PLATFORMS=cpu
elif ! "$python" -c "import sys, jax; sys.exit(jax.default_backend() != 'gpu')" 2>/dev/null; then
  echo "gpu.sh: no GPU here, or a JAX without CUDA; --dry tries the script on the CPU" >&2
  exit 1
fi

failed=0 steps=
# step NAME SECONDS COMMAND...: runs it, at most so long; its output goes to OUT/NAME.log.
step() {
  local name="$1" limit="$2" start=$SECONDS status
  shift 2
  timeout "$limit" "$@" >"$out/$name.log" 2>&1
  status=$?
  ((status == 0)) || failed=1
  echo "$name: exit $status after $((SECONDS - start)) s; $(tail -n 1 "$out/$name.log" | cut -c -100)"
  steps+="${steps:+, }\"$name\": {\"exit\": $status, \"seconds\": $((SECONDS - start))}"
  echo "{$steps}" >"$out/steps.json"
}
benchmark() {
  local name="$1" limit="$2"
  shift 2
  step "$name" "$limit" "$python" "benchmarks/$name.py" --out="$out" "$@"
}

if [[ -n "$table2" ]]; then
  for graph in ${table2//,/ }; do
    name="table2-$(basename "$graph" | cut -d. -f1)"
    step "$name" 240 "$python" -m ecord_jax.cli.solve "$graph" \
      --time_limit="$((dry ? 3 : 180))" --trajectories=20 --seed=0 --json
  done
  exit $failed
fi

nvidia-smi >"$out/nvidia-smi.txt" 2>&1
if ((dry)); then
  step tests 200 "$python" -m pytest -q -m "not slow" -p no:cacheprovider tests/env
  benchmark throughput 200 --vertices=30 --trajectories=2 --policies=plain,gru --repeats=1
  benchmark roofline 100 --vertices=30 --policies=gru --repeats=1 --triad=1000 --matrix=64
  benchmark memory 100 --table_vertices=30 --policies=plain --vertices=0
else
  # By default a GPU multiplies float32 in TF32, which the tolerances of the tests do not mean.
  JAX_DEFAULT_MATMUL_PRECISION=highest step tests 140 "$python" -m pytest -q -m "not slow" \
    -p no:cacheprovider tests/env tests/networks tests/search/test_rollout.py \
    tests/search/test_sampling.py tests/baselines/test_eco_dqn.py
  benchmark check 60
  benchmark throughput 200 --trajectories=1,20,500 --repeats=5
  benchmark roofline 50 --vertices=10000,100000 --triad=268435456 --matrix=8192
  benchmark train_step 70
  benchmark memory 70 --vertices=500000 --edges=1500000 --seconds=30
fi
exit $failed
