-- Everything that the ledger stores about an account besides its published calls, without secrets and without texts of others.
-- Each row is a JSON object. Rows belong to user_id, or to the text of the id in subject; the other column is null. key is unique in a
-- section of an account.
CREATE VIEW personal_rows AS
SELECT 'account' AS section, id AS user_id, NULL::text AS subject, '1' AS key, json_build_object('denpaId', id, 'issuer', issuer, 'subject', provider_id, 'operatorPublicId', public_id,
    'handle', handle, 'displayName', display_name, 'bio', bio, 'avatarUrl', avatar_url, 'links', links, 'payoutAddress', payout_address,
    'operatorType', operator_type, 'tier', tier, 'keyTier', key_tier, 'createdAt', created_at)::text AS data FROM users
UNION ALL
SELECT 'api_keys', user_id, NULL, id::text, json_build_object('id', id, 'prefix', prefix, 'last4', last4, 'label', label, 'tier', tier, 'permissions', permissions,
    'strict', strict, 'createdAt', created_at, 'lastUsedAt', last_used_at, 'revokedAt', revoked_at)::text FROM operator_keys
UNION ALL
SELECT 'unconfirmed_calls', user_id, NULL, signal_id::text, json_build_object('id', signal_id, 'marketId', market_id, 'direction', CASE WHEN yes THEN 'YES' ELSE 'NO' END,
    'priceBps', price_bps, 'confidence', confidence, 'textTake', text_take, 'source', source, 'createdAt', created_at, 'deniedAt', denied_at)::text FROM unconfirmed_signals
UNION ALL
SELECT 'request_keys', user_id, NULL, key, json_build_object('key', key, 'resultId', result_id, 'createdAt', created_at)::text FROM idempotency_keys
UNION ALL
SELECT 'webhooks', user_id, NULL, id::text, json_build_object('id', id, 'url', url, 'channels', channels, 'types', types, 'description', description,
    'active', active, 'reason', reason, 'createdAt', created_at, 'keyId', key_id)::text FROM webhooks
UNION ALL
SELECT 'webhook_deliveries', w.user_id, NULL, lpad(d.line::text, 20, '0'), json_build_object('webhookId', d.webhook_id, 'deliveryId', d.delivery_id,
    'firstSeq', d.first_seq, 'lastSeq', d.last_seq, 'events', d.events, 'attempt', d.attempt, 'status', d.status, 'error', d.error,
    'tookMs', d.took_ms, 'at', d.at)::text FROM webhook_deliveries d JOIN webhooks w ON w.id = d.webhook_id
UNION ALL
SELECT 'stations', user_id, NULL, station_id, json_build_object('stationId', station_id, 'name', name, 'url', url, 'description', description, 'lanes', lanes,
    'providers', providers, 'tapesUrl', tapes_url, 'operatorsUrl', operators_url, 'status', status, 'createdAt', created_at, 'updatedAt', updated_at,
    'deletedAt', deleted_at)::text FROM stations
UNION ALL
SELECT 'created_markets', NULL, created_by, market_id, json_build_object('marketId', market_id, 'title', title, 'description', description,
    'endDate', end_date, 'resolvesBy', resolves_by, 'resolutionSource', resolution_source, 'initialYesBps', initial_yes_bps, 'lane', lane,
    'status', status, 'createdAt', created_at)::text FROM markets WHERE provider = 'manual'
UNION ALL
SELECT 'proposed_outcomes', proposed_by, NULL, market_id, json_build_object('marketId', market_id, 'verdict', verdict, 'proofUrl', proof_url, 'reason', reason,
    'proposedAt', proposed_at)::text FROM resolution_proposals
UNION ALL
SELECT 'account_changes', NULL, subject, lpad(id::text, 20, '0'), json_build_object('at', at, 'action', action, 'data', data)::text
FROM audit_log WHERE action LIKE 'operator.%';
GRANT SELECT ON personal_rows TO api_rw;
