-- Decisions of administrators about the text of applications. A hidden application is written
-- without it; original keeps it, with what was written meanwhile.
CREATE TABLE moderated_apps (
    app_id     uuid PRIMARY KEY,
    hidden     boolean NOT NULL,
    reason     text NOT NULL CHECK (char_length(reason) <= 500),
    decided_by text NOT NULL CHECK (char_length(decided_by) <= 64),
    decided_at timestamptz NOT NULL,
    original   jsonb NOT NULL -- name, homepage, logo_url
);
GRANT SELECT, INSERT, UPDATE ON moderated_apps TO hub_rw;

CREATE FUNCTION app_text(name text, homepage text, logo_url text) RETURNS jsonb LANGUAGE sql IMMUTABLE
    RETURN jsonb_build_object('name', name, 'homepage', homepage, 'logo_url', logo_url);

CREATE FUNCTION keep_hidden_app() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NOT EXISTS (SELECT FROM hub.moderated_apps WHERE app_id = NEW.id AND hidden) THEN
        RETURN NEW;
    END IF;
    UPDATE hub.moderated_apps m SET original = m.original || coalesce((
        SELECT jsonb_object_agg(n.key, n.value)
        FROM jsonb_each(hub.app_text(NEW.name, NEW.homepage, NEW.logo_url)) n
        JOIN jsonb_each(hub.app_text(OLD.name, OLD.homepage, OLD.logo_url)) o ON o.key = n.key AND o.value <> n.value), '{}')
    WHERE m.app_id = NEW.id;
    NEW.name := 'Removed by an administrator';
    NEW.homepage := '';
    NEW.logo_url := '';
    RETURN NEW;
END $$;
CREATE TRIGGER keep_hidden BEFORE UPDATE ON apps FOR EACH ROW EXECUTE FUNCTION keep_hidden_app();

-- What operators reported.
CREATE TABLE reports (
    id       uuid PRIMARY KEY, -- v7
    reporter uuid NOT NULL,
    kind     text NOT NULL CHECK (kind IN ('signal', 'event', 'profile', 'market', 'station', 'app')),
    thing    text NOT NULL,
    reason   text NOT NULL CHECK (char_length(reason) <= 500),
    at       timestamptz NOT NULL
);
CREATE INDEX reports_of_reporter ON reports (reporter, at DESC);
CREATE INDEX reports_newest ON reports (at DESC);
GRANT SELECT, INSERT ON reports TO hub_rw;
