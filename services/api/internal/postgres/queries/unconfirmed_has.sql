SELECT EXISTS (SELECT FROM unconfirmed_signals WHERE signal_id = $1)
