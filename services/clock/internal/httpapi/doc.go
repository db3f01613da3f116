// Package httpapi serves the public HTTP routes of the clock service, /program/*. All routes allow all origins and accept no
// credential. The function routes lists them with their Cache-Control values. The package does not depend on the database or on
// protobuf.
package httpapi
