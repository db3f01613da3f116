// Package faults reads the fault files of this directory. It applies the patches among them to copies of the product's files.
//
// A fault removes one guarantee of the product, so that the test of the guarantee must fail. Its file begins with a header,
// which ends with an empty line:
//
//	Guarantee: P7
//	Test: TestLateCallsAreVoid/kalshi
//	Package: ./test/system
//	Fault: calls after the closing time are scored
//
// The line Package is optional. With the optional line "Race: yes", the test runs with the race detector. There are three
// kinds of files:
//
//   - A .patch file changes files of the product. `make fault-test` builds the changed copies with go build -overlay.
//   - A .env file contains settings of every process: NAME=value, or postgres.NAME=value for a setting of Postgres.
//   - A .sql file contains statements that the schema owner executes after the start of the system.
//
// The product itself has no switch for a fault.
package faults
