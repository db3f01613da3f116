-- The feed without hidden text, and without the handle and the texts of deleted accounts. The data of an event is copied only while
-- an account is deleted.
CREATE OR REPLACE VIEW shown_events AS
SELECT seq, id, type, at, market_id, provider, lane, user_id, signal_id, topic,
    CASE WHEN EXISTS (SELECT FROM users WHERE erased_at IS NOT NULL) AND data ? 'handle' THEN
        CASE WHEN EXISTS (SELECT FROM moderation WHERE hidden) THEN shown_data(type, data) ELSE data END || coalesce((
        SELECT jsonb_build_object('handle', u.handle) || CASE e.type
            WHEN 'stream.bound' THEN '{"url": "", "label": ""}'::jsonb
            WHEN 'operator.live' THEN '{"hlsUrl": "", "signal": null}'::jsonb
            WHEN 'operator.offline' THEN '{"signal": null}'::jsonb
            WHEN 'clip.ready' THEN '{"title": null, "url": null, "thumbnailUrl": null}'::jsonb ELSE '{}' END
        FROM users AS u WHERE u.id = e.user_id AND u.erased_at IS NOT NULL), '{}')
    WHEN EXISTS (SELECT FROM moderation WHERE hidden) THEN shown_data(type, data) ELSE data END AS data
FROM protocol_events AS e;
