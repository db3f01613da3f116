SELECT id, handle, provider, remote_id, key_hash, hls_url, label, latency, created_at, rotated_at, version
FROM ingest_streams WHERE handle = $1
