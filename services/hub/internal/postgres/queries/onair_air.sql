-- Puts a session on the air, or takes it off. $1 id, $2 address, null for none.
UPDATE live_sessions SET hls_url = $2, aired = aired OR $2::text IS NOT NULL WHERE id = $1
