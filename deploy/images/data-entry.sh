#!/bin/sh
# Starts Postgres, Redis or another program of the image, with the arguments and variables of the official images:
# POSTGRES_PASSWORD, POSTGRES_DB and PGDATA.
set -eu

make_cluster() {
	: "${POSTGRES_PASSWORD:?is required to create the database}"
	rm -rf "$PGDATA.new" # from an interrupted first start
	umask 077
	printf '%s' "$POSTGRES_PASSWORD" >/tmp/password
	initdb -D "$PGDATA.new" -U postgres --pwfile=/tmp/password \
		--auth=scram-sha-256 --encoding=UTF8 --locale=C --data-checksums >/dev/null
	rm -f /tmp/password
	echo 'host all all all scram-sha-256' >>"$PGDATA.new/pg_hba.conf"
	if [ "${POSTGRES_DB:-postgres}" != postgres ]; then
		echo "CREATE DATABASE \"$POSTGRES_DB\"" | postgres --single -D "$PGDATA.new" postgres >/dev/null
	fi
	mv "$PGDATA.new" "$PGDATA"
}

if [ "${1:-}" = postgres ]; then
	[ -s "$PGDATA/PG_VERSION" ] || make_cluster
	shift
	set -- postgres -c listen_addresses='*' "$@"
fi
exec "$@"
