-- The newest quotes. Whoever keeps an answer comes through here first, in the
-- order of ids, so writers of one market stand in line; an answer that is not
-- newer than the kept one is not returned and goes no further. A price that a
-- stream told later than the answer was asked for stays.
INSERT INTO market_quotes AS q (market_id, at, yes_bps, volume, volume_usd, volume24h, liquidity)
SELECT i.market_id, i.at, i.yes_bps, i.volume, i.volume_usd, i.volume24h, i.liquidity
FROM unnest($1::text[], $2::timestamptz[], $3::integer[], $4::double precision[], $5::double precision[],
        $6::double precision[], $7::double precision[])
    AS i (market_id, at, yes_bps, volume, volume_usd, volume24h, liquidity)
LEFT JOIN markets m ON m.market_id = i.market_id
WHERE m.market_id IS NULL OR m.status <> 'resolved' AND m.provider <> 'manual'
ORDER BY i.market_id
ON CONFLICT (market_id) DO UPDATE SET at = greatest(q.at, excluded.at),
    answered_at = CASE WHEN q.at > excluded.at THEN excluded.at END,
    yes_bps = CASE WHEN q.at > excluded.at THEN q.yes_bps ELSE excluded.yes_bps END,
    volume = excluded.volume, volume_usd = excluded.volume_usd, volume24h = excluded.volume24h, liquidity = excluded.liquidity
    WHERE coalesce(q.answered_at, q.at) < excluded.at
RETURNING q.market_id
