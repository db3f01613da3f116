-- name: ListQueryWords :many
-- Returns the words of a query, whether a market has the word, and whether a market has a word that begins with it.
-- share is the share of the markets that have the word, part_share the share of those with a word that contains it.
-- Both are estimates from the table statistics, and 0 for a rare word.
WITH frequent AS MATERIALIZED (
    SELECT e.word, e.share
    FROM pg_catalog.pg_stats AS t
    CROSS JOIN LATERAL unnest(t.most_common_elems::text::text[], t.most_common_elem_freqs) AS e (word, share)
    WHERE t.schemaname = 'api' AND t.tablename = 'market_search' AND t.attname = 'vector'
)
SELECT q.word::text AS word,
    (EXISTS (SELECT FROM market_words AS k WHERE k.word = q.word))::boolean AS whole,
    (EXISTS (SELECT FROM market_words AS k WHERE k.word > q.word AND k.word < q.word || U&'\+10FFFF'))::boolean AS beginning,
    coalesce((SELECT sum(f.share) FROM frequent AS f WHERE f.word = q.word), 0)::double precision AS share,
    coalesce((SELECT sum(f.share) FROM frequent AS f WHERE strpos(f.word, q.word) > 0), 0)::double precision AS part_share
FROM unnest(search_words(@query::text)) WITH ORDINALITY AS q (word, place)
ORDER BY q.place
LIMIT sqlc.arg('limit');

-- name: ListWordsAround :many
-- Returns for each of the given words the indexed words that contain it, at most @most.
SELECT ((ARRAY(SELECT k.word FROM market_words AS k WHERE k.word LIKE '%' || q.word || '%'))[1:@most::integer])::text[] AS words
FROM unnest(@words::text[]) WITH ORDINALITY AS q (word, place)
ORDER BY q.place;

-- name: ListMisspelledWords :many
-- Returns for each of the given words the indexed words that differ by one typing error: an additional letter, a
-- missing letter, another letter, or two exchanged neighbours. An error leaves the first or the last half of the word
-- unchanged, so an index finds the candidates. Words of less than four letters and words with digits have no
-- misspellings, because another year is not a typing error.
SELECT (ARRAY(
    SELECT k.word FROM market_words AS k
    WHERE (k.word LIKE left(q.word, (n.letters - 1) / 2) || '%' OR k.word LIKE '%' || right(q.word, n.letters / 2))
        AND char_length(k.word) BETWEEN n.letters - 1 AND n.letters + 1 AND k.word LIKE ANY (p.patterns)))::text[] AS words
FROM unnest(@words::text[]) WITH ORDINALITY AS q (word, place)
CROSS JOIN LATERAL (SELECT CASE WHEN q.word ~ '[0-9]' THEN 0 ELSE char_length(q.word) END AS letters) AS n
CROSS JOIN LATERAL (SELECT ARRAY(
    SELECT v.pattern FROM generate_series(1, n.letters + 1) AS i
    CROSS JOIN LATERAL (VALUES (left(q.word, i - 1) || '_' || substr(q.word, i)), (left(q.word, i - 1) || substr(q.word, i + 1)),
        (left(q.word, i - 1) || '_' || substr(q.word, i + 1)),
        (left(q.word, i - 1) || substr(q.word, i + 1, 1) || substr(q.word, i, 1) || substr(q.word, i + 2))) AS v (pattern)
    WHERE n.letters >= 4) AS patterns) AS p
ORDER BY q.place;

