-- The operators among $1 that public screens show: approved and not withheld.
SELECT handle FROM streamer_profiles WHERE handle = ANY ($1::text[]) AND status = 'approved' AND NOT withheld
