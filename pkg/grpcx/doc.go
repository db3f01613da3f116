// Package grpcx provides the gRPC servers and connections between the services of Signalcast.
//
// Both ends share one secret, which the client sends as metadata x-link-secret. A fault (pkg/apperr) is transmitted unchanged:
// kind, code, public text and extra members are a detail of the status. A canceled context is sent as codes.Canceled, an exceeded
// deadline as codes.DeadlineExceeded, and every other error as codes.Internal without its text. If a peer is unavailable or does
// not respond in time, the call returns DialConfig.Unavailable, by default the fault signal_service_unavailable.
//
// Deadlines and request ids are propagated. The server shortens the deadline by 20 ms to leave time for the transmission of the
// response. It rejects calls with less than 100 ms left.
package grpcx
