-- Decisions of administrators about text. Calls and events never change: their text is left
-- out when they are read. Rows of users, markets and stations are written without the text
-- while they are hidden; original keeps it, with what was written meanwhile.
CREATE TABLE moderation (
    kind       text NOT NULL CHECK (kind IN ('signal', 'event', 'profile', 'market', 'station')),
    id         text NOT NULL,
    hidden     boolean NOT NULL,
    reason     text NOT NULL CHECK (char_length(reason) <= 500),
    decided_by text NOT NULL CHECK (char_length(decided_by) <= 64),
    decided_at timestamptz NOT NULL,
    original   jsonb NOT NULL DEFAULT '{}',
    PRIMARY KEY (kind, id)
);
CREATE INDEX moderation_newest ON moderation (decided_at DESC, kind, id);
GRANT SELECT, INSERT, UPDATE ON moderation TO api_rw;

CREATE FUNCTION is_hidden(kind text, id text) RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT EXISTS (SELECT FROM api.moderation m WHERE m.kind = $1 AND m.id = $2 AND m.hidden)
$$;

-- The title that a call stored, unless its market is hidden.
CREATE FUNCTION shown_title(market text, title text) RETURNS text LANGUAGE sql STABLE AS $$
    SELECT CASE WHEN api.is_hidden('market', $1) THEN 'Removed by an administrator' ELSE $2 END
$$;

-- The take of a call, unless the call is hidden.
CREATE FUNCTION shown_take(signal uuid, take text) RETURNS text LANGUAGE sql STABLE AS $$
    SELECT CASE WHEN $2 IS NULL OR api.is_hidden('signal', $1::text) THEN NULL ELSE $2 END
$$;

-- The payload of an event, unless the event or its call is hidden.
CREATE FUNCTION shown_payload(event uuid, signal uuid, payload jsonb) RETURNS jsonb LANGUAGE sql STABLE AS $$
    SELECT CASE WHEN api.is_hidden('event', $1::text) OR api.is_hidden('signal', $2::text) THEN '{}'::jsonb ELSE $3 END
$$;

