-- Handles that their operators have replaced. A former handle leads to its operator and is given to no other one until the row is
-- deleted, which is after until.
CREATE TABLE former_handles (
    handle  text PRIMARY KEY,
    user_id uuid NOT NULL REFERENCES users (id),
    until   timestamptz NOT NULL
);
CREATE INDEX former_handles_user ON former_handles (user_id);
CREATE INDEX former_handles_until ON former_handles (until);
GRANT SELECT, INSERT, DELETE ON former_handles TO api_rw;
GRANT DELETE ON channel_copies, moderation TO api_rw;

-- handle_chosen_at: a new operator chose its first handle or kept the one that was derived from the identity. handle_changed_at: the
-- last change after that.
ALTER TABLE users
    ADD COLUMN handle_chosen_at  timestamptz,
    ADD COLUMN handle_changed_at timestamptz;

-- Rejects a handle that was another operator's. The unique index lets a statement wait for the one that releases the handle, so
-- the row in former_handles is visible here.
CREATE FUNCTION check_former_handle() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (SELECT FROM api.former_handles AS f WHERE f.handle = NEW.handle AND f.user_id <> NEW.id) THEN
        RAISE unique_violation USING CONSTRAINT = 'users_handle_key', MESSAGE = 'the handle was that of another operator';
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER check_former_handle AFTER INSERT OR UPDATE OF handle ON users FOR EACH ROW EXECUTE FUNCTION check_former_handle();

-- Replaces the handle of an operator, and moves what is stored under it. The caller has locked the operator.
CREATE FUNCTION change_handle(who uuid, wanted text, until timestamptz) RETURNS void LANGUAGE plpgsql SET search_path = api, pg_temp AS $$
DECLARE
    former text := (SELECT handle FROM users WHERE id = who);
BEGIN
    -- First, because a hidden profile is masked by its decision when its row changes.
    IF EXISTS (SELECT FROM moderation WHERE kind = 'profile' AND id = former) THEN
        DELETE FROM moderation WHERE kind = 'profile' AND id = wanted;
        UPDATE moderation SET id = wanted WHERE kind = 'profile' AND id = former;
    END IF;
    UPDATE users SET handle = wanted WHERE id = who;
    DELETE FROM former_handles WHERE handle = wanted;
    INSERT INTO former_handles (handle, user_id, until) VALUES (former, who, change_handle.until);
    UPDATE market_live SET handle = wanted WHERE handle = former;
    DELETE FROM channel_copies WHERE channel IN ('operator:' || former, 'overlay:' || former);
    UPDATE webhooks SET channels = array_replace(array_replace(array_replace(channels,
        'me:' || former, 'me:' || wanted), 'operator:' || former, 'operator:' || wanted), 'overlay:' || former, 'overlay:' || wanted)
    WHERE channels && ARRAY['me:' || former, 'operator:' || former, 'overlay:' || former];
END $$;

-- Returns the operator who has a handle, or had it.
CREATE FUNCTION operator_of(wanted text) RETURNS uuid LANGUAGE sql STABLE SET search_path = api, pg_temp AS $$
    SELECT id FROM users WHERE handle = wanted UNION ALL SELECT user_id FROM former_handles WHERE handle = wanted LIMIT 1
$$;

-- The feed as before, with the present handles.
CREATE OR REPLACE VIEW shown_events AS
SELECT seq, id, type, at, market_id, provider, lane, user_id, signal_id, topic,
    CASE WHEN (EXISTS (SELECT FROM former_handles) OR EXISTS (SELECT FROM users WHERE erased_at IS NOT NULL)) AND data ? 'handle' THEN
        CASE WHEN EXISTS (SELECT FROM moderation WHERE hidden) THEN shown_data(type, data) ELSE data END || coalesce((
        SELECT jsonb_build_object('handle', u.handle) || CASE WHEN u.erased_at IS NULL THEN '{}' ELSE CASE e.type
            WHEN 'stream.bound' THEN '{"url": "", "label": ""}'::jsonb
            WHEN 'operator.live' THEN '{"hlsUrl": "", "signal": null}'::jsonb
            WHEN 'operator.offline' THEN '{"signal": null}'::jsonb
            WHEN 'clip.ready' THEN '{"title": null, "url": null, "thumbnailUrl": null}'::jsonb ELSE '{}' END END
        FROM users AS u WHERE u.id = e.user_id
            AND (u.erased_at IS NOT NULL OR EXISTS (SELECT FROM former_handles AS f WHERE f.user_id = u.id))), '{}')
    WHEN EXISTS (SELECT FROM moderation WHERE hidden) THEN shown_data(type, data) ELSE data END AS data
FROM protocol_events AS e;

-- The export of an account has its former handles.
DO $$ BEGIN
    EXECUTE 'CREATE OR REPLACE VIEW personal_rows AS ' || rtrim(pg_get_viewdef('personal_rows'::regclass), ';') || $view$
    UNION ALL
    SELECT 'former_handles', user_id, NULL::text, handle, json_build_object('handle', handle, 'until', until)::text FROM former_handles
    $view$;
END $$;
