-- Short links: one for each thing that was shared, for good.
CREATE TABLE short_links (
    code       text PRIMARY KEY CHECK (code ~ '^[1-9A-HJ-NP-Za-km-z]{7}$'),
    type       text NOT NULL CHECK (type IN ('signal', 'market', 'operator', 'tape')),
    id         text NOT NULL CHECK (char_length(id) BETWEEN 1 AND 160),
    created_at timestamptz NOT NULL DEFAULT now(),
    UNIQUE (type, id)
);
GRANT SELECT, INSERT ON short_links TO hub_rw;
