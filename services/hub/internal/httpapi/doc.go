// Package httpapi serves the HTTP routes of the hub. The table in routes.go lists every route with its method, path, accepted
// credentials, CORS class, Cache-Control, handler, and the response while a dependency is unavailable. Before the handler of a
// route runs, the code in guard.go resolves the caller and checks rate limits and permissions.
//
// The subpackages have the handlers and JSON models. Packages request and view have code that several subpackages share, and
// package pages has the HTML pages. Start with routes.go, then guard.go and server.go.
package httpapi
