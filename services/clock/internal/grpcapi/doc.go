// Package grpcapi serves the gRPC interface of the clock service, which the hub uses. It converts between protobuf messages and
// the types of package program, and contains no other logic.
package grpcapi
