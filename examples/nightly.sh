#!/bin/sh
# A nightly run for cron: `0 3 * * * /path/to/nightly.sh`. Each step redoes only what changed; exit 1 says that some
# table failed (named on stdout), and the rest is done.
export SUFFICE_HOME="${SUFFICE_HOME:-/var/lib/suffice}"
status=0
for source in "$@"; do
    suffice ingest "$source" || status=$?
done
suffice enrich || status=$?
suffice index || status=$?
exit $status
