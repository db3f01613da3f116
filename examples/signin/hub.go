package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"golang.org/x/oauth2"
)

// client sends the requests to the hub. It follows no redirects, because a token must be sent only to the intended URL. The
// timeout is shorter than the ten seconds within which a renewal without a response can be repeated.
var client = &http.Client{
	Timeout:       8 * time.Second,
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
}

// withClient returns a copy of ctx with which package oauth2 sends its requests through client.
func withClient(ctx context.Context) context.Context {
	return context.WithValue(ctx, oauth2.HTTPClient, client)
}

// maxAnswer is the maximum size of a response in bytes. The rest of a longer response is ignored.
const maxAnswer = 1 << 20

// request contains the optional parts of a request: access token, idempotency key and JSON body.
type request struct {
	bearer, key string
	body        any
}

// hubError is an error response of the hub. Compare Code, which is stable, and not Message.
type hubError struct {
	Status     int
	Code       string `json:"error"`
	Message    string `json:"message"`
	ID         string `json:"id"`
	RetryAfter string `json:"-"`
}

func (r hubError) Error() string { return fmt.Sprintf("%d %s", r.Status, r.Code) }

// sendJSON sends a request to a route of the hub and decodes the JSON of the response into the value that into points to. It
// returns a hubError for a status other than 2xx.
func (a *app) sendJSON(ctx context.Context, method, path string, q request, into any) error {
	var body io.Reader
	if q.body != nil {
		raw, err := json.Marshal(q.body)
		if err != nil {
			return err
		}
		body = bytes.NewReader(raw)
	}
	r, err := http.NewRequestWithContext(ctx, method, a.Hub+path, body)
	if err != nil {
		return err
	}
	r.Header.Set("Accept", "application/json")
	if q.body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	if q.key != "" {
		r.Header.Set("Idempotency-Key", q.key)
	}
	if q.bearer != "" {
		r.Header.Set("Authorization", "Bearer "+q.bearer)
	}
	return do(r, into)
}

// postForm posts a form to address and ignores the body of the response. The OAuth endpoints require forms instead of JSON. It
// returns a hubError for a status other than 2xx.
func (a *app) postForm(ctx context.Context, address string, form url.Values) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, address, strings.NewReader(form.Encode()))
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	return do(r, nil)
}

// do sends a request. If into is not nil, it decodes the JSON response and stores the result in into. It returns a hubError for a
// status other than 2xx.
func do(r *http.Request, into any) error {
	res, err := client.Do(r)
	if err != nil {
		return err
	}
	defer func() { _ = res.Body.Close() }()
	raw, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer))
	if err != nil {
		return err
	}
	if res.StatusCode/100 != 2 {
		failure := hubError{}
		_ = json.Unmarshal(raw, &failure) // an answer that is not JSON has no code; its status is enough
		failure.Status, failure.RetryAfter = res.StatusCode, res.Header.Get("Retry-After")
		return failure
	}
	if into == nil {
		return nil
	}
	return json.Unmarshal(raw, into)
}
