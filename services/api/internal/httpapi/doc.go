// Package httpapi is the public face of the api host: the reads of /api/v1, the
// older key route, and the websocket. routes.go lists every route: method,
// path, who may call, CORS class, cache rule and empty value.
//
// A handler reads the request into plain values, asks a subject and shows the
// answer; all JSON shapes of this host live here. A socket is a reader of the
// live hub with a bounded queue; what it missed is read from the feed's history.
package httpapi
