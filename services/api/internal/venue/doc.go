// Package venue contains the common parts of the clients of market venues: the common form of a market, the errors, and
// an HTTP client with timeouts, a size limit, a rate limit with shares by purpose, retries and a circuit breaker. The
// vocabulary of each venue is in its sub-package. The package does not depend on storage or on routes.
package venue
