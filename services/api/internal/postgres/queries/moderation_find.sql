-- Whether a thing of kind $1 with the id $2 exists.
SELECT CASE $1::text
    WHEN 'signal' THEN EXISTS (SELECT FROM signals WHERE id = CASE WHEN $1 = 'signal' THEN $2::text::uuid END
            UNION ALL SELECT FROM unconfirmed_signals WHERE signal_id = CASE WHEN $1 = 'signal' THEN $2::text::uuid END)
    WHEN 'event' THEN EXISTS (SELECT FROM signal_events WHERE id = CASE WHEN $1 = 'event' THEN $2::text::uuid END)
    WHEN 'profile' THEN EXISTS (SELECT FROM users WHERE handle = $2)
    WHEN 'market' THEN EXISTS (SELECT FROM markets WHERE market_id = $2)
    ELSE EXISTS (SELECT FROM stations WHERE station_id = $2 AND deleted_at IS NULL) END
