// Package breaker is a circuit breaker: after repeated failures it refuses calls at once, so that callers do not wait for
// a dependency that does not answer, and admits one probe at a time until a call succeeds.
package breaker
