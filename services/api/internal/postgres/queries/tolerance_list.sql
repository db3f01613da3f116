SELECT since, bps FROM price_tolerances ORDER BY since
