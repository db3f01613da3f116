// Package ask sends requests to the services and tells what came of them: an answer, a
// refusal with what to do about it, or that nobody could be reached.
//
// Only what may be sent twice is sent again: GET, and POST with an Idempotency-Key.
package ask
