-- Attempts at one token stand in line. What it belongs to is read by the next
-- statement, which sees what the one before in the line did.
SELECT successor_hash FROM refresh_tokens WHERE hash = $1 FOR NO KEY UPDATE
