// Package system tests guarantees of the product against one whole running system.
//
// Each test starts from package stack, which runs the programs with the launcher of `make up`. docs/guarantees.md lists
// every guarantee with its test and its fault; faults/*.patch are the faults, which `make fault-test` builds one by one.
//
// SYSTEM_SIZE=full runs the sizes of a release; -short runs the smallest ones.
package system
