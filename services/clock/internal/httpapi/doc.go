// Package httpapi serves the public HTTP routes of the clock service, /program/*. All routes allow all origins and accept no
// credential. For the routes and their Cache-Control values, see the function named routes. The package does not depend on
// the database or on protobuf.
package httpapi
