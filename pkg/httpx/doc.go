// Package httpx contains the HTTP code that the services share: strict JSON decoding, JSON error responses, CORS
// classes, request ids, the access log, a router with cache and degradation rules, health checks, and a server with
// limits of time and size.
//
// A service creates a Router with New, adds middleware such as rate limits with Use, and mounts its routes. CORS
// headers are set before the middleware runs. Handlers return errors: a fault (pkg/apperr) determines its status, and
// every other error becomes a 500 without detail.
package httpx
