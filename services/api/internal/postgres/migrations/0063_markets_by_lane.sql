-- The next markets of each programme lane, at venues with any unit of volume: the queries compare volumes in USD.
CREATE INDEX markets_by_lane ON markets (provider, category, end_date, market_id)
    WHERE status = 'open' AND NOT provisional AND category NOT IN ('', 'other');
DROP INDEX markets_lined;
