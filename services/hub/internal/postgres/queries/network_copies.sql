SELECT rows FROM partner_copies WHERE kind = $1 AND at >= $2 ORDER BY origin
