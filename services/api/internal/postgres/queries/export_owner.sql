SELECT id, public_id, handle, display_name, operator_type, tier FROM users WHERE handle = lower($1)
