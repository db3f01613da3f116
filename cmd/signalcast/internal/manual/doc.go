// Package manual writes what the command line says of itself: completions for shells,
// the man page, the version. All of it comes from the commands, so nothing is declared twice.
package manual
