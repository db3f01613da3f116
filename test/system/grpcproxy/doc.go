// Package grpcproxy stands between two services, passes every gRPC call on as it is,
// and counts the calls by their method.
package grpcproxy
