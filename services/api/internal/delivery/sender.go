package delivery

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"syscall"
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
	o := s.post(ctx, p)
	o.Took = s.now().Sub(began)
	return o
}

func (s *Sender) post(ctx context.Context, p webhook.Post) webhook.Outcome {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, p.URL, bytes.NewReader(p.Body))
	if err != nil {
		return webhook.Outcome{Error: webhook.FailedConnect}
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("User-Agent", "signalcast-webhook")
	r.Header.Set("Signalcast-Delivery", p.DeliveryID)
	r.Header.Set("Signalcast-Signature", p.Signature)
	resp, err := s.client.Do(r)
	if err != nil {
		return failure(err)
	}
	defer resp.Body.Close()
	// Only the status matters. The connection is closed if the response is longer.
	_, _ = io.CopyN(io.Discard, resp.Body, maxAnswer)
	o := webhook.Outcome{Status: resp.StatusCode}
	switch {
	case o.Status >= 300 && o.Status < 400:
		o.Error = webhook.FailedRedirect
	case o.Status < 200 || o.Status >= 400:
		o.Error = webhook.FailedStatus
	}
	return o
}

// failure returns the outcome of a request without a response. The owner of the webhook sees it, so it contains no part of err:
// neither an address nor a text of the endpoint.
func failure(err error) webhook.Outcome {
	var timeout net.Error
	switch {
	case errors.Is(err, safedial.ErrAddress):
		return webhook.Outcome{Error: webhook.FailedAddress}
	case errors.As(err, &timeout) && timeout.Timeout():
		return webhook.Outcome{Error: webhook.FailedTime}
	}
	return webhook.Outcome{Error: webhook.FailedConnect, Detail: detail(err)}
}

// detail returns the cause of a failed connection in words, or "" if it is none of the common causes.
func detail(err error) string {
	var (
		dns    *net.DNSError
		cert   *tls.CertificateVerificationError
		record tls.RecordHeaderError
		alert  tls.AlertError
	)
	switch {
	case errors.As(err, &dns) && dns.IsNotFound:
		return "the host name does not exist"
	case errors.As(err, &dns):
		return "the host name cannot be resolved"
	case errors.As(err, &cert):
		return "the TLS certificate is not valid"
	case errors.As(err, &record), errors.Is(err, http.ErrSchemeMismatch):
		return "the endpoint does not answer in TLS"
	case errors.As(err, &alert):
		return "the TLS handshake failed"
	case errors.Is(err, syscall.ECONNREFUSED):
		return "connection refused"
	case errors.Is(err, syscall.EHOSTUNREACH), errors.Is(err, syscall.ENETUNREACH):
		return "the host is unreachable"
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE), errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return "the connection was closed before an answer"
	}
	return ""
}
