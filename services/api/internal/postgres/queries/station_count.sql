SELECT count(*) FROM stations WHERE user_id = $1 AND deleted_at IS NULL
