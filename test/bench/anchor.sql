-- The table of the limits: signals with only the indexes that reads need. Its schema differs from the schema of the product.
SET client_min_messages = warning;
DROP SCHEMA IF EXISTS bench_anchor CASCADE;
CREATE SCHEMA bench_anchor;
CREATE TABLE bench_anchor.signals (
    id               uuid NOT NULL DEFAULT gen_random_uuid() PRIMARY KEY,
    operator_id      bigint NOT NULL,
    market_id        text NOT NULL,
    market_title     text NOT NULL,
    direction        smallint NOT NULL,
    price_bps        smallint NOT NULL,
    crowd_yes        smallint,
    confidence       smallint,
    text_take        text,
    status           smallint NOT NULL DEFAULT 0,
    score            int,
    outcome          smallint,
    close_price      smallint,
    clv_bps          smallint,
    scoring_version  text,
    scoring_vertical text,
    source           text,
    ttr              int,
    created_at       timestamptz NOT NULL DEFAULT now(),
    resolved_at      timestamptz,
    UNIQUE (market_id, operator_id)
);
CREATE INDEX ON bench_anchor.signals (created_at DESC, id DESC);
CREATE INDEX ON bench_anchor.signals (created_at DESC, id DESC) WHERE status = 0;
