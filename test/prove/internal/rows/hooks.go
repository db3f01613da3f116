package rows

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"github.com/signalcast/signalcast/test/prove/client"
	"github.com/signalcast/signalcast/test/prove/internal/frame"
)

// hooksPath is where webhooks are registered, at the ledger's own host.
const hooksPath = "/api/v1/webhooks"

// underHooks tells whether an address is that of webhooks.
func underHooks(path string) bool { return path == hooksPath || strings.HasPrefix(path, hooksPath+"/") }

// hook is a webhook, and the secret that was shown when it was registered.
type hook struct{ id, secret string }

const (
	// deafHost is a name that nobody can ever have.
	deafHost = "https://hooks.example"
	// quietChannel is one of a market that does not exist: nothing is ever sent.
	quietChannel = "market:native-ffffffffffffffffffffffffffffffff"
)

// hookDraft is a webhook that is told of nothing.
func hookDraft() map[string]any {
	return map[string]any{"url": deafHost + "/told", "channels": []string{quietChannel}}
}

// register makes a webhook that is told of nothing, for the owner of a key.
func register(ctx context.Context, env *frame.Env, key client.Key) (hook, error) {
	a := env.Client.Do(ctx, client.Request{URL: env.Stack.API + hooksPath, As: key, Body: hookDraft()})
	if err := a.Into(http.StatusCreated, nil); err != nil {
		return hook{}, fmt.Errorf("register a webhook: %w", err)
	}
	return hook{a.Text("id"), a.Text("secret")}, nil
}

// attempted puts one attempt into the log of a webhook, so that there is one to read.
func (h hook) attempted(ctx context.Context, env *frame.Env) error {
	_, err := env.DB.Exec(ctx, `INSERT INTO api.webhook_deliveries (webhook_id, delivery_id, first_seq, last_seq, events, attempt, status, error, took_ms, at)
		VALUES ($1, gen_random_uuid(), 1, 2, 2, 1, 503, 'status', 7, now())`, h.id)
	if err != nil {
		err = fmt.Errorf("plant an attempt: %w", err)
	}
	return err
}
