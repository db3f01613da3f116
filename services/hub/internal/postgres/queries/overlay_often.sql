SELECT count(*) FROM overlay_sets WHERE handle = $1 AND at >= $2
