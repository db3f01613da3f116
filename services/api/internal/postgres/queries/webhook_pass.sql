-- Nothing up to there was for these webhooks.
UPDATE webhooks w SET taken = p.at
FROM unnest($1::uuid[], $2::integer[], $3::bigint[]) p (id, revision, at)
WHERE w.id = p.id AND w.revision = p.revision AND w.delivery_id IS NULL AND w.taken < p.at
