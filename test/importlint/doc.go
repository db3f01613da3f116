// Command importlint checks the layout of the code. It checks which layer and package of this repository may import which other
// one, which packages may use JSON tags and the time of day, and how long a file may be. depguard checks imports from outside
// the repository with the rules of .golangci.yml. Its rules are lists of files and imports, and cannot compare the layers of
// two packages.
//
//	go run ./test/importlint            the working directory
//	go run ./test/importlint -root DIR  another one
//
// It prints one line for each violation and exits with 1 if there is one. The tables in rules.go contain the rules, and each
// exception with its reason. importlint only reads source files: it builds nothing and runs no tool.
package main
