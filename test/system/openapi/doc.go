// Package openapi reads the OpenAPI document of the repository. It lists the operations with the parameters and bodies of their
// requests, and checks whether a response matches the document.
//
// Tests that send requests to every route take the routes from this package, so that they cover a new route without a change.
package openapi
