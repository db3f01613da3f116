package market

// Settle waits until the reads of venues in progress have ended.
func (s *Service) Settle() { s.flights.wait.Wait() }

// MaxFlights returns the largest number of concurrent reads of one venue for a purpose.
func MaxFlights(p Purpose) int { return maxFlights[p] }
