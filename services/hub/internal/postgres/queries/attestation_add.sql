INSERT INTO attestations_due (subject, body, at) VALUES ($1, $2, $3) ON CONFLICT (subject) DO NOTHING
