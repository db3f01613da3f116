-- Calls and markets with a call by lane; open calls are those on markets that are open.
SELECT coalesce(m.lane, 'OTHER'), sum(t.yes + t.no)::bigint,
    coalesce(sum(t.yes + t.no) FILTER (WHERE m.status = 'open'), 0)::bigint, count(*)
FROM market_totals t LEFT JOIN markets m ON m.market_id = t.market_id
WHERE t.yes + t.no > 0
GROUP BY 1
