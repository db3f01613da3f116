-- A digest of all decisions: each stored decision changes it, whatever the clock of its process.
SELECT coalesce(sum(hashtextextended(concat_ws('|', kind, id, hidden, decided_at), 0)::numeric), 0)::text FROM moderation
