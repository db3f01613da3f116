-- Newest export of each account. Only the session that requested it can download it, for a day.
CREATE TABLE exports (
    user_id    uuid PRIMARY KEY,
    id         uuid NOT NULL UNIQUE,
    session_at timestamptz NOT NULL, -- second of issue of the session
    created_at timestamptz NOT NULL
);
GRANT SELECT, INSERT, UPDATE, DELETE ON exports TO hub_rw;

-- Everything that the hub stores about an account, without secrets and without texts of others. Each row is a JSON object. Rows
-- belong to a user or to a handle; the other column is null. key is unique in a section of an account.
CREATE VIEW personal_rows AS
SELECT 'sessions' AS section, user_id, NULL::text AS handle, issued_at::text AS key, json_build_object('startedAt', issued_at, 'signedInAt', signed_in_at,
    'usedAt', used_at, 'endedAt', ended_at, 'browser', browser, 'address', address)::text AS data FROM sessions
UNION ALL
SELECT 'devices', user_id, NULL, browser || ' ' || address, json_build_object('browser', browser, 'address', address, 'usedAt', used_at)::text FROM devices
UNION ALL
SELECT 'following', follower, NULL, followed::text, json_build_object('followed', followed, 'createdAt', created_at, 'muted', muted, 'callsFrom', calls_from,
    'liveFrom', live_from, 'takesFrom', takes_from)::text FROM follows
UNION ALL
SELECT 'watched_markets', user_id, NULL, market_id, json_build_object('marketId', market_id, 'createdAt', created_at)::text FROM watches
UNION ALL
SELECT 'notifications', user_id, NULL, id::text, json_build_object('id', id, 'kind', kind, 'actor', handle, 'marketId', market_id, 'signalId', signal_id,
    'status', status, 'score', score, 'reason', reason, 'count', count, 'createdAt', created_at, 'readAt', read_at)::text FROM notifications
UNION ALL
SELECT 'notification_settings', user_id, NULL, kind, json_build_object('kind', kind, 'onFrom', on_from)::text FROM notification_switches
UNION ALL
SELECT 'milestones', user_id, NULL, '1', json_build_object('calls', calls)::text FROM milestones
UNION ALL
SELECT 'wallets', user_id, NULL, station, json_build_object('station', station, 'identity', identity, 'verifiedAt', verified_at)::text FROM identity_claims
UNION ALL
SELECT 'exports', user_id, NULL, id::text, json_build_object('id', id, 'createdAt', created_at)::text FROM exports
UNION ALL
SELECT 'messages', denpa_id, NULL, id, json_build_object('id', id, 'type', type, 'appId', app_id, 'publicKey', public_key, 'nonce', nonce, 'body', body,
    'attested', attested, 'status', status, 'receivedAt', received_at, 'acceptedAt', accepted_at, 'result', result)::text FROM messages
UNION ALL
SELECT 'signing_keys', denpa_id, NULL, public_key, json_build_object('publicKey', public_key, 'appId', app_id, 'grantId', grant_id, 'keyId', key_id,
    'scopes', scopes, 'label', label, 'createdAt', created_at, 'expiresAt', expires_at, 'revokedAt', revoked_at, 'revokedBy', revoked_by)::text FROM signers
UNION ALL
SELECT 'apps', owner_id, NULL, id::text, json_build_object('id', id, 'kind', kind, 'name', name, 'redirectUris', redirect_uris, 'scopes', scopes,
    'homepage', homepage, 'logoUrl', logo_url, 'allowedResources', allowed_resources, 'createdAt', created_at, 'disabledAt', disabled_at,
    'trustedAt', trusted_at)::text FROM apps
UNION ALL
SELECT 'connected_apps', user_id, NULL, id::text, json_build_object('id', id, 'appId', app_id, 'scopes', scopes, 'resource', resource, 'createdAt', created_at,
    'expiresAt', expires_at, 'lastUsedAt', last_used_at, 'revokedAt', revoked_at, 'revokedBy', revoked_by)::text FROM grants
UNION ALL
SELECT 'reports', reporter, NULL, id::text, json_build_object('id', id, 'kind', kind, 'subject', thing, 'reason', reason, 'at', at)::text FROM reports
UNION ALL
SELECT 'announced_broadcasts', owner, NULL, id::text, json_build_object('id', id, 'title', title, 'marketId', market_id, 'stationId', station_id,
    'lane', lane, 'scheduledFor', scheduled_for, 'state', state, 'createdAt', created_at)::text FROM broadcasts
UNION ALL
SELECT 'streamer', NULL, handle, '1', json_build_object('status', status, 'lanes', lanes, 'registeredAt', registered_at, 'decidedAt', decided_at,
    'updatedAt', updated_at)::text FROM streamer_profiles
UNION ALL
SELECT 'overlay', NULL, handle, '1', json_build_object('marketId', market_id, 'name', name, 'yesPct', yes_pct, 'slug', slug, 'annotation', annotation,
    'closesAt', closes_at, 'updatedAt', updated_at, 'expiresAt', expires_at)::text FROM overlay_signals
UNION ALL
SELECT 'overlay_changes', NULL, handle, at::text, json_build_object('at', at)::text FROM overlay_sets
UNION ALL
SELECT 'broadcasts', NULL, handle, id::text, json_build_object('id', id, 'startedAt', started_at, 'endedAt', ended_at, 'marketId', market_id,
    'ownUrl', own_url, 'hlsUrl', hls_url, 'aired', aired, 'viewersPeak', viewers_peak, 'signalMarket', signal_market, 'signalName', signal_name)::text FROM live_sessions
UNION ALL
SELECT 'clips', NULL, created_by, id::text, json_build_object('id', id, 'handle', handle, 'marketId', market_id, 'title', title, 'url', url, 'status', status,
    'stance', stance, 'views', views, 'createdAt', created_at, 'readyAt', ready_at)::text FROM clips
UNION ALL
SELECT 'streams', NULL, handle, market_id, json_build_object('marketId', market_id, 'url', url, 'label', label, 'updatedAt', updated_at)::text FROM streams
UNION ALL
SELECT 'stream_key', NULL, handle, id::text, json_build_object('id', id, 'provider', provider, 'hlsUrl', hls_url, 'label', label, 'latency', latency,
    'createdAt', created_at, 'rotatedAt', rotated_at)::text FROM ingest_streams
UNION ALL
SELECT 'ended_follows', follower, NULL, followed::text, json_build_object('followed', followed, 'seenAt', seen_at)::text FROM seen_follows;
CREATE INDEX messages_of_owner ON messages (denpa_id, id);
GRANT SELECT ON personal_rows TO hub_rw;
