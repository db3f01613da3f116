package signalcast

import (
	"context"
	"iter"

	"github.com/google/uuid"

	"github.com/signalcast/signalcast/sdk/go/client"
)

// Webhooks manages the webhooks of the operator: URLs that receive the numbered events of the feed as signed requests. It
// requires an operator key with the permission read. VerifyWebhook checks a received request.
type Webhooks struct{ c *Client }

// Create registers a webhook. Only this response and that of RenewSecret contain a secret. The client does not retry the request:
// after a lost response, find the webhook with List and delete it. An operator may have ten webhooks.
func (w Webhooks) Create(ctx context.Context, draft client.WebhookDraft) (client.WebhookWithSecret, error) {
	return read[client.WebhookWithSecret](w.c.API.RegisterWebhook(ctx, draft))
}

// List returns the webhooks of the operator, oldest first, without their secrets.
func (w Webhooks) List(ctx context.Context) (client.WebhookList, error) {
	return read[client.WebhookList](w.c.API.ListWebhooks(ctx))
}

// Get returns a webhook with its position in the feed and the state of its delivery. Error: ErrNotFound.
func (w Webhooks) Get(ctx context.Context, id uuid.UUID) (client.Webhook, error) {
	return read[client.Webhook](w.c.API.GetWebhook(ctx, id))
}

// Update changes the members of a webhook that are set in change. The URL cannot change. Other channels, other types and Active
// with the value true end the pending delivery; its events follow in a new one.
func (w Webhooks) Update(ctx context.Context, id uuid.UUID, change client.WebhookChange) (client.Webhook, error) {
	return read[client.Webhook](w.c.API.ChangeWebhook(ctx, id, change))
}

// Delete deletes a webhook and its log.
func (w Webhooks) Delete(ctx context.Context, id uuid.UUID) (client.Ok, error) {
	return read[client.Ok](w.c.API.DeleteWebhook(ctx, id))
}

// Test sends a test delivery to the endpoint and returns its result. It is allowed once in five seconds.
func (w Webhooks) Test(ctx context.Context, id uuid.UUID) (client.WebhookDelivery, error) {
	return read[client.WebhookDelivery](w.c.API.TestWebhook(ctx, id))
}

// RenewSecret replaces the secret and returns the webhook with the new one. For 24 hours the previous secret signs as well.
func (w Webhooks) RenewSecret(ctx context.Context, id uuid.UUID) (client.WebhookWithSecret, error) {
	return read[client.WebhookWithSecret](w.c.API.RenewWebhookSecret(ctx, id))
}

// Deliveries returns the attempts of the last seven days, newest first.
func (w Webhooks) Deliveries(ctx context.Context, id uuid.UUID, params *client.ListWebhookDeliveriesParams) iter.Seq2[client.WebhookDelivery, error] {
	q := at(params)
	return pages(q.Cursor, func(cursor *string) (client.WebhookDeliveries, error) {
		q := q
		q.Cursor = cursor
		return read[client.WebhookDeliveries](w.c.API.ListWebhookDeliveries(ctx, id, &q))
	}, func(d client.WebhookDeliveries) ([]client.WebhookDelivery, *string) {
		return d.Deliveries, d.NextCursor
	})
}

// Resend makes the next attempt of a failed delivery due at once and returns the webhook. Deliveries has the result of the
// attempt about a second later. Several calls before the attempt lead to one attempt. Errors: ErrDeliveryNotPending, for which
// Error.Reason is accepted, test, replaced or inactive; ErrRateLimited within five seconds after an attempt.
func (w Webhooks) Resend(ctx context.Context, id, delivery uuid.UUID) (client.Webhook, error) {
	return read[client.Webhook](w.c.API.ResendWebhookDelivery(ctx, id, delivery))
}
