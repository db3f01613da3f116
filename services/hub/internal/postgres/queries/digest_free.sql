DELETE FROM digest_sent WHERE date = $1::text::date AND sent_at IS NULL
