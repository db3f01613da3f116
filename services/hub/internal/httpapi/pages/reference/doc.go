// Package reference reads the OpenAPI document for the pages of the API reference. The pages show one operation or one schema
// each, with links between them.
package reference
