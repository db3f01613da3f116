package verbs

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/google/uuid"

	"github.com/signalcast/signalcast/cmd/signalcast/internal/ask"
	"github.com/signalcast/signalcast/cmd/signalcast/internal/settings"
	"github.com/signalcast/signalcast/cmd/signalcast/internal/show"
	"github.com/signalcast/signalcast/sdk/go/client"
)

// Webhook groups the commands of `signalcast webhook`.
type Webhook struct {
	List       webhookList       `cmd:"" help:"List your webhooks."`
	Create     webhookCreate     `cmd:"" help:"Register a webhook. Writes its secret to a new file of mode 0600."`
	Delete     webhookDelete     `cmd:"" help:"Delete a webhook and its log."`
	Test       webhookTest       `cmd:"" help:"Send a test delivery now and show its result."`
	Deliveries webhookDeliveries `cmd:"" help:"List the deliveries of a webhook in the last seven days, newest first."`
	Resend     webhookResend     `cmd:"" help:"Send a failed delivery again now, instead of at its next attempt."`
	Listen     webhookListen     `cmd:"" help:"Forward events to an address of this machine as signed deliveries, without a webhook, until Ctrl-C."`
}

// apiKeyed contains the flags of a command that sends the operator key to the api.
type apiKeyed struct{ settings.Flags }

// Provide returns a session that sends the operator key to the api. kong passes it to Run.
func (f *apiKeyed) Provide(s *Streams) (*session, error) { return openAPI(&f.Flags, s) }

// webhookID is the id of a webhook or of a delivery.
type webhookID uuid.UUID

// UnmarshalText implements encoding.TextUnmarshaler.
func (id *webhookID) UnmarshalText(raw []byte) error {
	if (*uuid.UUID)(id).UnmarshalText(raw) != nil {
		return errors.New("the ids of webhooks and deliveries are UUIDs; `signalcast webhook list` and `signalcast webhook deliveries` " +
			"print them")
	}
	return nil
}

// adviseWebhook adds advice for people to the refusal of a command about one webhook.
func adviseWebhook(err error) error {
	return adviseNotFound(err, "Check the id with `signalcast webhook list`")
}

type webhookList struct{ apiKeyed }

// Run reads and shows the webhooks of the caller.
func (w *webhookList) Run(ctx context.Context, at *session) error {
	a, err := at.ListWebhooks(ctx)
	return showResponse(at, a, err, func(l *client.WebhookList) error {
		const none, head = "No webhooks. Register one with `signalcast webhook create URL --out FILE`.", "ID,STATE,DELIVERED,CHANNELS,URL"
		return show.Table(at.out, none, head, l.Webhooks, func(h client.Webhook) []string {
			return []string{
				h.ID.String(), webhookState(&h), strconv.Itoa(h.Cursor), strings.Join(h.Channels, " "), h.URL,
			}
		})
	})
}

// webhookState returns whether a webhook is active, stopped, or failing with the reason.
func webhookState(h *client.Webhook) string {
	switch {
	case !h.Active:
		return "stopped"
	case h.FailingSince != nil:
		return "failing: " + text(h.Reason)
	}
	return "active"
}

type webhookCreate struct {
	apiKeyed
	URL         string   `arg:"" name:"url" help:"An https address of a public host."`
	Out         string   `short:"o" required:"" help:"New file for the secret. An existing file is not overwritten." type:"path" placeholder:"FILE"`
	Channel     []string `help:"Channel with numbered events, such as me or market:701122. May be repeated. Default: signals." default:"signals"`
	Type        []string `help:"Deliver only events of this type, such as signal.created. May be repeated. Default: all types."`
	Since       *int     `help:"Start after this event number. Default: the newest event." bounds:"of at least 0" placeholder:"N"`
	Description string   `help:"Description, up to 200 characters."`
}

// createdWebhook is the JSON output of webhook create. It does not contain the secret.
type createdWebhook struct {
	client.Webhook
	Stored string `json:"stored"` // path of the file with the secret
}

// Run creates the file before it registers the webhook, so that it never creates a secret that cannot be stored.
func (w *webhookCreate) Run(ctx context.Context, at *session) error {
	if w.Since != nil && *w.Since < 0 {
		return errors.New("--since must be at least 0")
	}
	file, err := settings.CreateFile(w.Out)
	if err != nil {
		return err
	}
	made, err := decoded[struct {
		client.Webhook
		Secret string
	}](at.RegisterWebhook(ctx, client.WebhookDraft{
		URL: w.URL, Channels: w.Channel, Types: &w.Type, Since: w.Since, Description: optional(w.Description),
	}))
	if err == nil && made.Secret == "" {
		err = errors.New("the response of the api contains no secret; check --api")
	}
	if err != nil {
		err = ask.AdviseUnknown(err, "Check with `signalcast webhook list`, and delete a webhook whose secret you do not have")
		err = ask.Advise(err, map[string]ask.Advice{
			"limit_reached": {Do: "Delete a webhook that you do not use: signalcast webhook delete ID"},
			"invalid_url":   {Do: "For an address of this machine use `signalcast webhook listen`"},
		})
		return errors.Join(err, file.Remove())
	}
	if err := file.Store(made.Secret + "\n"); err != nil {
		return errors.Join(fmt.Errorf("the webhook %s was registered, but storing its secret failed; delete it with "+
			"`signalcast webhook delete %[1]s`", made.ID), err)
	}
	return at.answer(createdWebhook{made.Webhook, w.Out}, "Webhook", made.ID.String(), "URL", made.URL,
		"Channels", strings.Join(made.Channels, " "), "Secret stored in", w.Out, "Next", "signalcast webhook test "+made.ID.String())
}

