// Package telemetry provides structured JSON logs without secrets, Prometheus metrics in a registry that the application creates,
// and traces that follow a request across HTTP and gRPC.
//
// The application creates the logger, the registry and the tracer provider and passes them on. Secrets are removed from logs in
// two ways. Attributes are hidden by name, and each finished line is searched for the formats of keys and tokens.
package telemetry
