// Package openapi reads the OpenAPI document of the repository: the operations, the parameters and bodies of their requests,
// and whether an answer is one that the document describes. Tests that visit every route take the routes from here, so that
// they cover a new route without a change.
package openapi
