// Package ask sends requests to the services and returns their result: an answer, a refusal with what to do about it, or that
// a service is unavailable.
//
// Only what may be sent twice is sent again: GET, and POST with an Idempotency-Key.
package ask
