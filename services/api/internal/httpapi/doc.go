// Package httpapi implements the public HTTP routes of the api: the reads of /api/v1, the older route that mints keys, the
// websocket, and server-sent events. routes.go lists every route with its method, path, callers, CORS class, cache rule and
// empty value.
//
// A handler parses the request, calls a domain service, and converts the result to JSON. All JSON types of the api are in
// this package. A websocket is a reader of the broker with a bounded queue; the events that it missed are read from the
// store.
package httpapi
