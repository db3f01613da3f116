// Command importlint checks that the code keeps the plan of the house: who may
// import whom, who may see protobuf, rows, JSON tags and the time of day, and
// how long a file may be.
//
//	go run ./test/importlint            the tree around the working directory
//	go run ./test/importlint -root DIR  another one
//
// It prints one line per violation and exits with 1 when there is one. The
// tables in rules.go are the plan; an exception stands there with its reason.
// It reads source text only: it builds nothing and runs no tool.
package main