-- The data of a feed event without hidden text.
CREATE FUNCTION shown_data(type text, data jsonb) RETURNS jsonb LANGUAGE sql STABLE AS $$
    SELECT CASE WHEN NOT EXISTS (SELECT FROM api.moderation) THEN $2 ELSE
        CASE WHEN $1 = 'signal.created' AND api.is_hidden('signal', $2 ->> 'id') THEN $2 || '{"textTake": null}'::jsonb
             WHEN $1 = 'signal.event' AND (api.is_hidden('signal', $2 ->> 'signalId') OR api.is_hidden('event', $2 #>> '{event,id}'))
                 THEN jsonb_set($2, '{event,payload}', '{}'::jsonb)
             ELSE $2 END
        || CASE WHEN $2 ? 'marketTitle' AND api.is_hidden('market', $2 ->> 'marketId')
                 THEN '{"marketTitle": "Removed by an administrator"}'::jsonb ELSE '{}' END END
$$;

-- The text members of a row, by kind, and what is written in their place.
CREATE FUNCTION text_of(kind text, r jsonb) RETURNS jsonb LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE $1
        WHEN 'profile' THEN jsonb_build_object('display_name', r -> 'display_name', 'bio', r -> 'bio', 'avatar_url', r -> 'avatar_url', 'links', r -> 'links')
        WHEN 'market' THEN jsonb_build_object('title', r -> 'title', 'description', r -> 'description', 'event_title', r -> 'event_title', 'image_url', r -> 'image_url')
        ELSE jsonb_build_object('name', r -> 'name', 'description', r -> 'description') END
$$;
CREATE FUNCTION mask_of(kind text, id text) RETURNS jsonb LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE $1
        WHEN 'profile' THEN jsonb_build_object('display_name', $2, 'bio', NULL, 'avatar_url', NULL, 'links', jsonb_build_array())
        WHEN 'market' THEN '{"title": "Removed by an administrator", "description": "", "event_title": "", "image_url": ""}'::jsonb
        ELSE '{"name": "Removed by an administrator", "description": null}' END
$$;

-- Keeps hidden text out of a row. A member that an update changes is added to the original.
CREATE FUNCTION keep_hidden() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    what  text := TG_ARGV[0];
    thing text := to_jsonb(NEW) ->> TG_ARGV[1];
BEGIN
    IF NOT api.is_hidden(what, thing) THEN
        RETURN NEW;
    END IF;
    UPDATE api.moderation m SET original = m.original || coalesce((
        SELECT jsonb_object_agg(n.key, n.value)
        FROM jsonb_each(api.text_of(what, to_jsonb(NEW))) n
        JOIN jsonb_each(api.text_of(what, to_jsonb(OLD))) o ON o.key = n.key AND o.value <> n.value), '{}')
    WHERE m.kind = what AND m.id = thing;
    RETURN jsonb_populate_record(NEW, api.mask_of(what, thing));
END $$;
CREATE TRIGGER keep_hidden BEFORE UPDATE ON users FOR EACH ROW EXECUTE FUNCTION keep_hidden('profile', 'handle');
CREATE TRIGGER keep_hidden BEFORE UPDATE ON markets FOR EACH ROW EXECUTE FUNCTION keep_hidden('market', 'market_id');
CREATE TRIGGER keep_hidden BEFORE UPDATE ON stations FOR EACH ROW EXECUTE FUNCTION keep_hidden('station', 'station_id');

-- Decides about a thing; false: there is none. Restoring writes the original back.
CREATE FUNCTION moderate(what text, thing text, hide boolean, why text, who text, now timestamptz) RETURNS boolean
LANGUAGE plpgsql SET search_path = api, pg_temp AS $$
DECLARE before jsonb; stored jsonb; was boolean;
BEGIN
    CASE what
        WHEN 'signal' THEN SELECT '{}'::jsonb INTO before WHERE EXISTS (SELECT FROM signals WHERE id = thing::uuid UNION ALL SELECT FROM unconfirmed_signals WHERE signal_id = thing::uuid);
        WHEN 'event' THEN SELECT '{}'::jsonb INTO before FROM signal_events WHERE id = thing::uuid;
        WHEN 'profile' THEN SELECT text_of(what, to_jsonb(u)) INTO before FROM users u WHERE handle = thing FOR UPDATE;
        WHEN 'market' THEN SELECT text_of(what, to_jsonb(m)) INTO before FROM markets m WHERE market_id = thing FOR UPDATE;
        WHEN 'station' THEN SELECT text_of(what, to_jsonb(s)) INTO before FROM stations s WHERE station_id = thing AND deleted_at IS NULL FOR UPDATE;
    END CASE;
    IF before IS NULL THEN
        RETURN false;
    END IF;
    SELECT hidden, original INTO was, stored FROM moderation WHERE kind = what AND id = thing FOR UPDATE;
    stored := CASE WHEN coalesce(was, false) THEN stored ELSE before END;
    INSERT INTO moderation AS m (kind, id, hidden, reason, decided_by, decided_at, original) VALUES (what, thing, hide, why, who, now, stored)
    ON CONFLICT (kind, id) DO UPDATE SET hidden = excluded.hidden, reason = excluded.reason, decided_by = excluded.decided_by,
        decided_at = excluded.decided_at, original = excluded.original;
    CASE what
        WHEN 'profile' THEN UPDATE users u SET (display_name, bio, avatar_url, links) =
            (SELECT p.display_name, p.bio, p.avatar_url, p.links FROM jsonb_populate_record(u, CASE WHEN hide THEN before ELSE stored END) p) WHERE handle = thing;
        WHEN 'market' THEN UPDATE markets m SET updated_at = now, (title, description, event_title, image_url) =
            (SELECT p.title, p.description, p.event_title, p.image_url FROM jsonb_populate_record(m, CASE WHEN hide THEN before ELSE stored END) p) WHERE market_id = thing;
        WHEN 'station' THEN UPDATE stations s SET updated_at = now, (name, description) =
            (SELECT p.name, p.description FROM jsonb_populate_record(s, CASE WHEN hide THEN before ELSE stored END) p) WHERE station_id = thing;
        ELSE NULL;
    END CASE;
    RETURN true;
END $$;

CREATE OR REPLACE VIEW signal_records AS
SELECT s.id, s.user_id, u.public_id, u.provider_id, u.handle, u.display_name, u.tier,
    s.market_id, shown_title(s.market_id, s.market_title) AS market_title, coalesce(m.lane, 'OTHER') AS lane,
    s.yes, s.price_bps, s.score_basis_bps, s.crowd_yes_bps, s.confidence, shown_take(s.id, s.text_take) AS text_take, s.source, s.ttr, s.created_at,
    coalesce(r.status, 'pending') AS status, r.score, r.resolved_at, r.outcome, r.close_price, r.clv_bps,
    coalesce(r.basis_bps, s.score_basis_bps) AS scored_bps, s.price_verified, s.rated, s.market_yes_bps, s.closes_at, s.quote_at,
    r.confirmed_at, r.reason, CASE WHEN r.status IS NOT NULL THEN r.counted AND r.status <> 'void' END AS counted
FROM signals s
CROSS JOIN LATERAL (SELECT public_id, provider_id, handle, display_name, tier FROM users WHERE id = s.user_id LIMIT 1) u
LEFT JOIN LATERAL (
    SELECT status, score, resolved_at, outcome, close_price, clv_bps, basis_bps, confirmed_at, reason, counted
    FROM signal_results WHERE signal_id = s.id LIMIT 1) r ON true
LEFT JOIN LATERAL (SELECT lane FROM markets WHERE market_id = s.market_id LIMIT 1) m ON true;

-- Every call of an operator: the published ones, and those that only the operator's own reads
-- show. A denied call is void.
CREATE VIEW filed_records AS
SELECT v.id, v.user_id, v.public_id, v.provider_id, v.handle, v.display_name, v.tier, v.market_id, v.market_title, v.lane,
    v.yes, v.price_bps, v.score_basis_bps, v.crowd_yes_bps, v.confidence, v.text_take, v.source, v.ttr, v.created_at,
    v.status, v.score, v.resolved_at, v.outcome, v.close_price, v.clv_bps, v.scored_bps, v.price_verified, v.rated,
    v.market_yes_bps, v.closes_at, v.quote_at, v.confirmed_at, v.reason, v.counted, false AS unconfirmed
FROM signal_records v
UNION ALL
SELECT w.signal_id, w.user_id, u.public_id, u.provider_id, u.handle, u.display_name, u.tier, w.market_id, w.market_id, 'OTHER',
    w.yes, w.price_bps, w.price_bps, w.crowd_yes_bps, w.confidence, shown_take(w.signal_id, w.text_take), w.source, w.ttr, w.created_at,
    CASE WHEN w.denied_at IS NULL THEN 'pending' ELSE 'void' END, CASE WHEN w.denied_at IS NOT NULL THEN 0 END, w.denied_at,
    NULL, NULL, NULL, w.price_bps, false, false, NULL, NULL, NULL, NULL, CASE WHEN w.denied_at IS NOT NULL THEN 'unknown_market' END,
    CASE WHEN w.denied_at IS NOT NULL THEN false END, true
FROM unconfirmed_signals w JOIN users u ON u.id = w.user_id;
GRANT SELECT ON filed_records TO api_rw;
