// Package show writes responses of the services as JSON or as tables.
//
// Responses contain texts of other users, so invisible characters are escaped in JSON and omitted from tables: control sequences
// do not reach the terminal.
package show
