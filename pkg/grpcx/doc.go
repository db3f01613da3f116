// Package grpcx is how the services talk gRPC to each other.
//
// Both ends know one secret, sent as metadata x-link-secret. Faults travel
// unchanged: kind, code, public text and extra members go as a detail of the
// status; any other error crosses as a bare Internal and keeps its text at home.
// A peer that cannot be reached, hangs or answers too late becomes the caller's
// own fault, signal_service_unavailable unless Dial is told otherwise.
//
// Deadlines travel: the server takes 20 ms off for the way back and refuses work
// that has less than 100 ms left. The request id travels too.
//
// The package knows no message and no domain word.
package grpcx