-- name: FindMarkets :many
-- Returns the next markets of an order that a query matches. vector must match @near_query and, as text, every one of
-- @parts, but not @better with @better_parts, which select the markets of a better class. The first branch reads the
-- order, at most @most_read markets, which suffices if many markets match. If it finds less than the limit, the word
-- index is read with @query; IS TRUE makes a condition that no index serves. Open markets are indexed by steps of their
-- volume: whole steps are read and then sorted by the volume itself. With @every the whole order is read, because every
-- market matches. @end_after and @end_before limit the end in microseconds; infinite values select every market. A
-- @min_volume above 0 is the smallest volume in USD.
WITH begin AS MATERIALIZED (
    SELECT search_step(-(sqlc.arg(value)::double precision)) AS step,
        CASE WHEN @min_volume::double precision > 0 THEN search_step(@min_volume::double precision) ELSE 'Infinity' END AS last_step,
        CASE WHEN @min_volume::double precision > 0 THEN -(sqlc.arg(min_volume)::double precision) ELSE 'Infinity' END AS last
), near AS MATERIALIZED (
    SELECT x.market_id, v.value
    FROM (
        (SELECT s.market_id, s.vector, s.by_end, s.by_volume AS place FROM market_search AS s
            WHERE @sort::text = 'volume' AND NOT @closed::boolean AND s.closed = false
                AND s.by_volume >= (SELECT b.step FROM begin AS b) AND s.by_volume <= (SELECT b.last_step FROM begin AS b)
            ORDER BY s.by_volume FETCH FIRST (@most_read::bigint) ROWS WITH TIES)
        UNION ALL
        (SELECT s.market_id, s.vector, s.by_end, s.by_volume24h FROM market_search AS s
            WHERE @sort::text = 'volume24h' AND NOT @closed::boolean AND s.closed = false
                AND s.by_volume24h >= (SELECT b.step FROM begin AS b)
            ORDER BY s.by_volume24h FETCH FIRST (@most_read::bigint) ROWS WITH TIES)
        UNION ALL
        (SELECT s.market_id, s.vector, s.by_end, s.by_volume FROM market_search AS s
            WHERE @sort::text = 'volume' AND @closed::boolean AND s.closed = true
                AND (s.by_volume, s.market_id) > (@value::double precision, @after_id::text)
                AND s.by_volume <= (SELECT b.last FROM begin AS b)
            ORDER BY s.by_volume, s.market_id LIMIT @most_read::bigint)
        UNION ALL
        (SELECT s.market_id, s.vector, s.by_end, s.by_volume24h FROM market_search AS s
            WHERE @sort::text = 'volume24h' AND @closed::boolean AND s.closed = true
                AND (s.by_volume24h, s.market_id) > (@value::double precision, @after_id::text)
            ORDER BY s.by_volume24h, s.market_id LIMIT @most_read::bigint)
        UNION ALL
        (SELECT s.market_id, s.vector, s.by_end, s.by_end FROM market_search AS s
            WHERE @sort::text = 'endDate' AND s.closed = @closed::boolean
                AND (s.by_end, s.market_id) > (@value::double precision, @after_id::text)
                AND s.by_end > @end_after::double precision AND s.by_end <= @end_before::double precision
            ORDER BY s.by_end, s.market_id LIMIT @most_read::bigint)
        UNION ALL
        (SELECT s.market_id, s.vector, s.by_end, s.by_created FROM market_search AS s
            WHERE @sort::text = 'newest' AND s.closed = @closed::boolean
                AND (s.by_created, s.market_id) > (@value::double precision, @after_id::text)
            ORDER BY s.by_created, s.market_id LIMIT @most_read::bigint)
    ) AS x
    CROSS JOIN LATERAL (SELECT CASE WHEN @closed::boolean OR @sort::text IN ('endDate', 'newest') THEN x.place
        ELSE coalesce((SELECT search_rank(CASE WHEN @sort::text = 'volume' THEN q.volume_usd ELSE q.volume24h END)
            FROM market_quotes AS q WHERE q.market_id = x.market_id), 'Infinity') END AS value) AS v
    WHERE x.vector @@ sqlc.arg(near_query)::tsquery AND (@parts::text[] = '{}' OR x.vector::text LIKE ALL (@parts::text[]))
        AND NOT (x.vector @@ sqlc.arg(better)::tsquery AND (@better_parts::text[] = '{}' OR x.vector::text LIKE ALL (@better_parts::text[])))
        AND (v.value, x.market_id) > (@value::double precision, @after_id::text)
        AND x.by_end > @end_after::double precision AND x.by_end <= @end_before::double precision
        AND (@min_volume::double precision <= 0 OR EXISTS (SELECT FROM market_quotes AS q
            WHERE q.market_id = x.market_id AND q.volume_usd >= @min_volume::double precision))
    ORDER BY x.place FETCH FIRST (sqlc.arg('limit')::bigint) ROWS WITH TIES
), matched AS MATERIALIZED (
    SELECT s.market_id, v.value
    FROM market_search AS s
    CROSS JOIN LATERAL (SELECT CASE
        WHEN @sort::text = 'endDate' THEN s.by_end
        WHEN @sort::text = 'newest' THEN s.by_created
        WHEN @closed::boolean THEN CASE WHEN @sort::text = 'volume' THEN s.by_volume ELSE s.by_volume24h END
        ELSE coalesce((SELECT search_rank(CASE WHEN @sort::text = 'volume' THEN q.volume_usd ELSE q.volume24h END)
            FROM market_quotes AS q WHERE q.market_id = s.market_id), 'Infinity') END AS value) AS v
    WHERE NOT @every::boolean AND (SELECT count(*) FROM near) < sqlc.arg('limit')::bigint
        AND s.by_end > @end_after::double precision AND s.by_end <= @end_before::double precision
        AND (@min_volume::double precision <= 0 OR EXISTS (SELECT FROM market_quotes AS q
            WHERE q.market_id = s.market_id AND q.volume_usd >= @min_volume::double precision))
        AND s.vector @@ sqlc.arg(query)::tsquery AND (s.vector @@ sqlc.arg(near_query)::tsquery) IS TRUE AND (@parts::text[] = '{}' OR s.vector::text LIKE ALL (@parts::text[]))
        AND NOT (s.vector @@ sqlc.arg(better)::tsquery AND (@better_parts::text[] = '{}' OR s.vector::text LIKE ALL (@better_parts::text[])))
        AND (v.value, s.market_id) > (@value::double precision, @after_id::text)
)
SELECT a.market_id::text AS market_id, a.value::double precision AS value
FROM (
    SELECT n.market_id, n.value FROM near AS n
    WHERE (SELECT count(*) FROM near) >= sqlc.arg('limit')::bigint OR @every::boolean
    UNION ALL
    SELECT m.market_id, m.value FROM matched AS m
) AS a
ORDER BY a.value, a.market_id
LIMIT sqlc.arg('limit')::bigint;

