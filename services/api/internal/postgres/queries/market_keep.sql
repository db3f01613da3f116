-- Stores the parts of venue answers that are not prices. A row is written only when
-- something in it changes: a filing locks it FOR SHARE and must not wait for prices alone.
-- Resolved markets do not change. closed_at and provisional_at are the times of the first
-- answers that showed it so, until the market is open again. The final verdict counts from the
-- first answer with it; another verdict, or none, resets that time. Members that a short answer
-- leaves out keep their values, and so does a lane that an administrator set. The venue's end of
-- trading lasts until the market reopens. $1 now.
WITH answer AS MATERIALIZED (
    SELECT i.*
    FROM unnest($2::text[], $3::timestamptz[], $4::text[], $5::text[], $6::text[], $7::text[], $8::boolean[],
            $9::timestamptz[], $10::text[], $11::text[], $12::text[], $13::text[], $14::text[], $15::text[],
            $16::text[], $17::text[], $18::text[], $19::smallint[], $20::text[], $21::text[], $22::text[], $23::text[],
            $24::boolean[], $25::boolean[], $26::text[], $27::timestamptz[])
        AS i (market_id, at, provider, title, description, status, provisional,
            end_date, final_verdict, final_payout, lane, category, slug, event_key,
            event_title, condition_id, clob_token_id, yes_index, labels, image_url, url, volume_unit,
            short, guessed, creator, closed)
), input AS MATERIALIZED (
    SELECT i.market_id, i.at, i.provider, i.status, i.provisional, i.end_date, i.final_verdict, i.final_payout,
        i.yes_index, i.volume_unit, string_to_array(i.labels, E'\x1f') AS outcome_labels,
        CASE WHEN i.short AND right(k.title, length(i.title)) = i.title THEN k.title ELSE i.title END AS title,
        CASE WHEN i.short AND i.description = '' THEN coalesce(k.description, '') ELSE i.description END AS description,
        CASE WHEN k.lane_ruled OR i.guessed AND k.lane <> 'OTHER' THEN k.lane ELSE i.lane END AS lane,
        CASE WHEN k.lane_ruled OR i.guessed AND k.lane <> 'OTHER' THEN k.category ELSE i.category END AS category,
        CASE WHEN i.short AND i.slug = '' THEN coalesce(k.slug, '') ELSE i.slug END AS slug,
        CASE WHEN i.short AND i.event_key = '' THEN coalesce(k.event_key, '') ELSE i.event_key END AS event_key,
        CASE WHEN i.short AND i.event_title = '' THEN coalesce(k.event_title, '') ELSE i.event_title END AS event_title,
        CASE WHEN i.short AND i.condition_id = '' THEN coalesce(k.condition_id, '') ELSE i.condition_id END AS condition_id,
        CASE WHEN i.short AND i.clob_token_id = '' THEN coalesce(k.clob_token_id, '') ELSE i.clob_token_id END AS clob_token_id,
        CASE WHEN i.short AND i.image_url = '' THEN coalesce(k.image_url, '') ELSE i.image_url END AS image_url,
        CASE WHEN i.short AND i.url = '' THEN coalesce(k.url, '') ELSE i.url END AS url,
        CASE WHEN i.creator = '' THEN coalesce(k.creator, '') ELSE i.creator END AS creator,
        CASE WHEN i.status <> 'open' THEN coalesce(i.closed, k.venue_closed_at) END AS venue_closed_at
    FROM answer i
    LEFT JOIN markets k ON k.market_id = i.market_id AND k.fetched_at IS NOT NULL -- not a stub
), next AS MATERIALIZED (
    SELECT i.*, o.status AS from_status,
        CASE WHEN i.status = 'closed' THEN coalesce(o.closed_at, i.at) WHEN i.status <> 'open' THEN o.closed_at END AS closed_at,
        CASE WHEN i.provisional THEN coalesce(o.provisional_at, i.at) WHEN i.status <> 'open' THEN o.provisional_at END AS provisional_at,
        CASE WHEN i.final_verdict IS NULL THEN NULL
             WHEN o.final_verdict = i.final_verdict THEN o.final_at ELSE i.at END AS final_at
    FROM input i
    LEFT JOIN markets o ON o.market_id = i.market_id
    WHERE o.market_id IS NULL OR o.status <> 'resolved' AND o.provider <> 'manual' AND (
        o.fetched_at IS NULL OR
        (o.title, o.description, o.status, o.provisional, o.end_date, o.final_verdict, o.final_payout, o.lane, o.category,
         o.slug, o.event_key, o.event_title, o.condition_id, o.clob_token_id, o.yes_index, o.outcome_labels,
         o.image_url, o.url, o.volume_unit, o.creator, o.venue_closed_at)
        IS DISTINCT FROM
        (i.title, i.description, i.status, i.provisional, i.end_date, i.final_verdict, i.final_payout, i.lane, i.category,
         i.slug, i.event_key, i.event_title, i.condition_id, i.clob_token_id, i.yes_index, i.outcome_labels,
         i.image_url, i.url, i.volume_unit, i.creator, i.venue_closed_at))
), kept AS (
    INSERT INTO markets AS m (market_id, provider, title, description, status, provisional, end_date,
        closed_at, provisional_at, final_verdict, final_at, final_payout, lane, category, slug, event_key, event_title,
        condition_id, clob_token_id, yes_index, outcome_labels, image_url, url, volume_unit, creator, venue_closed_at,
        fetched_at, created_at, updated_at)
    SELECT market_id, provider, title, description, status, provisional, end_date,
        closed_at, provisional_at, final_verdict, final_at, final_payout, lane, category, slug, event_key, event_title,
        condition_id, clob_token_id, yes_index, outcome_labels, image_url, url, volume_unit, creator, venue_closed_at,
        at, $1, $1
    FROM next ORDER BY market_id
    ON CONFLICT (market_id) DO UPDATE SET title = excluded.title, description = excluded.description,
        status = excluded.status, provisional = excluded.provisional, end_date = excluded.end_date,
        closed_at = excluded.closed_at, provisional_at = excluded.provisional_at,
        final_verdict = excluded.final_verdict, final_at = excluded.final_at, final_payout = excluded.final_payout,
        lane = CASE WHEN m.lane_ruled THEN m.lane ELSE excluded.lane END,
        category = CASE WHEN m.lane_ruled THEN m.category ELSE excluded.category END, slug = excluded.slug, event_key = excluded.event_key,
        event_title = excluded.event_title, condition_id = excluded.condition_id, clob_token_id = excluded.clob_token_id,
        yes_index = excluded.yes_index, outcome_labels = excluded.outcome_labels, image_url = excluded.image_url,
        url = excluded.url, volume_unit = excluded.volume_unit, creator = excluded.creator,
        venue_closed_at = excluded.venue_closed_at, fetched_at = excluded.fetched_at, updated_at = excluded.updated_at
        WHERE m.status <> 'resolved'
    RETURNING m.market_id, m.status
), queued AS (
    INSERT INTO outbox (type, market_id, data, at)
    SELECT 'market.status', k.market_id, jsonb_build_object('from', n.from_status, 'to', k.status), $1
    FROM kept k JOIN next n ON n.market_id = k.market_id
    WHERE n.from_status <> k.status
    ORDER BY k.market_id
    RETURNING id
)
SELECT pg_notify('sc_outbox', '') FROM queued LIMIT 1
