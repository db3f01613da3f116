-- A stream in the place of its version before ($12; 0: there is none).
INSERT INTO ingest_streams AS s (handle, id, provider, remote_id, key_hash, hls_url, label, latency, created_at, rotated_at, version)
SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11::bigint
WHERE $12::bigint = 0 OR EXISTS (SELECT 1 FROM ingest_streams WHERE handle = $1)
ON CONFLICT (handle) DO UPDATE
SET provider = excluded.provider, remote_id = excluded.remote_id, key_hash = excluded.key_hash, hls_url = excluded.hls_url,
    label = excluded.label, latency = excluded.latency, rotated_at = excluded.rotated_at, version = excluded.version
WHERE s.version = $12
