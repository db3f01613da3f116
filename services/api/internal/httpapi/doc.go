// Package httpapi implements the public HTTP routes of the api: reads, webhooks, stations, routes of administrators, the
// deprecated route that mints keys, the websocket, and server-sent events. routes.go lists every route with its method,
// path, callers, CORS class, cache rule and empty response.
//
// A handler parses the request, calls a domain service, and converts the result to JSON. All JSON types of the api are in
// this package and package openapi. A websocket is a reader of the broker with a bounded queue. Events that are no longer in
// the memory of the broker are read from the store.
package httpapi
