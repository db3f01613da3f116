-- Whether a market has calls is read from its counters, so the open list is
-- written without a second index.
DROP INDEX open_signals_market;
