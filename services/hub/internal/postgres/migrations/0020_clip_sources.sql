-- A clip can be cut from a stream at another server, and without a market. A hub of the release before cannot list clips without
-- a market; they exist only after a hub of this release has run.
ALTER TABLE clips
    -- squawk-ignore ban-drop-not-null
    ALTER COLUMN market_id DROP NOT NULL,
    -- origin: this installation; playlist: any other server; else the name of a video host.
    ADD COLUMN source       text NOT NULL DEFAULT 'origin' CHECK (source IN ('origin', 'playlist', 'livepeer', 'mux')),
    ADD COLUMN source_url   text CHECK (char_length(source_url) <= 500), -- playlist; NULL: origin
    ADD COLUMN source_id    text CHECK (char_length(source_id) <= 200), -- id of the stream at a video host
    ADD COLUMN host_clip_id text CHECK (char_length(host_clip_id) <= 200); -- id of the clip at a video host
