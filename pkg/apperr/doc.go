// Package apperr defines Fault, the error type that all services of Signalcast use for expected failures.
//
// Each package declares every expected failure once, as a *Fault variable with a kind, a stable code and a public text.
// pkg/grpcx transmits faults over gRPC unchanged, and pkg/httpx writes them as JSON error responses. Every other error is
// internal: its text is logged and never sent to a caller.
package apperr
