package history

// Cached returns the number of cache entries of the service.
func (s *Service) Cached() int { return s.answers.Len() }
