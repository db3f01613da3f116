-- Every published row of the record with the text that is hashed: all of its columns, named. The
-- types are written out, so that the planner reaches into each table by its key. Times
-- are microseconds. Columns that were added later are in another form of the row, which is
-- used when one of them is set: rows that were sealed before keep their text. The form also has
-- the quotes that a call was compared with.
CREATE VIEW journal_rows AS
SELECT 1::smallint AS kind, s.id AS uid, NULL::text AS mid, CASE
    WHEN NOT s.rated AND s.quote_at IS NULL AND s.market_yes_bps IS NULL AND s.closes_at IS NULL THEN
        jsonb_build_array('signal/1', s.id, s.market_id, s.user_id, s.yes, s.price_bps,
            s.score_basis_bps, s.price_verified, s.crowd_yes_bps, s.confidence, s.ttr, (extract(epoch FROM s.created_at) * 1000000)::bigint,
            s.market_title, s.text_take, s.source, s.channel_id, s.media_asset_id, s.reach)
    ELSE jsonb_build_array('signal/2', s.id, s.market_id, s.user_id, s.yes, s.price_bps,
        s.score_basis_bps, s.price_verified, s.crowd_yes_bps, s.confidence, s.ttr, (extract(epoch FROM s.created_at) * 1000000)::bigint,
        s.market_title, s.text_take, s.source, s.channel_id, s.media_asset_id, s.reach,
        s.rated, (extract(epoch FROM s.quote_at) * 1000000)::bigint, s.market_yes_bps, (extract(epoch FROM s.closes_at) * 1000000)::bigint,
        (SELECT jsonb_build_array(q.yes_price_bps, q.no_price_bps, q.rule, encode(q.answer_sha256, 'hex'))
            FROM quotes q WHERE q.market_id = s.market_id AND q.at = s.quote_at))
    END::text AS body
FROM signals s
UNION ALL
SELECT 2::smallint, r.signal_id, NULL::text, CASE
    WHEN r.basis_bps IS NULL AND NOT r.counted AND r.reason IS NULL AND r.confirmed_at IS NULL THEN
        jsonb_build_array('result/1', r.signal_id, r.event_id, r.user_id, r.status, r.score, r.clv_bps, r.close_price,
            r.outcome, r.beat_crowd, r.scoring_version, r.scoring_vertical, (extract(epoch FROM r.resolved_at) * 1000000)::bigint)
    ELSE jsonb_build_array('result/2', r.signal_id, r.event_id, r.user_id, r.status, r.score, r.clv_bps, r.close_price,
        r.outcome, r.beat_crowd, r.scoring_version, r.scoring_vertical, (extract(epoch FROM r.resolved_at) * 1000000)::bigint,
        r.basis_bps, r.counted, r.reason, (extract(epoch FROM r.confirmed_at) * 1000000)::bigint,
        (SELECT jsonb_build_array(q.yes_price_bps, q.no_price_bps, q.rule, encode(q.answer_sha256, 'hex'))
            FROM signals s JOIN quotes q ON q.market_id = s.market_id AND q.at = r.confirmed_at WHERE s.id = r.signal_id))
    END::text
FROM signal_results r
UNION ALL
SELECT 3::smallint, e.id, NULL::text, jsonb_build_array('event/1', e.id, e.signal_id, e.type, e.payload, e.actor,
    (extract(epoch FROM e.created_at) * 1000000)::bigint)::text
FROM signal_events e
UNION ALL
SELECT 4::smallint, NULL::uuid, c.market_id, CASE
    WHEN NOT c.rated AND c.decided_at IS NULL THEN
        jsonb_build_array('resolution/1', c.market_id, c.outcome, c.resolver, c.source, c.proof_url, c.reason,
            c.finalized_by, c.payout, (extract(epoch FROM c.close_at) * 1000000)::bigint, c.close_price, c.lane,
            (extract(epoch FROM c.resolved_at) * 1000000)::bigint)
    ELSE jsonb_build_array('resolution/2', c.market_id, c.outcome, c.resolver, c.source, c.proof_url, c.reason,
        c.finalized_by, c.payout, (extract(epoch FROM c.close_at) * 1000000)::bigint, c.close_price, c.lane,
        (extract(epoch FROM c.resolved_at) * 1000000)::bigint, c.rated, (extract(epoch FROM c.decided_at) * 1000000)::bigint)
    END::text
FROM market_resolutions c;
GRANT SELECT ON journal_rows TO api_rw;

-- The columns are those of filed_records.
CREATE OR REPLACE VIEW signal_records AS
SELECT s.id, s.user_id, u.public_id, u.provider_id, u.handle, u.display_name, u.tier,
    s.market_id, shown_title(s.market_id, s.market_title) AS market_title, coalesce(m.lane, 'OTHER') AS lane,
    s.yes, s.price_bps, s.score_basis_bps, s.crowd_yes_bps, s.confidence, shown_take(s.id, s.text_take) AS text_take, s.source, s.ttr, s.created_at,
    coalesce(r.status, 'pending') AS status, r.score, r.resolved_at, r.outcome, r.close_price, r.clv_bps,
    coalesce(r.basis_bps, s.score_basis_bps) AS scored_bps, s.price_verified, s.rated, s.market_yes_bps, s.closes_at, s.quote_at,
    r.confirmed_at, r.reason, CASE WHEN r.status IS NOT NULL THEN r.counted AND r.status <> 'void' END AS counted, false AS unconfirmed
FROM signals s
CROSS JOIN LATERAL (SELECT public_id, provider_id, handle, display_name, tier FROM users WHERE id = s.user_id LIMIT 1) u
LEFT JOIN LATERAL (
    SELECT status, score, resolved_at, outcome, close_price, clv_bps, basis_bps, confirmed_at, reason, counted
    FROM signal_results WHERE signal_id = s.id LIMIT 1) r ON true
LEFT JOIN LATERAL (SELECT lane FROM markets WHERE market_id = s.market_id LIMIT 1) m ON true;
