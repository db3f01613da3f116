// Package openapi reads the OpenAPI document of the repository: which
// operations there are, what their requests hold, and whether an answer is as it
// says. Rows that walk every route take them from here, so that a route that
// joins the document joins the rows.
package openapi
