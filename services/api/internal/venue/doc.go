// Package venue contains the common parts of the clients of market venues. They are helpers to decode market records and
// quotes, and an HTTP client with timeouts, a size limit, a rate limit with shares by purpose, retries and a circuit
// breaker. The rules of each venue are in its sub-package. The package does not depend on storage or on routes.
package venue
