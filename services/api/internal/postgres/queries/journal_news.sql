-- What $2 events of the feed behind the number $1 tell of, as far as it is not sealed;
-- the last row has the number up to which was read, and no leaf.
WITH news AS MATERIALIZED (
    SELECT seq, market_id AS mid,
        (CASE type WHEN 'signal.created' THEN 1 WHEN 'signal.resolved' THEN 2 WHEN 'signal.event' THEN 3 WHEN 'market.resolved' THEN 4 END)::smallint AS kind,
        CASE type WHEN 'signal.event' THEN (data #>> '{event,id}')::uuid ELSE signal_id END AS uid
    FROM protocol_events WHERE seq > $1 ORDER BY seq LIMIT $2
)
SELECT n.seq, n.kind, coalesce(r.uid::text, r.mid), sha256('\x00'::bytea || convert_to(r.body, 'UTF8'))
FROM news n CROSS JOIN LATERAL (
    SELECT * FROM (JOURNAL_ROWS) x WHERE n.kind = 4 AND x.kind = 4 AND x.mid = n.mid
    UNION ALL
    SELECT * FROM (JOURNAL_ROWS) x WHERE n.kind < 4 AND x.kind = n.kind AND x.uid = n.uid
) r
-- By key: the journal is long, and the news are few.
LEFT JOIN LATERAL (SELECT true AS sealed FROM journal_leaves WHERE kind = n.kind AND of = coalesce(r.uid::text, r.mid) LIMIT 1) l ON true
WHERE l.sealed IS NULL
UNION ALL
SELECT max(seq), NULL, NULL, NULL FROM news
ORDER BY 1, 2 NULLS LAST
