#!/bin/sh
# Deploys the stack of stack.yaml, or what has changed of it, from a manager of the Swarm:
#
#   sh packaging/deploy-stack.sh [-c packaging/stack-database.yaml] [options]
#
# Options are those of `docker stack deploy`.
set -eu
cd "$(dirname "$0")/.."
for file in packaging/portal.env packaging/portal.pem; do
  if [ ! -s "$file" ]; then
    echo "There is no $file: packaging/stack.yaml says what is in it." >&2
    exit 78
  fi
done
name_of() { cat "$@" | sha256sum | cut -c1-12; }
SETTINGS=$(name_of packaging/portal.env catalog.yaml)
FRONT=$(name_of packaging/portal.pem packaging/front.cfg)
export SETTINGS FRONT
exec docker stack deploy --prune -c packaging/stack.yaml "$@" "${STACK:-portal}"
