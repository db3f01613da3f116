-- ClaimIdleMarkets reads the closed markets of venues that have no outcome yet.
CREATE INDEX markets_closed ON markets (market_id) WHERE status = 'closed' AND provider <> 'manual';
