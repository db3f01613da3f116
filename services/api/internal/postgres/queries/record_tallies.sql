SELECT lane, price_bps, confidence, calls, wins FROM operator_tallies WHERE user_id = $1
ORDER BY lane, price_bps, confidence
