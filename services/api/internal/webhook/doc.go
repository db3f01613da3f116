// Package webhook manages webhooks: URLs of operators to which the events of the feed are sent as signed requests. It defines
// the limits of webhooks, the content and the signature of a request, and the times of retries.
//
// The cursor of a webhook is an event number. All events on its channels up to this number were accepted by its endpoint or do
// not match. At most one delivery of a webhook is pending. The cursor advances when the endpoint accepts the delivery. Until
// then, the delivery is repeated with the same events and the same id. Package delivery sends the requests, and package
// postgres stores the webhooks.
package webhook
