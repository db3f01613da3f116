-- The feed without hidden text. While nothing is hidden, a read costs nothing more than its rows.
CREATE VIEW shown_events AS
SELECT seq, id, type, at, market_id, provider, lane, user_id, signal_id, topic,
    CASE WHEN EXISTS (SELECT FROM moderation WHERE hidden) THEN shown_data(type, data) ELSE data END AS data
FROM protocol_events;
GRANT SELECT ON shown_events TO api_rw;
