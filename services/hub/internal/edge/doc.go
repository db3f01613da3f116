// Package edge is the front door's HTTP face. routes.go lists every route:
// method, path, who may call, CORS class, cache rule and empty value. A
// handler reads the request into plain values, asks a subject, and shows the
// answer; all JSON shapes of this service live here. Hot public reads are
// answered from ready pages before the rest of the chain.
package edge
