-- name: GetPicture :one
SELECT source, jpeg, tried_at FROM pictures WHERE operator_id = @operator_id;

-- name: StartPicture :execrows
-- Stores the time of a fetch, unless the last one was after @before.
INSERT INTO pictures (operator_id, source, tried_at) VALUES (@operator_id, '', @now)
ON CONFLICT (operator_id) DO UPDATE SET tried_at = excluded.tried_at WHERE pictures.tried_at <= @before;

-- name: StorePicture :exec
INSERT INTO pictures (operator_id, source, jpeg, tried_at) VALUES (@operator_id, @source, @jpeg, @tried_at)
ON CONFLICT (operator_id) DO UPDATE SET source = excluded.source, jpeg = excluded.jpeg, tried_at = excluded.tried_at;

-- name: DeletePicture :exec
DELETE FROM pictures WHERE operator_id = @operator_id;
