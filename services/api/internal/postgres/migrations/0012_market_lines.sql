-- The next markets of each programme lane, in the order in which the clock takes
-- them: without it the list of prices to refresh sorts every open market.
CREATE INDEX markets_lined ON markets (provider, category, end_date, market_id)
    WHERE status = 'open' AND NOT provisional AND category NOT IN ('', 'other') AND volume_unit = 'usd';

-- A stream tells prices between two answers of a venue. Where one was newer than
-- the last answer, `at` is the time of its price and this that of the answer, so
-- that the answers to come are judged among themselves; else it is null.
ALTER TABLE market_quotes ADD COLUMN answered_at timestamptz;
