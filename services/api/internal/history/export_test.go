package history

// Held is the number of answers that are held.
func (s *Service) Held() int {
	s.kept.mu.Lock()
	defer s.kept.mu.Unlock()
	return len(s.kept.all)
}
