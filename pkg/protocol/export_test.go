package protocol

// Spoil changes byte i of the stored hash, so that no text matches.
func (s *Secret) Spoil(i int) { s.sum[i]++ }
