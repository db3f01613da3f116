// Package ask sends HTTP requests to the services and returns the body of the response, or an error that says what to do:
// Refused, Unavailable or UnknownResult.
//
// It repeats only requests that are safe to repeat: GET, and writes with an Idempotency-Key.
package ask
