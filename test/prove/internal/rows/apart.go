package rows

import (
	"context"
	"net/http"
	"net/url"

	"github.com/signalcast/signalcast/test/prove/client"
	"github.com/signalcast/signalcast/test/prove/internal/frame"
	"github.com/signalcast/signalcast/test/prove/stack"
)

// providers are the venues that the simulator plays.
var providers = []string{"polymarket", "kalshi", "limitless", "manifold"}

// apartLedger starts a further ledger that reads its venues at another address.
func apartLedger(ctx context.Context, env *frame.Env, venues string) (*stack.Side, error) {
	settings, err := stack.Environment(env.Stack.PID("api"))
	if err != nil {
		return nil, err
	}
	u, err := url.Parse(env.Stack.Venues)
	if err != nil {
		return nil, err
	}
	changed := map[string]string{}
	for name, value := range settings {
		if other := readdress(value, u.Host, venues); other != value {
			changed[name] = other
		}
	}
	return env.Stack.Side(ctx, "api", changed)
}

// apartHub starts a further hub over another ledger.
func apartHub(ctx context.Context, env *frame.Env, ledger string) (*stack.Side, error) {
	return env.Stack.Side(ctx, "hub", map[string]string{"API_ADDR": ledger})
}

// venueMarket makes a market at any of the simulated venues.
func venueMarket(ctx context.Context, env *frame.Env, provider, question string) (string, error) {
	a := env.Client.Do(ctx, client.Request{URL: env.Stack.Venues + "/sim/" + provider + "/markets", Body: map[string]any{
		"question": question, "yesPrice": .41, "volume": 12345.5,
	}})
	return a.Text("id"), a.Into(http.StatusCreated, nil)
}
