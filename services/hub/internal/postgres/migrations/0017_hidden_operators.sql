-- Decisions of administrators about profiles, as the ledger stored them. A withheld operator has
-- no streams, clips and overlay signal on any surface; its sessions and their figures stay.
ALTER TABLE streamer_profiles
    ADD COLUMN hidden   boolean NOT NULL DEFAULT false,
    ADD COLUMN withheld boolean NOT NULL GENERATED ALWAYS AS (hidden OR status = 'suspended') STORED;

-- Overlay signals as they are shown: those of withheld operators have no market.
CREATE VIEW shown_overlays AS
SELECT o.handle, CASE WHEN p.withheld IS NOT TRUE THEN o.market_id END AS market_id, o.name, o.yes_pct, o.slug, o.annotation,
    o.closes_at, o.updated_at, o.expires_at
FROM overlay_signals o
LEFT JOIN streamer_profiles p ON p.handle = o.handle;
GRANT SELECT ON shown_overlays TO hub_rw;
