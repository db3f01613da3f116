SELECT kind, span, key, seen_at FROM movement_sightings
