-- The files of a clip are about to go.
UPDATE clips SET status = 'dropped', url = NULL, thumbnail_url = NULL WHERE id = $1 AND status IN ('ready', 'processing')
