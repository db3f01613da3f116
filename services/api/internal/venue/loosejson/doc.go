// Package loosejson decodes the loosely typed JSON of market venues: numbers in strings, lists in strings, and several
// forms of time. Each type accepts every known form and stores decimals as text. Unreadable values are absent; the
// package never guesses.
package loosejson
