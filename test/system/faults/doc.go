// Package faults reads the faults of this folder and applies them to copies of the product's files.
//
// A fault removes one guarantee. Its file begins with a header, followed by an empty line:
//
//	Guarantee: P7
//	Test: TestLateCallsAreVoid/kalshi
//	Package: ./test/system
//	Fault: calls after the closing time are scored
//
// Package is optional, and so is "Race: yes", which runs the test of a package with the race detector. A .patch changes files
// of the product, a .env has settings of every process (NAME=value, or postgres.NAME=value for a setting of Postgres), and a
// .sql has statements that run as the schema owner after the start. The product itself has no switch for a fault:
// `make fault-test` builds the patched copies with go build -overlay.
package faults
