#!/bin/sh
# Prints settings for compose.production.yaml with new secrets. Store the output where only you can read it.
# MASK_SECRET must never change once there are operators.
#
#   umask 077; mkdir -p .local; deploy/images/env.sh > .local/compose.env
#
# Set the URLs and the identity provider in the environment of this script, or edit the file.
set -eu

secret() { od -An -vN32 -tx1 /dev/urandom | tr -d ' \n'; }

for name in POSTGRES_PASSWORD API_DB_PASSWORD HUB_DB_PASSWORD CLOCK_DB_PASSWORD REDIS_PASSWORD \
	LINK_SECRET MASK_SECRET WEBHOOK_SECRET_KEY CHECKPOINT_KEY SESSION_SECRETS SUCCESSOR_SECRETS ADMIN_SECRET CRON_SECRET; do
	echo "$name=$(secret)"
done
echo "HUB_KEYS=[{\"seed\":\"$(secret)\",\"notBefore\":\"$(date -u +%Y-%m-%dT00:00:00Z)\"}]"
echo "HUB_URL=${HUB_URL:-}"
echo "API_URL=${API_URL:-}"
echo "CLOCK_URL=${CLOCK_URL:-}"
echo "HLS_URL=${HLS_URL:-}" # public URL of the video origin; empty: no video
echo "ORIGIN_LISTEN=${HLS_URL:+:8083}" # listener of the origin, only with HLS_URL
echo "IDP_PROVIDERS=${IDP_PROVIDERS:-}"
echo "IDP_LOGIN_URL=${IDP_LOGIN_URL:-}"
