// Package apperr is the one error type of Signalcast.
//
// A subject declares each expected failure once as a package variable
// (kind, stable code, public text). Adapters carry faults unchanged: pkg/grpcx
// over gRPC, pkg/httpx to the one HTTP error shape. Any other error is internal:
// its text never reaches a caller. The package knows no transport and no
// domain word.
package apperr
