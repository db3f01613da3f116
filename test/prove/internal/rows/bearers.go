package rows

import (
	"context"
	"net/http"
	"strings"

	"github.com/signalcast/signalcast/test/prove/client"
	"github.com/signalcast/signalcast/test/prove/internal/frame"
)

// basic is the app's own credential.
func (a app) basic() client.Credential {
	return client.By(func(r *http.Request) { r.SetBasicAuth(a.id, a.secret) })
}

// byBearer is any text as a bearer.
func byBearer(text string) client.Credential { return client.Key(text) }

// byHeader sets one header.
func byHeader(name, value string) client.Credential {
	return client.By(func(r *http.Request) { r.Header.Set(name, value) })
}

// byQuery adds one parameter to the address.
func byQuery(name, value string) client.Credential {
	return client.By(func(r *http.Request) {
		q := r.URL.Query()
		q.Set(name, value)
		r.URL.RawQuery = q.Encode()
	})
}

// mintWith mints a key with some permissions; nil: all of them.
func mintWith(ctx context.Context, env *frame.Env, at string, as client.Login, permissions []string) (client.MintedKey, error) {
	body := map[string]any{"label": "of " + strings.Join(permissions, " and ")}
	if permissions != nil {
		body["permissions"] = permissions
	}
	var k client.MintedKey
	err := env.Client.Do(ctx, client.Request{URL: at, As: as, Body: body}).Into(http.StatusCreated, &k)
	return k, err
}
