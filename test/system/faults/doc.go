// Package faults reads the faults of this folder and applies them to copies of the product's files.
//
// A fault is a patch that removes one guarantee. Its header names the guarantee, the test that must fail, and what the
// patch breaks:
//
//	Guarantee: P7
//	Test: TestLateCallsAreVoid/kalshi
//	Package: ./test/system
//	Fault: calls after the closing time are scored
//
// Package is optional. The product itself has no switch for a fault: `make fault-test` builds the patched copies with
// go build -overlay.
package faults
