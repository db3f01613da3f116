-- A stream in the place of its version before ($10).
UPDATE ingest_streams
SET provider = $2, remote_id = $3, key_hash = $4, hls_url = $5, label = $6, latency = $7, rotated_at = $8, version = $9
WHERE handle = $1 AND version = $10
