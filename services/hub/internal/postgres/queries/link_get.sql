SELECT code, type, id FROM short_links WHERE code = $1
