// Package manual writes the completions for shells, the man page and the version. It derives completions and man page from the
// declared commands.
package manual
