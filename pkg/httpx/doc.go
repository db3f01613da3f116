// Package httpx is the HTTP edge that the services share: the strict JSON
// reader, the one error shape, CORS classes, request ids, the access log,
// routes with cache and graceful-empty rules, health, and servers whose time
// and size are bounded.
//
// A service makes an Router with New, adds its own middleware with Use (a rate
// limit, for example; CORS headers are already set when it runs), and mounts
// its routes. Handlers return plain errors; faults become their status and
// everything else a 500 without detail. The package knows no domain word.
package httpx
