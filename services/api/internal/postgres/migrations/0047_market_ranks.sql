-- In a file of their own: a migration locks one table that is written all the time.
CREATE TRIGGER rank_new AFTER INSERT ON market_quotes FOR EACH ROW EXECUTE FUNCTION rank_market();
-- The last answer showed the market open where its time is open_at.
CREATE TRIGGER rank_changed AFTER UPDATE OF volume_usd, volume24h ON market_quotes FOR EACH ROW
    WHEN (search_step(OLD.volume_usd) <> search_step(NEW.volume_usd) OR search_step(OLD.volume24h) <> search_step(NEW.volume24h)
        OR NEW.open_at IS DISTINCT FROM coalesce(NEW.answered_at, NEW.at)
        AND (OLD.volume_usd, OLD.volume24h) IS DISTINCT FROM (NEW.volume_usd, NEW.volume24h))
    EXECUTE FUNCTION rank_market();
