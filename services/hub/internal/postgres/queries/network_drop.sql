DELETE FROM partner_copies WHERE NOT origin = ANY ($1::text[])
