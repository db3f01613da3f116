package history

// Held is the number of cache entries.
func (s *Service) Held() int { return s.answers.Len() }
