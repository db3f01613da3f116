-- Woken by every writer of the outbox.
LISTEN sc_outbox
