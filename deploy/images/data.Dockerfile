# Image with PostgreSQL 15 and Redis 7 from Debian packages, for engines that cannot pull the official images. It takes
# the same arguments, variables, users and directories as they do. Its base is a Debian 12 image.
ARG BASE=debian:bookworm-slim
FROM ${BASE}
RUN printf '#!/bin/sh\nexit 101\n' >/usr/sbin/policy-rc.d && chmod +x /usr/sbin/policy-rc.d \
	&& groupadd --gid 999 postgres && useradd --uid 999 --gid 999 --no-create-home --home-dir /var/lib/postgresql postgres \
	&& apt-get update \
	&& mkdir -p /etc/postgresql-common \
	&& echo 'create_main_cluster = false' >/etc/postgresql-common/createcluster.conf \
	&& DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends postgresql-15 redis-server \
	&& rm -rf /var/lib/apt/lists/* \
	&& install -d -o postgres -g postgres -m 1777 /var/lib/postgresql/data /data /run/postgresql
ENV PATH=/usr/lib/postgresql/15/bin:/usr/local/bin:/usr/bin:/bin PGDATA=/var/lib/postgresql/data/cluster
COPY data-entry.sh /entry
LABEL signalcast.data=debian
WORKDIR /data
USER 999:999
STOPSIGNAL SIGINT
ENTRYPOINT ["/entry"]
