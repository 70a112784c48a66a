#!/bin/sh
# regress.sh: a step of CI that fails when a server has become slower than it was at the last good run. What has not
# changed is measured beside it, in turns: what else the machine does hits both, and the ratio is what counts.
#
#     $ mkdir www; seq 10 >www/ten
#     $ regress.sh rows
#     nothing to compare with yet
#     $ regress.sh rows | tail -n 1
#     … worse, … better, … as before, … not judged
set -e

"$1" unix:subject.sock 2>subject.log &
subject=$!
site www unix:steady.sock 2>steady.log &
steady=$!
trap 'kill $subject $steady; wait' EXIT
until [ -S subject.sock ] && [ -S steady.sock ]; do sleep 0.1; done

# In earnest a sample takes a second, and each has a processor of its own (taskset).
eddy-bench get steady=unix:steady.sock:/ten subject=unix:subject.sock:/rows/10 --against steady \
	--connections 4 --rounds 7 --time 50ms --warmup 0.02 --no-system-calls --json after.json >report.txt

# Its exit status is 1 where something is worse by more than noise: then the last good run stays what it was.
if [ -e before.json ]; then
	eddy-bench compare before.json after.json --tolerance 10
else
	echo 'nothing to compare with yet'
fi
mv after.json before.json
