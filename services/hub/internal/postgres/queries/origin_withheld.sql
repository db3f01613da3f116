-- Media that must not be served: the handles of withheld operators and the ids of their clips.
SELECT handle FROM streamer_profiles WHERE withheld
UNION ALL
SELECT c.id::text FROM clips c JOIN streamer_profiles p ON p.handle = c.handle WHERE c.status = 'ready' AND p.withheld
