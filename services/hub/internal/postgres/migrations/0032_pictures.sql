-- Pictures of operators, made from their avatarUrl or from an upload.
CREATE TABLE pictures (
    operator_id uuid PRIMARY KEY,
    source      text NOT NULL, -- avatarUrl from which the picture was made; empty: no fetch has stored a picture
    jpeg        bytea CHECK (octet_length(jpeg) BETWEEN 1 AND 65536), -- null: the address did not answer with a picture
    tried_at    timestamptz NOT NULL
);
GRANT SELECT, INSERT, UPDATE, DELETE ON pictures TO hub_rw;