-- name: FindRankedMarkets :many
-- Like FindMarkets, for the orders calls and move, whose values are in other tables. Markets with a value come first,
-- the others follow in the order of ids.
WITH ranked AS MATERIALIZED (
    SELECT s.market_id, r.value
    FROM (
        SELECT t.market_id, -(t.yes + t.no)::double precision AS value FROM market_totals AS t
        WHERE @sort::text = 'calls' AND t.yes + t.no > 0
        UNION ALL
        SELECT m.market_id, m.by_move FROM market_moves AS m WHERE @sort::text = 'move'
    ) AS r
    JOIN market_search AS s ON s.market_id = r.market_id
    WHERE (r.value, r.market_id) > (sqlc.arg(value)::double precision, @after_id::text)
        AND s.closed = @closed::boolean AND s.vector @@ sqlc.arg(near_query)::tsquery
        AND (@parts::text[] = '{}' OR s.vector::text LIKE ALL (@parts::text[]))
        AND NOT (s.vector @@ sqlc.arg(better)::tsquery AND (@better_parts::text[] = '{}' OR s.vector::text LIKE ALL (@better_parts::text[])))
        AND s.by_end > @end_after::double precision AND s.by_end <= @end_before::double precision
        AND (@min_volume::double precision <= 0 OR EXISTS (SELECT FROM market_quotes AS q
            WHERE q.market_id = s.market_id AND q.volume_usd >= @min_volume::double precision))
    ORDER BY r.value, r.market_id LIMIT sqlc.arg('limit')::bigint
), others AS (
    SELECT s.market_id, o.value
    FROM market_search AS s
    CROSS JOIN (SELECT CASE @sort::text WHEN 'calls' THEN 0 ELSE 'Infinity'::double precision END AS value) AS o
    WHERE (SELECT count(*) FROM ranked) < sqlc.arg('limit')::bigint
        AND (o.value, s.market_id) > (sqlc.arg(value)::double precision, @after_id::text)
        AND CASE @sort::text
            WHEN 'calls' THEN NOT EXISTS (SELECT FROM market_totals AS t WHERE t.market_id = s.market_id AND t.yes + t.no > 0)
            ELSE NOT EXISTS (SELECT FROM market_moves AS m WHERE m.market_id = s.market_id) END
        AND s.closed = @closed::boolean AND s.vector @@ sqlc.arg(near_query)::tsquery
        AND (@parts::text[] = '{}' OR s.vector::text LIKE ALL (@parts::text[]))
        AND NOT (s.vector @@ sqlc.arg(better)::tsquery AND (@better_parts::text[] = '{}' OR s.vector::text LIKE ALL (@better_parts::text[])))
        AND s.by_end > @end_after::double precision AND s.by_end <= @end_before::double precision
        AND (@min_volume::double precision <= 0 OR EXISTS (SELECT FROM market_quotes AS q
            WHERE q.market_id = s.market_id AND q.volume_usd >= @min_volume::double precision))
    ORDER BY s.market_id LIMIT sqlc.arg('limit')::bigint
)
SELECT a.market_id::text AS market_id, a.value::double precision AS value
FROM (SELECT r.market_id, r.value FROM ranked AS r UNION ALL SELECT o.market_id, o.value FROM others AS o) AS a
ORDER BY a.value, a.market_id
LIMIT sqlc.arg('limit')::bigint;

