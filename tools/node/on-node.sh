#!/bin/sh
# on-node.sh VERSION COMMAND: runs a command, and the programs that it starts, on Node 24 or 20.19.
set -eu
folder=$(node "$(dirname "$0")/folder.mjs" "$1")
shift
PATH=$folder:$PATH
export PATH
exec "$@"
