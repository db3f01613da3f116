// Package grpcproxy is a proxy between a gRPC client and a gRPC server. It forwards every call unchanged and counts the
// calls by method.
package grpcproxy
