// Command importlint checks the layout of the code: the imports between layers and packages of this repository, the use of JSON
// tags and of the time of day, the length of files, package names and comments, and to-do notes. depguard checks imports from
// outside the repository with the rules of .golangci.yml. The rules of depguard are lists of files and imports, and cannot
// compare the layers of two packages.
//
//	go run ./test/importlint            the working directory
//	go run ./test/importlint -root DIR  another one
//
// It prints one line for each violation and exits with 1 if there is one. The tables in rules.go contain the rules, and each
// exception with its reason. importlint only reads source files: it builds nothing and runs no tool.
package main
