// Package system tests guarantees of the product against one complete running system.
//
// Each test starts the system with package stack, which runs the programs with the launcher of `make up`. docs/guarantees.md
// lists every guarantee with its test and its fault. The faults are the files in the directory faults; `make fault-test` tests
// each fault separately.
//
// With SYSTEM_SIZE=full the tests run in the sizes for a release, with -short in the smallest sizes.
package system
