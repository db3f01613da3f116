package protocol

// Spoil changes one byte of the hash with which texts are compared.
func (s *Secret) Spoil(i int) { s.sum[i]++ }
