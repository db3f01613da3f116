package rows

import (
	"context"
	"fmt"

	"github.com/signalcast/signalcast/test/prove/client"
	"github.com/signalcast/signalcast/test/prove/internal/frame"
)

// person came in through the front door.
type person struct {
	client.User
	login   client.Login
	session client.Session
	keys    []client.MintedKey
}

// signUp signs a person in at the first hub and mints keys at the others in turn.
func signUp(ctx context.Context, env *frame.Env, name string, keys int) (person, error) {
	var p person
	var err error
	if p.login, err = env.Client.Login(ctx, env.Stack.IDP, name); err != nil {
		return p, fmt.Errorf("log in: %w", err)
	}
	if p.session, p.User, err = env.Client.SignIn(ctx, env.Hub(0), p.login); err != nil {
		return p, fmt.Errorf("sign in: %w", err)
	}
	for i := range keys {
		k, err := env.Client.Mint(ctx, env.Hub(i), p.login, fmt.Sprintf("key %d", i))
		if err != nil {
			return p, fmt.Errorf("mint a key: %w", err)
		}
		p.keys = append(p.keys, k)
	}
	return p, nil
}

// markets makes native markets that are open.
func markets(ctx context.Context, env *frame.Env, row string, n int) ([]string, error) {
	ids := make([]string, n)
	errs := make([]error, n)
	frame.Each(n, 8, func(i int) {
		ids[i], errs[i] = env.Client.Market(ctx, env.Hub(i), env.Admin(), fmt.Sprintf("Will market %d of row %s hold?", i, row), 5000)
	})
	for _, err := range errs {
		if err != nil {
			return nil, fmt.Errorf("make a market: %w", err)
		}
	}
	return ids, nil
}

// pool plants operators with keys of their own.
func pool(ctx context.Context, env *frame.Env, row string, n, keys int) ([]client.Operator, error) {
	return client.Seed(ctx, env.DB, row+"_", env.Seed, n, keys)
}