-- name: FindListedMarkets :many
-- Like FindMarkets, for markets with the given ids.
SELECT s.market_id::text AS market_id, v.value::double precision AS value
FROM market_search AS s
LEFT JOIN market_quotes AS q ON q.market_id = s.market_id
LEFT JOIN market_totals AS t ON t.market_id = s.market_id
LEFT JOIN market_moves AS m ON m.market_id = s.market_id
CROSS JOIN LATERAL (SELECT CASE @sort::text
    WHEN 'endDate' THEN s.by_end
    WHEN 'newest' THEN s.by_created
    WHEN 'calls' THEN -coalesce(t.yes + t.no, 0)
    WHEN 'move' THEN coalesce(m.by_move, 'Infinity')
    WHEN 'volume24h' THEN search_rank(q.volume24h)
    ELSE search_rank(q.volume_usd) END AS value) AS v
WHERE s.market_id = ANY (@ids::text[]) AND s.closed = @closed::boolean AND s.vector @@ sqlc.arg(near_query)::tsquery
    AND (@parts::text[] = '{}' OR s.vector::text LIKE ALL (@parts::text[]))
    AND NOT (s.vector @@ sqlc.arg(better)::tsquery AND (@better_parts::text[] = '{}' OR s.vector::text LIKE ALL (@better_parts::text[])))
    AND s.by_end > @end_after::double precision AND s.by_end <= @end_before::double precision
    AND (@min_volume::double precision <= 0 OR q.volume_usd >= @min_volume::double precision)
    AND (v.value, s.market_id) > (sqlc.arg(value)::double precision, @after_id::text)
ORDER BY v.value, s.market_id
LIMIT sqlc.arg('limit')::bigint;

-- name: StoreMarketMoves :exec
-- Stores changes of the YES price within 24 hours and deletes those of other markets: of @unknown, or with @all_others of
-- every market that is not given.
WITH given AS MATERIALIZED (
    SELECT i.market_id, i.by_move FROM unnest(@ids::text[], @by_move::double precision[]) AS i (market_id, by_move)
), dropped AS (
    DELETE FROM market_moves AS m
    WHERE m.market_id = ANY (@unknown::text[]) OR @all_others::boolean AND NOT EXISTS (SELECT FROM given AS g WHERE g.market_id = m.market_id)
)
INSERT INTO market_moves AS m (market_id, by_move)
SELECT g.market_id, g.by_move FROM given AS g
ON CONFLICT (market_id) DO UPDATE SET by_move = excluded.by_move WHERE m.by_move <> excluded.by_move;

