-- Voids unconfirmed calls and empties their text: those on the markets $1, and those filed
-- before $2. $3 now.
UPDATE unconfirmed_signals SET denied_at = $3, text_take = NULL, channel_id = NULL, media_asset_id = NULL
WHERE denied_at IS NULL AND (market_id = ANY ($1::text[]) OR created_at < $2)
