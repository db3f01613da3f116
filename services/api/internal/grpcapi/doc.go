// Package grpcapi implements the gRPC services of the api. It converts protobuf messages to the types of the domain services
// and back, and contains no domain rules.
package grpcapi