-- name: GetTitleWords :one
-- Returns the words of a title that describe the topic of a market.
SELECT search_title(@title::text)::text[] AS words;

-- name: ListRelatedMarkets :many
-- Returns markets related to a market: those of its event, then those with a similar title, then those of its lane.
-- Within each group open markets come first, then greater volumes. @near_open and @near_closed select candidates for
-- similar titles, which must share at least a fifth of the words of both titles. A later group is read only if the
-- earlier groups are too short. An empty @event_key selects nothing.
WITH own AS MATERIALIZED (
    SELECT array_to_tsvector(@title_words::text[]) AS words, cardinality(@title_words::text[]) AS n
), event AS MATERIALIZED (
    SELECT s.market_id, s.closed, s.title, coalesce(search_rank(q.volume_usd), 'Infinity') AS value
    FROM markets AS m
    JOIN market_search AS s ON s.market_id = m.market_id
    LEFT JOIN market_quotes AS q ON q.market_id = m.market_id
    WHERE m.event_key = @event_key::text AND m.event_key <> '' AND m.provider = @provider::text AND s.closed IS NOT NULL
        AND m.market_id <> @market_id::text
    ORDER BY s.closed, value, m.market_id LIMIT sqlc.arg('limit')::bigint
), similar_open AS MATERIALIZED (
    SELECT s.market_id, s.closed, s.title, s.by_volume
    FROM market_search AS s
    CROSS JOIN own
    CROSS JOIN LATERAL (SELECT own.n - length(ts_delete(own.words, s.title)) AS n) AS c
    WHERE (SELECT count(*) FROM event) < sqlc.arg('limit')::bigint
        AND s.vector @@ sqlc.arg(near_open)::tsquery AND s.closed = false AND 6 * c.n >= own.n + cardinality(s.title)
        AND s.market_id <> @market_id::text AND NOT EXISTS (SELECT FROM event AS e WHERE e.market_id = s.market_id)
    ORDER BY s.by_volume FETCH FIRST (sqlc.arg('limit')::bigint) ROWS WITH TIES
), similar_closed AS MATERIALIZED (
    SELECT s.market_id, s.closed, s.title, s.by_volume
    FROM market_search AS s
    CROSS JOIN own
    CROSS JOIN LATERAL (SELECT own.n - length(ts_delete(own.words, s.title)) AS n) AS c
    WHERE (SELECT count(*) FROM event) + (SELECT count(*) FROM similar_open) < sqlc.arg('limit')::bigint
        AND s.vector @@ sqlc.arg(near_closed)::tsquery AND s.closed = true AND 6 * c.n >= own.n + cardinality(s.title)
        AND s.market_id <> @market_id::text AND NOT EXISTS (SELECT FROM event AS e WHERE e.market_id = s.market_id)
    ORDER BY s.by_volume, s.market_id LIMIT sqlc.arg('limit')::bigint
), before AS MATERIALIZED (
    SELECT e.market_id FROM event AS e
    UNION ALL SELECT o.market_id FROM similar_open AS o
    UNION ALL SELECT c.market_id FROM similar_closed AS c
), lane_open AS MATERIALIZED (
    SELECT s.market_id, s.closed, s.title, s.by_volume
    FROM market_search AS s
    WHERE (SELECT count(*) FROM before) < sqlc.arg('limit')::bigint AND s.closed = false
        AND s.vector @@ sqlc.arg(lane_query)::tsquery
        AND s.market_id <> @market_id::text AND NOT EXISTS (SELECT FROM before AS b WHERE b.market_id = s.market_id)
    ORDER BY s.by_volume FETCH FIRST (sqlc.arg('limit')::bigint) ROWS WITH TIES
), lane_closed AS MATERIALIZED (
    SELECT s.market_id, s.closed, s.title, s.by_volume
    FROM market_search AS s
    WHERE (SELECT count(*) FROM before) + (SELECT count(*) FROM lane_open) < sqlc.arg('limit')::bigint
        AND s.closed = true AND s.vector @@ sqlc.arg(lane_query)::tsquery
        AND s.market_id <> @market_id::text AND NOT EXISTS (SELECT FROM before AS b WHERE b.market_id = s.market_id)
    ORDER BY s.by_volume, s.market_id LIMIT sqlc.arg('limit')::bigint
), listed AS (
    SELECT e.market_id, 'same_event' AS relation, 1 AS place, e.closed, e.title, e.value FROM event AS e
    UNION ALL SELECT o.market_id, 'similar', 2, o.closed, o.title, r.value FROM similar_open AS o CROSS JOIN LATERAL (SELECT coalesce(
        (SELECT search_rank(q.volume_usd) FROM market_quotes AS q WHERE q.market_id = o.market_id), 'Infinity') AS value) AS r
    UNION ALL SELECT c.market_id, 'similar', 2, c.closed, c.title, c.by_volume FROM similar_closed AS c
    UNION ALL SELECT o.market_id, 'same_lane', 3, o.closed, o.title, r.value FROM lane_open AS o CROSS JOIN LATERAL (SELECT coalesce(
        (SELECT search_rank(q.volume_usd) FROM market_quotes AS q WHERE q.market_id = o.market_id), 'Infinity') AS value) AS r
    UNION ALL SELECT c.market_id, 'same_lane', 3, c.closed, c.title, c.by_volume FROM lane_closed AS c
)
SELECT l.market_id::text AS market_id, l.relation::text AS relation, l.title::text[] AS title
FROM listed AS l
ORDER BY l.place, l.closed, l.value, l.market_id
LIMIT sqlc.arg('limit')::bigint;

