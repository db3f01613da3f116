#!/bin/sh
# Starts Postgres or Redis. Postgres is always durable. Redis stores nothing on disk.
set -eu

data=/var/lib/signalcast/pg

make_cluster() {
	: "${POSTGRES_PASSWORD:?is required to create the database}"
	rm -rf "$data.new" # from an interrupted first start
	umask 077
	printf '%s' "$POSTGRES_PASSWORD" >/tmp/password
	initdb -D "$data.new" -U postgres --pwfile=/tmp/password \
		--auth=scram-sha-256 --encoding=UTF8 --locale=C --data-checksums >/dev/null
	rm -f /tmp/password
	echo 'host all all all scram-sha-256' >>"$data.new/pg_hba.conf"
	echo 'CREATE DATABASE signalcast' | postgres --single -D "$data.new" postgres >/dev/null
	mv "$data.new" "$data"
}

case "${1:-}" in
postgres)
	[ -s "$data/PG_VERSION" ] || make_cluster
	exec postgres -D "$data" \
		-c listen_addresses='*' -c unix_socket_directories=/tmp \
		-c max_connections=200 -c shared_buffers=128MB \
		-c password_encryption=scram-sha-256 -c log_statement=none
	;;
redis)
	: "${REDIS_PASSWORD:?is required}"
	# noeviction: evicting a key would lose a rate limit.
	exec redis-server - <<-END
		requirepass $REDIS_PASSWORD
		save ""
		appendonly no
		dir /tmp
		maxmemory 256mb
		maxmemory-policy noeviction
		protected-mode no
	END
	;;
*)
	echo "usage: entry postgres|redis" >&2
	exit 2
	;;
esac
