package market

// Settle waits for the refreshes under way that nobody waits for.
func (s *Service) Settle() { s.wait.Wait() }

// MostFlights is how many questions of a purpose may be under way at one venue.
func MostFlights(p Purpose) int { return mostFlights[p] }