-- name: ListResolvedMarkets :many
-- Returns the markets of a provider with an outcome before a position, newest outcome first.
SELECT r.market_id, m.title, r.outcome, r.resolved_at, r.close_price, q.volume_usd, coalesce(t.yes + t.no, 0)::bigint AS signals
FROM market_resolutions AS r
JOIN markets AS m ON m.market_id = r.market_id
LEFT JOIN market_quotes AS q ON q.market_id = r.market_id
LEFT JOIN market_totals AS t ON t.market_id = r.market_id
WHERE m.provider = @provider AND (r.resolved_at, r.market_id) < (@before_at::timestamptz, @before_id::text)
ORDER BY r.resolved_at DESC, r.market_id DESC
LIMIT sqlc.arg('limit');

-- name: GetSentiment :one
-- Returns the calls on a market by side, for operators that count as crowd.
WITH calls AS (
    SELECT s.id, s.yes, s.confidence, s.created_at, s.text_take
    FROM signals AS s JOIN users AS u ON u.id = s.user_id AND u.crowd
    WHERE s.market_id = @market_id::text
), taken AS (
    SELECT c.yes FROM calls AS c JOIN signal_events AS e ON e.signal_id = c.id WHERE e.type = 'take'
    UNION ALL SELECT c.yes FROM calls AS c WHERE c.text_take <> ''
)
SELECT count(*) FILTER (WHERE c.yes) AS yes, count(*) FILTER (WHERE NOT c.yes) AS no,
    (coalesce(sum(coalesce(c.confidence, 50)) FILTER (WHERE c.yes), 0) / 100.0::double precision)::double precision AS weight_yes,
    (coalesce(sum(coalesce(c.confidence, 50)) FILTER (WHERE NOT c.yes),
        0) / 100.0::double precision)::double precision AS weight_no,
    (avg(c.confidence) FILTER (WHERE c.yes))::float8 AS confidence_yes,
        (avg(c.confidence) FILTER (WHERE NOT c.yes))::float8 AS confidence_no,
    (SELECT count(*) FROM taken AS t WHERE t.yes) AS takes_yes, (SELECT count(*) FROM taken AS t WHERE NOT t.yes) AS takes_no,
    count(*) FILTER (WHERE c.created_at > sqlc.arg(now)::timestamptz - interval '24 hours') AS signals24h,
    coalesce( -- the same rule as in ListOpenFacts
        (SELECT p.yes_bps FROM market_prices AS p WHERE p.market_id = @market_id::text
            AND p.at <= sqlc.arg(now)::timestamptz - interval '24 hours' ORDER BY p.at DESC LIMIT 1),
        (SELECT p.yes_bps FROM market_prices AS p WHERE p.market_id = @market_id::text
            AND p.at > sqlc.arg(now)::timestamptz - interval '24 hours'
                AND p.at <= sqlc.arg(now)::timestamptz - interval '12 hours'
            ORDER BY p.at LIMIT 1))::int4 AS before
