// Package httpapi serves the HTTP routes of the hub. The table in routes.go lists every route with its method, path, accepted
// credentials, CORS class, Cache-Control, handler, and the response while a dependency is unavailable. The guard resolves the
// caller of a request and checks rate limits and permissions before the handler runs.
//
// Handlers and JSON models are in the subpackages, one for each audience. Packages request and view have code that several
// audiences share; package pages has the HTML pages. Start with routes.go, then guard.go and server.go.
package httpapi
