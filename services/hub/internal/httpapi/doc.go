// Package httpapi serves the HTTP routes of the hub. The table in routes.go has every route: method, path, credentials, CORS class,
// cache rule, answer without the ledger, and handler. The guard resolves the caller of a request and checks its limits and
// permissions before the handler runs.
//
// Handlers and JSON forms are in the packages below, one for each audience; what several audiences use is in request and view,
// and the HTML pages are in pages. Start with routes.go, then guard.go and server.go.
package httpapi
