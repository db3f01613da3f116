package market

// Settle waits for the reads under way.
func (s *Service) Settle() { s.flights.wait.Wait() }

// MostFlights is how many questions of a purpose may be under way at one venue.
func MostFlights(p Purpose) int { return mostFlights[p] }
