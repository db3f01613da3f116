-- The first stream of an operator. Every key of the table is waited for: a target would let
-- the other ones fail where two are as quick as each other.
INSERT INTO ingest_streams (handle, id, provider, remote_id, key_hash, hls_url, label, latency, created_at, rotated_at, version)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
ON CONFLICT DO NOTHING
