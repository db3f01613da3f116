package search

// Leans is how many sentiments are remembered.
func (s *Service) Leans() int { return len(s.leans.kept) }
