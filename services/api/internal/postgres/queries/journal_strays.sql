-- Rows that are not sealed and that nothing announces any more, behind the number $1 of
-- the feed: neither the outbox, nor the feed, nor a drain that is under way. The first thousand.
SELECT r.kind, coalesce(r.uid::text, r.mid)
FROM (SELECT kind, uid, mid FROM (JOURNAL_ROWS) x) r
LEFT JOIN signals s ON r.kind IN (1, 2) AND s.id = r.uid
WHERE NOT EXISTS (SELECT FROM journal_leaves l WHERE l.kind = r.kind AND l.of = coalesce(r.uid::text, r.mid))
    AND NOT EXISTS (SELECT FROM outbox o WHERE
        r.kind = 1 AND o.type = 'signal.created' AND o.signal_id = r.uid
        OR r.kind = 3 AND o.type = 'signal.event' AND o.event_id = r.uid
        OR r.kind = 4 AND o.type = 'market.resolved' AND o.market_id = r.mid
        OR r.kind = 2 AND o.type = 'market.resolved' AND o.market_id = s.market_id)
    AND NOT EXISTS (SELECT FROM feed_drains d WHERE r.kind = 2 AND d.market_id = s.market_id)
    AND NOT EXISTS (SELECT FROM protocol_events p WHERE p.seq > $1 AND (
        r.kind = 1 AND p.type = 'signal.created' AND p.signal_id = r.uid
        OR r.kind = 2 AND p.type = 'signal.resolved' AND p.signal_id = r.uid
        OR r.kind = 3 AND p.type = 'signal.event' AND p.data #>> '{event,id}' = r.uid::text
        OR r.kind = 4 AND p.type = 'market.resolved' AND p.market_id = r.mid))
ORDER BY 1, 2
LIMIT 1000
