// Package upstream is the ledger and the clock as seen from the front door:
// subjects in, protobuf out, faults back. It is the only package here that
// sees protobuf. A call that finds nobody at the other end is
// signal_service_unavailable.
package upstream
