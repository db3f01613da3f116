// Package httpapi is the HTTP face of the clock: /program/*, read by anybody from
// any origin. routes.go lists every route with who may call it, its CORS class
// and its cache rule. It knows no database and no protobuf; only the types here
// carry JSON names.
package httpapi
