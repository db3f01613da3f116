SELECT kind, id, hidden, reason, decided_by, decided_at FROM moderation ORDER BY decided_at DESC, kind, id LIMIT $1
