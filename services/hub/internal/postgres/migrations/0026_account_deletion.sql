-- Stops what acts for an account: its signing keys, the apps that it connected or registered, and its streams. A repetition changes
-- nothing. The function runs as the owner of the schema, so that only this change of apps and streams is possible.
CREATE FUNCTION close_account(who uuid, of_handle text, now timestamptz) RETURNS void LANGUAGE plpgsql SECURITY DEFINER SET search_path = hub, pg_temp AS $$
BEGIN
    UPDATE signers s SET revoked_by = 'user', revoked_at = greatest(
        now, (SELECT max(m.received_at) + interval '1 microsecond' FROM messages m WHERE m.public_key = s.public_key))
    WHERE denpa_id = who AND revoked_at IS NULL;
    UPDATE apps SET disabled_at = now, old_secret_hash = NULL, old_secret_until = NULL WHERE owner_id = who AND disabled_at IS NULL;
    WITH ended AS (
        UPDATE grants g SET revoked_at = now, revoked_by = CASE WHEN g.user_id = who THEN 'user' ELSE 'app_disabled' END
        WHERE g.revoked_at IS NULL AND (g.user_id = who OR g.app_id IN (SELECT id FROM apps WHERE owner_id = who))
        RETURNING g.id
    )
    INSERT INTO outbox (type, at, data) SELECT 'grant.revoked', now, id::text FROM ended;
    DELETE FROM auth_requests WHERE user_id = who;
    UPDATE auth_codes SET expires_at = least(expires_at, now) WHERE user_id = who AND used_at IS NULL;
    DELETE FROM streams WHERE handle = of_handle;
    UPDATE ingest_streams SET key_hash = sha256(gen_random_uuid()::text::bytea), version = version + 1 WHERE handle = of_handle;
    UPDATE live_sessions SET ended_at = greatest(now, last_beat) WHERE handle = of_handle AND ended_at IS NULL;
END $$;

-- Erases the personal data of an account. Signed messages remain, and broadcasts and clips under the handle to_handle, which is hidden.
CREATE FUNCTION erase_account(who uuid, of_handle text, to_handle text) RETURNS void LANGUAGE plpgsql SECURITY DEFINER SET search_path = hub, pg_temp AS $$
BEGIN
    DELETE FROM sessions WHERE user_id = who;
    DELETE FROM devices WHERE user_id = who;
    DELETE FROM follows WHERE follower = who OR followed = who;
    DELETE FROM seen_follows WHERE follower = who OR followed = who;
    DELETE FROM watches WHERE user_id = who;
    DELETE FROM notifications WHERE user_id = who OR actor = who;
    DELETE FROM notification_switches WHERE user_id = who;
    DELETE FROM milestones WHERE user_id = who;
    DELETE FROM identity_claims WHERE user_id = who;
    DELETE FROM exports WHERE user_id = who;
    DELETE FROM signer_challenges WHERE denpa_id = who;
    DELETE FROM overlay_signals WHERE handle = of_handle;
    DELETE FROM overlay_sets WHERE handle = of_handle;
    UPDATE moderated_apps SET original = '{}' WHERE app_id IN (SELECT id FROM apps WHERE owner_id = who);
    UPDATE apps SET name = 'Deleted app', homepage = '', logo_url = '' WHERE owner_id = who;
    UPDATE reports SET reason = '' WHERE reporter = who;
    UPDATE reports SET thing = to_handle WHERE kind = 'profile' AND thing = of_handle;
    UPDATE broadcasts SET title = 'Deleted' WHERE owner = who;
    UPDATE clips SET title = NULL, created_by = to_handle WHERE created_by = of_handle;
    UPDATE clips SET handle = to_handle WHERE handle = of_handle;
    UPDATE live_sessions SET handle = to_handle WHERE handle = of_handle;
    UPDATE ingest_streams SET label = '', handle = to_handle WHERE handle = of_handle;
    DELETE FROM live_heads WHERE split_part(channel, ':', 2) = of_handle;
    DELETE FROM streamer_profiles WHERE handle = to_handle; -- of an interrupted deletion
    UPDATE streamer_profiles SET handle = to_handle, lanes = '{}' WHERE handle = of_handle;
END $$;
CREATE INDEX notifications_actor ON notifications (actor) WHERE actor IS NOT NULL;
REVOKE ALL ON FUNCTION close_account(uuid, text, timestamptz), erase_account(uuid, text, text) FROM public;
GRANT EXECUTE ON FUNCTION close_account(uuid, text, timestamptz), erase_account(uuid, text, text) TO hub_rw;
