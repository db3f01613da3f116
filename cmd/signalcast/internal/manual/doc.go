// Package manual implements the commands that write shell completions, the man page and the version. It derives the completions
// and the man page from the declared commands.
package manual
