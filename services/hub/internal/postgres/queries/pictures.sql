-- name: GetPicture :one
SELECT source, jpeg, tried_at FROM pictures WHERE operator_id = @operator_id;

-- name: StartPicture :execrows
-- Stores the time of a fetch, unless the last one was after @before.
INSERT INTO pictures (operator_id, source, tried_at) VALUES (@operator_id, '', @now)
ON CONFLICT (operator_id) DO UPDATE SET tried_at = excluded.tried_at WHERE pictures.tried_at <= @before;

-- name: EndPicture :exec
-- Stores the result of the fetch that was started at @started, unless the row was replaced or deleted since then.
UPDATE pictures SET source = @source, jpeg = @jpeg WHERE operator_id = @operator_id AND tried_at = @started;

-- name: StorePicture :exec
INSERT INTO pictures (operator_id, source, jpeg, tried_at) VALUES (@operator_id, @source, @jpeg, @tried_at)
ON CONFLICT (operator_id) DO UPDATE SET source = excluded.source, jpeg = excluded.jpeg, tried_at = excluded.tried_at;

-- name: MovePicture :exec
-- Replaces the source of the picture of an operator.
UPDATE pictures SET source = @wanted WHERE operator_id = @operator_id AND source = @former;

-- name: DeletePicture :exec
DELETE FROM pictures WHERE operator_id = @operator_id;
