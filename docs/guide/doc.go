// Package guide makes the pages of docs/ into HTML: one flat folder of files that need no
// script, load nothing from anywhere else, and link to each other by their names alone, so
// that they are the same on any host and in any folder.
//
// HTML inside of the Markdown is left out. A link that leads nowhere is a mistake, and so
// is an anchor that no heading has: New names them all. The package does no I/O but to
// read the files that it is given, and knows no HTTP.
package guide
