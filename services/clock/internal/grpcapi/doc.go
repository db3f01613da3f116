// Package grpcapi is the gRPC face of the clock: the programme for the hub. It
// turns protobuf into calls of package program and back, and knows nothing else.
package grpcapi
