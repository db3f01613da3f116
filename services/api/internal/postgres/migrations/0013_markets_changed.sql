-- What the search index takes in every few seconds.
CREATE INDEX markets_changed ON markets (updated_at);
