// Package grpcapi is the gRPC face of the ledger: it turns protobuf into the types
// of the subjects and back, and decides nothing.
package grpcapi
