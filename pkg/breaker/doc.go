// Package breaker implements a circuit breaker. After repeated failures it rejects calls at once, so that callers do not wait
// for an unavailable dependency. It admits one probe at a time until a call succeeds.
package breaker
