// Package loosejson decodes the loose JSON that market venues send: numbers in
// strings, lists in strings, several forms of time. Each type takes every form
// seen, keeps decimals as text, and never guesses: what cannot be read is
// absent.
package loosejson
