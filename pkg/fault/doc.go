// Package fault is the one error type of Signalcast.
//
// A subject declares each expected failure once as a package variable
// (kind, stable code, public text). Adapters carry faults unchanged: pkg/link
// over gRPC, pkg/web to the one HTTP error shape. Any other error is internal:
// its text never reaches a caller. The package knows no transport and no
// domain word.
package fault
