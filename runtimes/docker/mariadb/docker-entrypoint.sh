#!/bin/sh
# Fills an empty data folder, then has MariaDB take this process's place. MARIADB_DATABASE,
# MARIADB_USER and MARIADB_PASSWORD (each also by _FILE) are those of the official image.
set -eu
data=/var/lib/mysql

value() {
  eval "file=\${$1_FILE:-}; plain=\${$1:-}"
  if [ -n "$file" ]; then cat "$file"; else printf '%s' "$plain"; fi
}
quoted() { printf '%s' "$1" | sed "s/[\\\\']/\\\\&/g"; }

if [ "${1:-}" = mariadbd ]; then
  if [ ! -d "$data/mysql" ]; then
    # Beside it first: a start that was cut short begins anew.
    rm -rf "$data/.filling"
    cp -r /usr/share/mysql-prepared "$data/.filling"
    mv "$data/.filling"/* "$data/"
    rmdir "$data/.filling"
  fi
  name=$(value MARIADB_DATABASE)
  user=$(value MARIADB_USER)
  password=$(value MARIADB_PASSWORD)
  if [ -n "$user" ]; then
    account="'$(quoted "$user")'@'%'"
    cat >/tmp/init.sql <<SQL
CREATE DATABASE IF NOT EXISTS \`$name\`;
CREATE USER IF NOT EXISTS $account IDENTIFIED BY '$(quoted "$password")';
ALTER USER $account IDENTIFIED BY '$(quoted "$password")';
GRANT ALL ON \`$name\`.* TO $account;
SQL
    shift
    set -- mariadbd --init-file=/tmp/init.sql "$@"
  fi
fi
exec "$@"
