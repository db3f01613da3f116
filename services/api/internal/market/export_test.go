package market

// Settle waits for the reads in progress.
func (s *Service) Settle() { s.flights.wait.Wait() }

// MaxFlights returns the largest number of concurrent reads at one venue for a purpose.
func MaxFlights(p Purpose) int { return maxFlights[p] }
