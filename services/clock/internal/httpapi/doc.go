// Package httpapi serves the public HTTP routes of the clock, /program/*. All routes are open to all origins and accept no
// credential. The function routes lists them with their cache rules. The package does not depend on the database or on protobuf.
package httpapi
