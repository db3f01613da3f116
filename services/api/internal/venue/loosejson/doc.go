// Package loosejson decodes the loosely typed JSON of market venues: numbers in strings, lists in strings, and several forms
// of times. Each type accepts every known form and stores decimals as text. Text that is not a valid number or time counts
// as absent; the package never guesses.
package loosejson
