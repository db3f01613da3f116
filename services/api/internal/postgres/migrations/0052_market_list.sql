-- The list of all markets: newest first, largest move first, and resolved markets apart from closed ones.
ALTER TABLE market_search ADD COLUMN by_created double precision NOT NULL DEFAULT 0; -- minus the microseconds of created_at
CREATE INDEX market_search_created ON market_search (closed, by_created, market_id);

-- Minus the change of the YES price of an open market within 24 hours, without its sign, in bps. A market without a known change
-- has no row. Written by the process that stores attention scores.
CREATE TABLE market_moves (
    market_id text PRIMARY KEY,
    by_move   double precision NOT NULL
);
GRANT SELECT, INSERT, UPDATE, DELETE ON market_moves TO api_rw;

-- Writes what is searched of a market. A resolved market also has the word =RESOLVED.
CREATE OR REPLACE FUNCTION index_market(id text) RETURNS void LANGUAGE plpgsql SET search_path = api, pg_temp AS $$
BEGIN
    INSERT INTO market_search AS s (market_id, closed, by_volume, by_volume24h, by_end, by_created, title, vector)
    SELECT m.market_id, c.closed,
        CASE WHEN c.closed THEN search_rank(q.volume_usd) ELSE search_step(q.volume_usd) END,
        CASE WHEN c.closed THEN search_rank(q.volume24h) ELSE search_step(q.volume24h) END,
        coalesce(extract(epoch FROM m.end_date) * 1000000, 'Infinity'), -extract(epoch FROM m.created_at) * 1000000,
        search_title(m.title),
        array_to_tsvector(search_words(m.title) || search_words(m.slug) || ARRAY[
            CASE WHEN c.closed THEN '=CLOSED' ELSE '=OPEN' END, '=' || upper(m.provider), '=' || upper(m.lane)]
            || CASE WHEN m.status = 'resolved' THEN '{=RESOLVED}'::text[] ELSE '{}' END)
    FROM markets AS m
    CROSS JOIN LATERAL (SELECT CASE WHEN m.status = 'unknown' THEN NULL ELSE m.status <> 'open' END AS closed) AS c
    LEFT JOIN market_quotes AS q ON q.market_id = m.market_id
    WHERE m.market_id = id
    ON CONFLICT (market_id) DO UPDATE SET closed = excluded.closed, by_volume = excluded.by_volume,
        by_volume24h = excluded.by_volume24h, by_end = excluded.by_end, by_created = excluded.by_created, title = excluded.title, vector = excluded.vector;
    INSERT INTO market_words (word)
    SELECT DISTINCT w.word
    FROM market_search AS s CROSS JOIN unnest(tsvector_to_array(s.vector)) AS w (word)
    WHERE s.market_id = id AND left(w.word, 1) <> '='
        AND (SELECT k.word FROM market_words AS k WHERE k.word = w.word LIMIT 1) IS NULL;
END $$;
