-- $1 date, $2 now, $3 recipients.
UPDATE digest_sent SET sent_at = $2, recipients = $3 WHERE date = $1::text::date AND sent_at IS NULL
