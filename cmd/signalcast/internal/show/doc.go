// Package show writes answers of the services as JSON or as tables.
//
// Answers contain texts of other users, so invisible characters are escaped in JSON and omitted from tables: control sequences
// do not reach the terminal.
package show