type webhookDelete struct {
	apiKeyed
	ID webhookID `arg:"" name:"id" help:"Id of the webhook."`
}

// Run deletes the webhook at the api.
func (w *webhookDelete) Run(ctx context.Context, at *session) error {
	a, err := at.DeleteWebhook(ctx, uuid.UUID(w.ID))
	return adviseWebhook(showResponse(at, a, err, func(*client.Ok) error {
		return show.Pairs(at.out, "Deleted", uuid.UUID(w.ID).String())
	}))
}

type webhookTest struct {
	apiKeyed
	ID webhookID `arg:"" name:"id" help:"Id of the webhook."`
}

// ErrNotDelivered is the error of a test delivery that the endpoint did not accept.
var ErrNotDelivered = errors.New("the endpoint did not accept the delivery")

// Run sends a test delivery. It returns ErrNotDelivered if the endpoint did not accept it.
func (w *webhookTest) Run(ctx context.Context, at *session) error {
	a, err := at.TestWebhook(ctx, uuid.UUID(w.ID))
	var d client.WebhookDelivery
	err = showResponse(at, a, err, func(d *client.WebhookDelivery) error {
		return show.Pairs(at.out, "Result", deliveryResult(d), "Delivery", d.ID.String(), "Took", fmt.Sprintf("%d ms", d.TookMs))
	}, &d)
	if err == nil && d.Error != nil {
		return fmt.Errorf("%w: %s", ErrNotDelivered, deliveryResult(&d))
	}
	return adviseWebhook(err)
}

// deliveryResult returns the result of a delivery as text: delivered, or the reason of the failure.
func deliveryResult(d *client.WebhookDelivery) string {
	if d.Error == nil {
		return "delivered"
	}
	return "failed: " + cmp.Or(text(d.Message), *d.Error)
}

type webhookResend struct {
	apiKeyed
	ID       webhookID `arg:"" name:"id" help:"Id of the webhook."`
	Delivery webhookID `arg:"" help:"Id of the delivery."`
}

// Run makes the next attempt of the delivery due.
func (w *webhookResend) Run(ctx context.Context, at *session) error {
	a, err := at.ResendWebhookDelivery(ctx, uuid.UUID(w.ID), uuid.UUID(w.Delivery))
	err = showResponse(at, a, err, func(*client.Webhook) error {
		return show.Pairs(at.out, "Due now", uuid.UUID(w.Delivery).String(), "Result", "signalcast webhook deliveries "+uuid.UUID(w.ID).String())
	})
	return adviseNotFound(err, "Check the ids with `signalcast webhook list` and `signalcast webhook deliveries ID`")
}

type webhookDeliveries struct {
	apiKeyed
	Paging
	ID webhookID `arg:"" name:"id" help:"Id of the webhook."`
}

// Run reads and shows the log of the webhook.
func (w *webhookDeliveries) Run(ctx context.Context, s *Streams) error {
	if err := w.check(); err != nil {
		return err
	}
	at, err := w.Provide(s)
	if err != nil {
		return err
	}
	raw, err := w.read(func(cursor *string) (*http.Response, error) {
		return at.ListWebhookDeliveries(ctx, uuid.UUID(w.ID), &client.ListWebhookDeliveriesParams{Limit: &w.Limit, Cursor: cursor})
	})
	return adviseWebhook(showBody(at, raw, err, func(l *client.WebhookDeliveries) error {
		const none, head = "No deliveries.", "TIME,ATTEMPT,EVENTS,LAST,ID,RESULT"
		err := show.Table(at.out, none, head, l.Deliveries, func(d client.WebhookDelivery) []string {
			last := ""
			if d.LastSeq != nil {
				last = strconv.Itoa(*d.LastSeq)
			}
			return []string{
				second(&d.At), strconv.Itoa(d.Attempt), strconv.Itoa(d.Events), last, d.ID.String(), deliveryResult(&d),
			}
		})
		if err != nil {
			return err
		}
		return at.showNext(l.NextCursor)
	}))
}
