-- Forgets samples and counts of signals that are older. $1 that time.
WITH sets AS (
    DELETE FROM overlay_sets WHERE at < $1
), gone AS (
    DELETE FROM overlay_signals WHERE market_id IS NULL AND updated_at < $1
)
DELETE FROM live_samples WHERE minute < $1
