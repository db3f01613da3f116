// Package system contains tests of the product's guarantees. They run against one complete system.
//
// Each test uses package stack to start the system. Package stack runs the programs with the launcher of `make up`.
// docs/guarantees.md lists every guarantee with its test and its fault. The faults are the files in the directory faults. The
// command `make fault-test` tests each fault separately.
//
// With SYSTEM_SIZE=full the tests run in the sizes for a release, with -short in the smallest sizes.
package system
