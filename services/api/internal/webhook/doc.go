// Package webhook sends the feed as signed requests to URLs of operators. It defines the limits of webhooks, the content and
// the signature of a request, and the times of retries.
//
// A webhook has one cursor: all events on its channels up to this number were accepted. At most one delivery of a webhook is
// pending. It advances the cursor when the endpoint accepts it. Until then it is repeated with the same events and the same
// id. The package itself sends and stores nothing; see packages delivery and postgres.
package webhook
