-- Search of markets by words. Words are folded by one function, for markets and for queries.

-- The extension is trusted. Who runs the migrations may create it, because they create the schema as well.
RESET ROLE;
CREATE EXTENSION IF NOT EXISTS pg_trgm;
SET ROLE api_migrator;

-- Returns the words of a text, each once, in their order: lower case, without accents. An apostrophe does not separate
-- words, nor does a comma between digits.
CREATE FUNCTION search_words(input text) RETURNS text[] LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
DECLARE
    folded text := lower(input);
    word   text;
    found  text[] := '{}';
BEGIN
    IF octet_length(input) <> char_length(input) THEN
        folded := lower(regexp_replace(normalize(input, NFKD),
            '[\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u064b-\u065f\u0670'
            '\u06d6-\u06dc\u06df-\u06e4\u06e7\u06e8\u06ea-\u06ed\u08d3-\u0902\u093a\u093c\u0941-\u0948\u094d\u0951-\u0957\u0e31'
            '\u0e34-\u0e3a\u0e47-\u0e4e\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20f0\u3099\u309a\ufe00-\ufe0f\ufe20-\ufe2f]',
            '', 'g') COLLATE "und-x-icu");
        folded := replace(replace(replace(replace(translate(folded, 'øłđðıħ’', 'olddih'), 'ß', 'ss'), 'æ', 'ae'), 'œ', 'oe'), 'þ', 'th');
    END IF;
    folded := regexp_replace(replace(folded, '''', ''), '([0-9]),(?=[0-9])', '\1', 'g');
    FOREACH word IN ARRAY string_to_array(regexp_replace(folded COLLATE "und-x-icu", '[^[:alnum:]]+', ' ', 'g'), ' ') LOOP
        IF word <> '' AND word <> ALL (found) THEN
            found := found || word;
        END IF;
    END LOOP;
    RETURN found;
END $$;

-- Returns the words of a title that say what a market is about.
CREATE FUNCTION search_title(input text) RETURNS text[] LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
DECLARE
    word  text;
    found text[] := '{}';
BEGIN
    FOREACH word IN ARRAY api.search_words(input) LOOP
        IF word <> ALL ('{a,an,and,are,as,at,be,before,by,end,for,from,has,have,he,her,his,if,in,into,is,it,its,of,on,or,over,she,'
            'than,that,the,their,they,this,to,under,up,was,what,when,which,who,will,with}'::text[]) THEN
            found := found || word;
        END IF;
    END LOOP;
    RETURN found;
END $$;

-- Returns the place of a volume in an order that rises: the largest first, an unknown one last.
CREATE FUNCTION search_rank(volume double precision) RETURNS double precision LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT CASE WHEN volume IS NULL OR volume = 'NaN' THEN 'Infinity' ELSE -volume END
$$;

-- Returns the place of a volume in steps of 65 %, in the same order. The volume of an open market changes with each answer of its
-- venue, its step seldom: an index of steps is not written at each answer.
CREATE FUNCTION search_step(volume double precision) RETURNS double precision LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT CASE WHEN volume IS NULL OR volume IN ('NaN', '-Infinity') THEN 'Infinity' WHEN volume > 1 THEN -floor(2 * ln(volume)) ELSE 0 END
$$;

-- What is searched of a market, apart from its row, so that prices and states do not write indexes of words.
CREATE TABLE market_search (
    market_id    text PRIMARY KEY,
    closed       boolean, -- null: the state is unknown and the market is not found
    by_volume    double precision NOT NULL, -- search_step where the market is open, else search_rank
    by_volume24h double precision NOT NULL, -- the same
    by_end       double precision NOT NULL, -- microseconds; infinity without an end
    title        text[] COLLATE "C" NOT NULL, -- search_title
    -- Words of title and slug, and in capitals with a = before the state, the provider and the lane.
    vector       tsvector NOT NULL
) WITH (fillfactor = 90);
CREATE INDEX market_search_volume ON market_search (closed, by_volume, market_id);
CREATE INDEX market_search_volume24h ON market_search (closed, by_volume24h, market_id);
CREATE INDEX market_search_end ON market_search (closed, by_end, market_id);
-- The list of pending entries is read by each search.
CREATE INDEX market_search_words ON market_search USING gin (vector) WITH (gin_pending_list_limit = 256);
GRANT SELECT, INSERT, UPDATE ON market_search TO api_rw;

-- Every word of a market, for parts of words and typing errors. A word may be there twice: a unique index would make
-- writers wait for each other.
CREATE TABLE market_words (word text COLLATE "C" NOT NULL);
CREATE INDEX market_words_word ON market_words (word);
DO $$ BEGIN
    EXECUTE format('CREATE INDEX market_words_parts ON market_words USING gin (word %I.gin_trgm_ops) WITH (gin_pending_list_limit = 256)',
        (SELECT n.nspname FROM pg_extension AS e JOIN pg_namespace AS n ON n.oid = e.extnamespace WHERE e.extname = 'pg_trgm'));
END $$;
GRANT SELECT, INSERT ON market_words TO api_rw;

-- Writes what is searched of a market.
CREATE FUNCTION index_market(id text) RETURNS void LANGUAGE plpgsql SET search_path = api, pg_temp AS $$
BEGIN
    INSERT INTO market_search AS s (market_id, closed, by_volume, by_volume24h, by_end, title, vector)
    SELECT m.market_id, c.closed,
        CASE WHEN c.closed THEN search_rank(q.volume_usd) ELSE search_step(q.volume_usd) END,
        CASE WHEN c.closed THEN search_rank(q.volume24h) ELSE search_step(q.volume24h) END,
        coalesce(extract(epoch FROM m.end_date) * 1000000, 'Infinity'), search_title(m.title),
        array_to_tsvector(search_words(m.title) || search_words(m.slug) || ARRAY[
            CASE WHEN c.closed THEN '=CLOSED' ELSE '=OPEN' END, '=' || upper(m.provider), '=' || upper(m.lane)])
    FROM markets AS m
    CROSS JOIN LATERAL (SELECT CASE WHEN m.status = 'unknown' THEN NULL ELSE m.status <> 'open' END AS closed) AS c
    LEFT JOIN market_quotes AS q ON q.market_id = m.market_id
    WHERE m.market_id = id
    ON CONFLICT (market_id) DO UPDATE SET closed = excluded.closed, by_volume = excluded.by_volume,
        by_volume24h = excluded.by_volume24h, by_end = excluded.by_end, title = excluded.title, vector = excluded.vector;
    INSERT INTO market_words (word)
    SELECT DISTINCT w.word
    FROM market_search AS s CROSS JOIN unnest(tsvector_to_array(s.vector)) AS w (word)
    WHERE s.market_id = id AND left(w.word, 1) <> '='
        AND (SELECT k.word FROM market_words AS k WHERE k.word = w.word LIMIT 1) IS NULL;
END $$;

CREATE FUNCTION index_changed_market() RETURNS trigger LANGUAGE plpgsql SET search_path = api, pg_temp AS $$
BEGIN
    PERFORM index_market(NEW.market_id);
    RETURN NULL;
END $$;
CREATE TRIGGER index_new AFTER INSERT ON markets FOR EACH ROW WHEN (NEW.status <> 'unknown') EXECUTE FUNCTION index_changed_market();
CREATE TRIGGER index_changed AFTER UPDATE OF title, slug, status, lane, end_date ON markets FOR EACH ROW
    WHEN ((OLD.title, OLD.slug, OLD.status, OLD.lane, OLD.end_date) IS DISTINCT FROM (NEW.title, NEW.slug, NEW.status, NEW.lane, NEW.end_date))
    EXECUTE FUNCTION index_changed_market();

-- Moves a market in the orders of volume.
CREATE FUNCTION rank_market() RETURNS trigger LANGUAGE plpgsql SET search_path = api, pg_temp AS $$
BEGIN
    UPDATE market_search AS s SET by_volume = n.by_volume, by_volume24h = n.by_volume24h
    FROM (SELECT k.market_id,
            CASE WHEN k.closed THEN search_rank(NEW.volume_usd) ELSE search_step(NEW.volume_usd) END AS by_volume,
            CASE WHEN k.closed THEN search_rank(NEW.volume24h) ELSE search_step(NEW.volume24h) END AS by_volume24h
        FROM market_search AS k WHERE k.market_id = NEW.market_id) AS n
    WHERE s.market_id = n.market_id AND (s.by_volume, s.by_volume24h) IS DISTINCT FROM (n.by_volume, n.by_volume24h);
    RETURN NULL;
END $$;
-- Writes what is searched of the next markets after an id and returns the last of them; null: there are no more. The lock makes a
-- change of a market that is under way come first.
CREATE FUNCTION fill_search(after text, most integer) RETURNS text LANGUAGE plpgsql SET search_path = api, pg_temp AS $$
DECLARE id text;
BEGIN
    FOR id IN SELECT m.market_id FROM markets AS m WHERE m.market_id > after ORDER BY m.market_id LIMIT most FOR SHARE LOOP
        PERFORM index_market(id);
    END LOOP;
    RETURN id;
END $$;
