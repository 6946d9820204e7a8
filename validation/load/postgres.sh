#!/bin/sh
# postgres.sh PORT CLUSTER [OPTION…] serves a copy of a cluster, as the user postgres if this user is root.
port=$1 data=$2
shift 2
set -- "$(pg_config --bindir)/postgres" -D "$data" -p "$port" -k "" -h 127.0.0.1 "$@"
if [ "$(id -u)" = 0 ]; then
  chmod 755 "$(dirname "$data")"
  chown -R postgres "$data"
  set -- setpriv --reuid=postgres --regid=postgres --clear-groups "$@"
fi
chmod 700 "$data"
exec "$@"
