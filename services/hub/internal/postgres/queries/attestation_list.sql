SELECT subject, body, at FROM attestations_due WHERE at <= $1 ORDER BY at LIMIT $2
