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
stack=${STACK:-portal}
# What is not named is removed from the stack (--prune), and the database must not be.
case " $* " in
  *stack-database.yaml*) ;;
  *)
    if docker service inspect "${stack}_database" > /dev/null 2>&1; then
      echo "The stack $stack has the service ${stack}_database, which this would remove: add" \
        "-c packaging/stack-database.yaml, or remove it first (docker service rm)." >&2
      exit 78
    fi
    ;;
esac
# A new certificate is no other release: without PORTAL_IMAGE the image stays what it is.
if [ -z "${PORTAL_IMAGE:-}" ]; then
  format='{{.Spec.TaskTemplate.ContainerSpec.Image}}'
  running=$(docker service inspect --format "$format" "${stack}_api" 2> /dev/null) || running=
  if [ -n "$running" ]; then
    # Whole, with its digest: a name or a tag alone may mean another release by now.
    PORTAL_IMAGE=$running
    export PORTAL_IMAGE
    echo "PORTAL_IMAGE is not set: the stack stays with $PORTAL_IMAGE."
  fi
fi
name_of() { cat "$@" | sha256sum | cut -c1-12; }
SETTINGS=$(name_of packaging/portal.env catalog.yaml)
FRONT=$(name_of packaging/portal.pem packaging/front.cfg)
export SETTINGS FRONT
exec docker stack deploy --prune -c packaging/stack.yaml "$@" "$stack"