FROM calls AS c;

-- name: ListGaps :many
-- Returns open markets with a price and at least three calls of the crowd, the widest gap between the two first. An
-- empty id selects every market. The price of a native market follows from its crowd as in NativePrice of package
-- market.
WITH priced AS (
    SELECT t.market_id, t.crowd_yes AS yes, t.crowd_no AS no, t.crowd_yes + t.crowd_no AS n,
        CASE WHEN m.provider = 'manual' THEN least(greatest(
                (2 * (8 * m.initial_yes_bps + 10000 * t.crowd_yes) + 8 + t.crowd_yes + t.crowd_no)
                / (2 * (8 + t.crowd_yes + t.crowd_no)), 100), 9900)
             WHEN q.at >= sqlc.arg(now)::timestamptz - interval '10 minutes' THEN q.yes_bps END AS price
    FROM market_totals t
    JOIN markets m ON m.market_id = t.market_id
    LEFT JOIN market_quotes q ON q.market_id = t.market_id
    WHERE t.crowd_yes + t.crowd_no >= 3 AND m.status = 'open' AND (m.end_date IS NULL OR m.end_date > sqlc.arg(now)::timestamptz)
        AND (@market_id::text = '' OR t.market_id = @market_id::text)
)
SELECT market_id, yes, no FROM priced
WHERE price IS NOT NULL
ORDER BY abs((200 * yes + n) / (2 * n) * 100 - price) DESC, market_id
LIMIT sqlc.arg('limit');

-- name: ListAddresses :many
-- Returns the confirmed markets and the operators with a call, without hidden ones, by kind and id.
SELECT l.kind::text AS kind, l.id::text AS id
FROM (
    SELECT 'market' AS kind, m.market_id AS id FROM markets AS m WHERE m.provider = 'manual' OR m.fetched_at IS NOT NULL
    UNION ALL
    SELECT 'profile', u.handle FROM operator_totals AS t JOIN users AS u ON u.id = t.user_id
    WHERE t.total > 0 AND u.erased_at IS NULL
) AS l
WHERE NOT EXISTS (SELECT FROM moderation AS h WHERE h.hidden AND h.kind = l.kind AND h.id = l.id)
ORDER BY l.kind, l.id OFFSET sqlc.arg('offset')::bigint LIMIT sqlc.arg('limit');

-- name: CountAddresses :one
-- Returns the number of rows of ListAddresses without an offset and a limit.
SELECT (
    (SELECT count(*) FROM markets AS m WHERE (m.provider = 'manual' OR m.fetched_at IS NOT NULL)
        AND NOT EXISTS (SELECT FROM moderation AS h WHERE h.hidden AND h.kind = 'market' AND h.id = m.market_id))
    + (SELECT count(*) FROM operator_totals AS t JOIN users AS u ON u.id = t.user_id WHERE t.total > 0 AND u.erased_at IS NULL
        AND NOT EXISTS (SELECT FROM moderation AS h WHERE h.hidden AND h.kind = 'profile' AND h.id = u.handle)))::bigint AS total;
