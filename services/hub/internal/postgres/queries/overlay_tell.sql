-- Tells the channel of an overlay, and that of its operator, how it stands. $1 handle, $2 now.
INSERT INTO outbox (type, at, handle, topic, data)
SELECT 'overlay.updated', o.updated_at, o.handle, 'overlay:' || o.handle, CASE
    WHEN o.market_id IS NULL OR o.expires_at <= $2 THEN '{"marketId":null}'
    ELSE (jsonb_strip_nulls(jsonb_build_object(
        'marketId', o.market_id, 'name', o.name, 'streamerId', o.handle, 'updatedAt', stamp(o.updated_at),
        'annotation', o.annotation, 'closesAt', stamp(o.closes_at))) || jsonb_build_object('yesPct', o.yes_pct, 'slug', o.slug))::text
    END
FROM shown_overlays o WHERE o.handle = $1
