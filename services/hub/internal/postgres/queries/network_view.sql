INSERT INTO tape_views AS v (origin, tape_id, views) VALUES ($1, $2, 1)
ON CONFLICT (origin, tape_id) DO UPDATE SET views = v.views + 1
