-- Wakes the relay.
SELECT pg_notify('sc_outbox', '')
