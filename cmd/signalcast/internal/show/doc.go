// Package show writes answers: as JSON for programs, as tables for people.
//
// Texts of others never command the terminal: what cannot be seen is escaped in JSON and
// left out of tables.
package show
