INSERT INTO overlay_sets (handle, at) VALUES ($1, $2)
