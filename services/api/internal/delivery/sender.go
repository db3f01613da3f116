package delivery

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"time"

	"github.com/signalcast/signalcast/pkg/safedial"
	"github.com/signalcast/signalcast/services/api/internal/webhook"
)

// maxAnswer is the maximum number of bytes of a response that are read, so that the connection can be used again.
const maxAnswer = 4 << 10

// Sender sends webhook requests over HTTP to the addresses that safedial.Options allow. It is safe for concurrent use.
type Sender struct {
	client *http.Client
	now    func() time.Time
}

// NewSender returns a Sender. o states the addresses to which it may connect. If o.Timeout is 0, a request may take
// webhook.AnswerWithin.
func NewSender(o safedial.Options, now func() time.Time) *Sender {
	if o.Timeout == 0 {
		o.Timeout = webhook.AnswerWithin
	}
	return &Sender{client: safedial.Client(o), now: now}
}

// Close closes the idle connections of the sender.
func (s *Sender) Close() { s.client.CloseIdleConnections() }

// Send sends one request to the URL of a webhook and returns its outcome. It implements webhook.Send.
func (s *Sender) Send(ctx context.Context, p webhook.Post) webhook.Outcome {
	began := s.now()
	status, failed := s.post(ctx, p)
	return webhook.Outcome{Status: status, Error: failed, Took: s.now().Sub(began)}
}

func (s *Sender) post(ctx context.Context, p webhook.Post) (status int, failed string) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, p.URL, bytes.NewReader(p.Body))
	if err != nil {
		return 0, webhook.FailedConnect
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("User-Agent", "signalcast-webhook")
	r.Header.Set("Signalcast-Delivery", p.DeliveryID)
	r.Header.Set("Signalcast-Signature", p.Signature)
	resp, err := s.client.Do(r)
	if err != nil {
		return 0, reason(err)
	}
	defer resp.Body.Close()
	// Only the status matters. The connection is closed if the response is longer.
	_, _ = io.CopyN(io.Discard, resp.Body, maxAnswer)
	switch status = resp.StatusCode; {
	case status >= 200 && status < 300:
		return status, ""
	case status >= 300 && status < 400:
		return status, webhook.FailedRedirect
	}
	return status, webhook.FailedStatus
}

// reason returns the error code of a request without a response. The owner of the webhook sees it, so it contains no part of
// err.
func reason(err error) string {
	var timeout net.Error
	switch {
	case errors.Is(err, safedial.ErrAddress):
		return webhook.FailedAddress
	case errors.As(err, &timeout) && timeout.Timeout():
		return webhook.FailedTime
	}
	return webhook.FailedConnect
}
