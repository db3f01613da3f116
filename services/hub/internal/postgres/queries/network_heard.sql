SELECT origin, max(at) FROM partner_copies GROUP BY origin
