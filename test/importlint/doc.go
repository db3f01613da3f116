// Command importlint checks the layout of the code: which layer and which package of this repository may import which, which packages
// may use JSON tags and the time of day, and how long a file may be. Imports from outside the repository are checked by depguard, with
// the rules of .golangci.yml: its rules are lists of files and imports, and cannot compare the layers of two packages.
//
//	go run ./test/importlint            the working directory
//	go run ./test/importlint -root DIR  another one
//
// It prints one line for each violation and exits with 1 if there is one. The tables in rules.go have the rules, and each exception
// with its reason. importlint reads source text only: it builds nothing and runs no tool.
package main
