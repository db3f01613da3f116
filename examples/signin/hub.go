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

// client asks the hub. It follows no redirect: a token is for the address it was sent to.
// Its patience is less than the ten seconds in which a lost renewal can be asked again.
var client = &http.Client{
	Timeout:       8 * time.Second,
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
}

func withClient(ctx context.Context) context.Context {
	return context.WithValue(ctx, oauth2.HTTPClient, client)
}

// answerMost is how much of an answer is read.
const answerMost = 1 << 20

type request struct {
	bearer, key string
	body        any
}

// refusal is an answer of the hub that is an error. Its code is stable; compare that.
type refusal struct {
	Status     int
	Code       string `json:"error"`
	Message    string `json:"message"`
	ID         string `json:"id"`
	RetryAfter string `json:"-"`
}

func (r refusal) Error() string { return fmt.Sprintf("%d %s", r.Status, r.Code) }

// ask sends one request to a route of the hub and reads its JSON.
func (a *app) ask(ctx context.Context, method, path string, q request, into any) error {
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

// send posts a form, as the endpoints of OAuth want it.
func (a *app) send(ctx context.Context, address string, form url.Values) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, address, strings.NewReader(form.Encode()))
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	return do(r, nil)
}

func do(r *http.Request, into any) error {
	res, err := client.Do(r)
	if err != nil {
		return err
	}
	defer func() { _ = res.Body.Close() }()
	raw, err := io.ReadAll(io.LimitReader(res.Body, answerMost))
	if err != nil {
		return err
	}
	if res.StatusCode/100 != 2 {
		no := refusal{}
		_ = json.Unmarshal(raw, &no) // what is no JSON has no code, and its status tells
		no.Status, no.RetryAfter = res.StatusCode, res.Header.Get("Retry-After")
		return no
	}
	if into == nil {
		return nil
	}
	return json.Unmarshal(raw, into)
}
