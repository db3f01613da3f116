#!/bin/sh
# Prints settings for compose.yaml with fresh secrets. Keep the output where
# only you can read it; MASK_SECRET must never change once there are operators.
#
#   umask 077; mkdir -p .local; deploy/images/env.sh > .local/compose.env
#
# The addresses and the identity provider are yours to set: take them from the
# environment, or edit the file.
set -eu

secret() { od -An -vN32 -tx1 /dev/urandom | tr -d ' \n'; }

for name in POSTGRES_PASSWORD API_DB_PASSWORD HUB_DB_PASSWORD CLOCK_DB_PASSWORD REDIS_PASSWORD \
	LINK_SECRET MASK_SECRET WEBHOOK_SECRET_KEY CHECKPOINT_KEY SESSION_SECRETS SUCCESSOR_SECRETS ADMIN_SECRET CRON_SECRET; do
	echo "$name=$(secret)"
done
echo "HUB_KEYS=[{\"seed\":\"$(secret)\",\"notBefore\":\"$(date -u +%Y-%m-%dT00:00:00Z)\"}]"
echo "HUB_URL=${HUB_URL:-}"
echo "API_URL=${API_URL:-}"
echo "HLS_URL=${HLS_URL:-}" # where viewers find the video; empty: this station takes none
echo "ORIGIN_LISTEN=${HLS_URL:+:8083}" # with it, where the origin listens
echo "IDP_PROVIDERS=${IDP_PROVIDERS:-}"
