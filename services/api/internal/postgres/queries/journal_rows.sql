-- Every row of the record with the text that is hashed: all of its columns, named. The
-- types are written out, so that the planner reaches into each table by its key. Times
-- are microseconds. A column that is added later is added behind, under another name of
-- the form, so that what was sealed keeps its hash.
SELECT 1::smallint AS kind, s.id AS uid, NULL::text AS mid, jsonb_build_array('signal/1', s.id, s.market_id, s.user_id, s.yes, s.price_bps,
    s.score_basis_bps, s.price_verified, s.crowd_yes_bps, s.confidence, s.ttr, (extract(epoch FROM s.created_at) * 1000000)::bigint,
    s.market_title, s.text_take, s.source, s.channel_id, s.media_asset_id, s.reach)::text AS body
FROM signals s
UNION ALL
SELECT 2::smallint, r.signal_id, NULL::text, jsonb_build_array('result/1', r.signal_id, r.event_id, r.user_id, r.status, r.score, r.clv_bps, r.close_price,
    r.outcome, r.beat_crowd, r.scoring_version, r.scoring_vertical, (extract(epoch FROM r.resolved_at) * 1000000)::bigint)::text
FROM signal_results r
UNION ALL
SELECT 3::smallint, e.id, NULL::text, jsonb_build_array('event/1', e.id, e.signal_id, e.type, e.payload, e.actor,
    (extract(epoch FROM e.created_at) * 1000000)::bigint)::text
FROM signal_events e
UNION ALL
SELECT 4::smallint, NULL::uuid, c.market_id, jsonb_build_array('resolution/1', c.market_id, c.outcome, c.resolver, c.source, c.proof_url, c.reason,
    c.finalized_by, c.payout, (extract(epoch FROM c.close_at) * 1000000)::bigint, c.close_price, c.lane,
    (extract(epoch FROM c.resolved_at) * 1000000)::bigint)::text
FROM market_resolutions c
