-- closing_at: deletion was requested, and the account is closed. erased_at: the account was deleted. Its calls remain under a handle
-- that no other account can have.
ALTER TABLE users
    ADD COLUMN closing_at timestamptz,
    ADD COLUMN erased_at  timestamptz,
    DROP CONSTRAINT users_handle_check,
    ADD CONSTRAINT users_handle_check CHECK (handle ~ '^([a-z0-9_]{2,32}|deleted-op_[0-9a-f]{9})$') NOT VALID;
CREATE INDEX users_erased ON users (erased_at) WHERE erased_at IS NOT NULL;
CREATE INDEX users_closing ON users (closing_at) WHERE closing_at IS NOT NULL AND erased_at IS NULL;

-- Erases the personal data of a closed account and hides the texts of its calls. The calls, their results and all sums remain. A
-- repetition changes nothing.
CREATE FUNCTION erase_account(who uuid, now timestamptz) RETURNS boolean LANGUAGE plpgsql SET search_path = api, pg_temp AS $$
DECLARE u users;
BEGIN
    SELECT * INTO u FROM users WHERE id = who AND closing_at IS NOT NULL FOR UPDATE;
    IF NOT FOUND OR u.erased_at IS NOT NULL THEN
        RETURN u.erased_at IS NOT NULL;
    END IF;
    UPDATE moderation SET hidden = false, original = '{}' WHERE kind = 'profile' AND id = u.handle;
    UPDATE users SET handle = 'deleted-' || left(public_id, 12), display_name = 'Deleted account', bio = NULL, avatar_url = NULL, links = '{}',
        payout_address = NULL, provider_id = 'erased:' || id, erased_at = now, session_version = session_version + 1
    WHERE id = who;
    UPDATE operator_keys SET label = 'deleted', revoked_at = coalesce(revoked_at, now) WHERE user_id = who;
    UPDATE stations SET name = 'Deleted station', description = NULL, tapes_url = NULL, operators_url = NULL, updated_at = now,
        deleted_at = coalesce(deleted_at, now) WHERE user_id = who;
    UPDATE moderation SET original = '{}' WHERE kind = 'station' AND id IN (SELECT station_id FROM stations WHERE user_id = who);
    INSERT INTO moderation (kind, id, hidden, reason, decided_by, decided_at)
    SELECT 'signal', s.signal_id::text, true, 'The account was deleted.', 'deletion of the account', now FROM unconfirmed_signals s
    WHERE s.user_id = who AND s.text_take IS NOT NULL
    ON CONFLICT (kind, id) DO UPDATE SET hidden = true, reason = excluded.reason, decided_by = excluded.decided_by, decided_at = excluded.decided_at;
    UPDATE unconfirmed_signals SET text_take = NULL WHERE user_id = who AND text_take IS NOT NULL;
    DELETE FROM webhooks WHERE user_id = who;
    DELETE FROM idempotency_keys WHERE user_id = who;
    INSERT INTO moderation (kind, id, hidden, reason, decided_by, decided_at)
    SELECT 'signal', s.id::text, true, 'The account was deleted.', 'deletion of the account', now FROM signals s
    WHERE s.user_id = who AND (s.text_take IS NOT NULL OR EXISTS (SELECT FROM signal_events e WHERE e.signal_id = s.id))
    ON CONFLICT (kind, id) DO UPDATE SET hidden = true, reason = excluded.reason, decided_by = excluded.decided_by, decided_at = excluded.decided_at;
    RETURN true;
END $$;

-- The feed without hidden text, and without the handle and the texts of deleted accounts.
CREATE OR REPLACE VIEW shown_events AS
SELECT seq, id, type, at, market_id, provider, lane, user_id, signal_id, topic,
    CASE WHEN EXISTS (SELECT FROM moderation WHERE hidden) THEN shown_data(type, data) ELSE data END
    || CASE WHEN data ? 'handle' AND EXISTS (SELECT FROM users WHERE erased_at IS NOT NULL) THEN coalesce((
        SELECT jsonb_build_object('handle', u.handle) || CASE e.type
            WHEN 'stream.bound' THEN '{"url": "", "label": ""}'::jsonb
            WHEN 'operator.live' THEN '{"hlsUrl": "", "signal": null}'::jsonb
            WHEN 'operator.offline' THEN '{"signal": null}'::jsonb
            WHEN 'clip.ready' THEN '{"title": null, "url": null, "thumbnailUrl": null}'::jsonb ELSE '{}' END
        FROM users AS u WHERE u.id = e.user_id AND u.erased_at IS NOT NULL), '{}') ELSE '{}' END AS data
FROM protocol_events AS e;
