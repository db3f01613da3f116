DELETE FROM attestations_due WHERE subject = $1
