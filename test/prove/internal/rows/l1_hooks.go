package rows

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"strings"
	"sync"

	"github.com/signalcast/signalcast/test/prove/client"
	"github.com/signalcast/signalcast/test/prove/internal/frame"
)

// letters are webhooks of somebody with all that was said of them: the requests that came
// to their address, and every answer but those that show a secret.
type letters struct {
	first, fresh string // the secret before a renewal, and the one since
	receiver     *httptest.Server

	mu   sync.Mutex
	came int
	said strings.Builder
}

func (l *letters) say(what string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.said.WriteString(what + "\n")
}

// writeLetters registers a webhook at an api that may call private addresses, renews its
// secret and has a request sent that both sign.
func writeLetters(ctx context.Context, env *frame.Env, api string) (*letters, error) {
	p, err := signUp(ctx, env, "l1-told", 1)
	if err != nil {
		return nil, err
	}
	l := &letters{}
	l.receiver = httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		raw, err := httputil.DumpRequest(r, true)
		l.say(fmt.Sprint(string(raw), err))
		l.mu.Lock()
		l.came++
		l.mu.Unlock()
	}))
	ask := func(method, path string, status int, body map[string]any) client.Answer {
		q := client.Request{Method: method, URL: api + hooksPath + path, As: p.keys[0].Key}
		if body != nil {
			q.Body = body
		}
		a := env.Client.Do(ctx, q)
		if err == nil {
			if err = a.Into(status, nil); err != nil {
				err = fmt.Errorf("%s %s: %w", method, path, err)
			}
		}
		return a
	}
	draft := hookDraft()
	draft["url"] = l.receiver.URL
	made := ask("POST", "", http.StatusCreated, draft)
	one := "/" + made.Text("id")
	renewed := ask("POST", one+"/secret", http.StatusOK, nil)
	l.first, l.fresh = made.Text("secret"), renewed.Text("secret")
	for _, a := range []client.Answer{
		ask("POST", one+"/test", http.StatusOK, nil), ask("PATCH", one, http.StatusOK, map[string]any{"description": "told"}),
		ask("GET", one, http.StatusOK, nil), ask("GET", "", http.StatusOK, nil), ask("GET", one+"/deliveries", http.StatusOK, nil),
	} {
		l.say(string(a.Body) + fmt.Sprint(a.Header))
	}
	if err != nil {
		l.receiver.Close()
		return nil, err
	}
	return l, nil
}

// secrets are those that the webhook was given.
func (l *letters) secrets() []secret {
	return []secret{
		{"a secret of a webhook", l.first, asBearer(l.first)},
		{"a renewed secret of a webhook", l.fresh, inHeader("Signalcast-Signature", l.fresh)},
	}
}

// read searches all of it.
func (l *letters) read(o *outputs, seen *frame.Seen) {
	l.mu.Lock()
	defer l.mu.Unlock()
	seen.Check(l.came == 1 && strings.Count(l.said.String(), "v1=") == 2, "%d requests came to a webhook, with %d signatures", l.came, strings.Count(l.said.String(), "v1="))
	o.search("what is said of a webhook", l.said.String())
}
