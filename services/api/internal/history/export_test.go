package history

// Cached returns the number of cache entries.
func (s *Service) Cached() int { return s.answers.Len() }
