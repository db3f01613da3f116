// Command clients runs the clients of other people against a running stack: public
// libraries of OAuth, of signatures and of agents, conformance suites, and the library of
// the identity provider whose form of tokens we take. Their versions are those of
// package.json, to the last digit.
//
//	go run ./test/clients [name ...]
//
// It needs npm once, to fetch them; Node comes with them on Linux. Each client is one
// file in this directory: it prints a line for each thing that it checks, and fails
// on any miss.
package main
