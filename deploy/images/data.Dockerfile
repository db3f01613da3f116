# Image with PostgreSQL 15 and Redis 7 from Debian packages, for machines that
# cannot pull images. Both run as user 65531, who owns only the data directory.
ARG BASE=signalcast/debian:12
FROM ${BASE}
RUN printf '#!/bin/sh\nexit 101\n' >/usr/sbin/policy-rc.d && chmod +x /usr/sbin/policy-rc.d \
	&& apt-get update \
	&& mkdir -p /etc/postgresql-common \
	&& echo 'create_main_cluster = false' >/etc/postgresql-common/createcluster.conf \
	&& DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends postgresql-15 redis-server \
	&& rm -rf /var/lib/apt/lists/* \
	&& groupadd --gid 65531 data && useradd --uid 65531 --gid 65531 --no-create-home --home-dir /var/lib/signalcast data \
	&& install -d -o data -g data -m 0700 /var/lib/signalcast
ENV PATH=/usr/lib/postgresql/15/bin:/usr/local/bin:/usr/bin:/bin
COPY data-entry.sh /entry
USER 65531:65531
STOPSIGNAL SIGINT
ENTRYPOINT ["/entry"]
