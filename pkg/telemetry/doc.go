// Package telemetry is how a service can be watched: JSON logs that never hold a
// secret, Prometheus metrics on a registry of their own, and traces that
// follow a request over HTTP and gRPC.
//
// Nothing here is global: the logger, the registry and the tracer provider are
// values that app makes once and passes on. Secrets are kept out of logs
// twice: attributes are hidden by name, and every finished line is searched
// for the forms that our keys and tokens have.
package telemetry
