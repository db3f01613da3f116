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

// Time limit of a request to a video host, and maximum size of the response in bytes.
const (
	within   = 3 * time.Second
	maxBytes = 256 << 10
)

// client sends authenticated requests to the API of a video host.
type client struct {
	base string // without a trailing slash
	auth func(*http.Request)
	http *http.Client
}

func newClient(base string, auth func(*http.Request)) client {
	return client{base: strings.TrimSuffix(base, "/"), auth: auth, http: &http.Client{
		Timeout: within,
		// The target of a redirect would receive the secret.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

var errAnswer = errors.New("unexpected response of the host")

// status is the error of a response with a status other than 2xx. Its value is the HTTP status.
type status int

func (s status) Error() string { return fmt.Sprintf("status %d", int(s)) }

// call sends body as JSON and decodes the response into out. Both may be nil. If the HTTP status is not 2xx, the error has the
// type status. Errors do not contain the response of the host, because the response can contain a key.
func (c client) call(ctx context.Context, method, path string, body, out any) error {
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
	defer func() { _ = resp.Body.Close() }() // the body was read or is not needed
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

// isNotFound reports whether err is the HTTP status 404, which means that the host does not have the stream.
func isNotFound(err error) bool {
	var s status
	return errors.As(err, &s) && s == http.StatusNotFound
}

// unavailable returns ingest.ErrUnavailable, wrapped with the name of the host and the cause.
func unavailable(host string, err error) error {
	return ingest.ErrUnavailable.Wrap(fmt.Errorf("%s: %w", host, err))
}

// withdraw deletes the stream with this id at a host. streams is the URL path of all streams. It returns nil if the host does not
// have the stream, or if id is invalid.
func (c client) withdraw(ctx context.Context, host, streams, id string) error {
	if !isID(id) {
		return nil
	}
	if err := c.call(ctx, http.MethodDelete, streams+"/"+id, nil, nil); err != nil && !isNotFound(err) {
		return unavailable(host, err)
	}
	return nil
}

// isID reports whether s can be an id that a host assigned, and is safe in a URL path.
func isID(s string) bool {
	return s != "" && len(s) <= 200 && strings.Trim(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_") == ""
}
