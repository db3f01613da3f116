package hosting

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/signalcast/signalcast/services/hub/internal/ingest"
)

// Bounds of one answer.
const (
	within   = 3 * time.Second
	maxBytes = 256 << 10
)

// client asks one host.
type client struct {
	base string // without a slash at the end
	auth func(*http.Request)
	http *http.Client
}

func newClient(base string, auth func(*http.Request)) client {
	return client{base: strings.TrimSuffix(base, "/"), auth: auth, http: &http.Client{
		Timeout:       within,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }, // a secret travels with it
	}}
}

var errAnswer = errors.New("not the answer of this host")

// status is what a host answered instead of what was asked.
type status int

func (s status) Error() string { return fmt.Sprintf("status %d", int(s)) }

// ask sends body as JSON, when it is not nil, and reads the answer into out, when that
// is not nil. What the host says of an error goes no further: it may hold a key.
func (c client) ask(ctx context.Context, method, path string, body, out any) error {
	var send io.Reader
	if body != nil {
		raw, err := json.Marshal(body)
		if err != nil {
			return err
		}
		send = bytes.NewReader(raw)
	}
	req, err := http.NewRequestWithContext(ctx, method, c.base+path, send)
	if err != nil {
		return err
	}
	req.Header.Set("Accept", "application/json")
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	c.auth(req)
	resp, err := c.http.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }() // it was read or is of no use
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		return status(resp.StatusCode)
	}
	if out == nil {
		return nil
	}
	raw, err := io.ReadAll(io.LimitReader(resp.Body, maxBytes))
	if err != nil {
		return err
	}
	if err := json.Unmarshal(raw, out); err != nil {
		return errors.Join(errAnswer, err)
	}
	return nil
}

// gone tells that a host knows nothing of a stream any more.
func gone(err error) bool {
	var s status
	return errors.As(err, &s) && s == http.StatusNotFound
}

// away is what every failure becomes.
func away(host string, err error) error {
	return ingest.ErrAway.Wrap(fmt.Errorf("%s: %w", host, err))
}

// withdraw deletes a stream at a host. It returns nil if the host does not have the stream.
func (c client) withdraw(ctx context.Context, host, streams, id string) error {
	if !word(id) {
		return nil
	}
	if err := c.ask(ctx, http.MethodDelete, streams+"/"+id, nil, nil); err != nil && !gone(err) {
		return away(host, err)
	}
	return nil
}

// word reports whether s is an id that can be part of a path.
func word(s string) bool {
	return s != "" && len(s) <= 200 && strings.Trim(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_") == ""
}
