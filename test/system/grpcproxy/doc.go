// Package grpcproxy provides a proxy between a gRPC client and a gRPC server. The proxy forwards every call unchanged and counts
// the calls by method.
package grpcproxy
