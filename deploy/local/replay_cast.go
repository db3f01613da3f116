package main

import (
	"context"
	"fmt"
	"net/http"

	"github.com/signalcast/signalcast/deploy/local/internal/career"
)

// signIn makes every operator known, each with one key, and puts bots and the
// house's login into their tiers.
func (r *replay) signIn(ctx context.Context) error {
	r.show.step("operators sign in", len(r.cast))
	r.keys, r.who = make([]string, len(r.cast)), make([]career.Identity, len(r.cast))
	round, err := r.round(ctx)
	if err != nil {
		return err
	}
	err = each(ctx, len(r.cast), width, func(ctx context.Context, i int) error {
		o := r.cast[i]
		who, key, err := enter(ctx, r.door(i), r.stack, userName(o.Name, round), o.Direct)
		if err == nil {
			who.Tier, who.IsAI, err = r.classify(ctx, r.door(i), o, who.Handle)
		}
		if err != nil {
			return fmt.Errorf("operator %s: %w", o.Name, err)
		}
		r.who[i], r.keys[i] = who, key
		r.show.add(1)
		return nil
	})
	if err == nil {
		r.show.end()
	}
	return err
}

// round finds a round of names that this stack has not seen: an operator with
// a past would have more calls than this career gives it.
func (r *replay) round(ctx context.Context) (int, error) {
	for n := 1; ; n++ {
		_, login, err := mint(ctx, r.door(0), r.stack, userName(r.cast[0].Name, n))
		if err != nil {
			return 0, err
		}
		in, err := authenticate(ctx, r.door(0), r.stack, login)
		if err != nil {
			return 0, err
		}
		if in.IsNew {
			return n, nil
		}
	}
}

// userName is the name of an operator in a round.
func userName(name string, round int) string {
	if round == 1 {
		return name
	}
	return fmt.Sprintf("%s-%d", name, round)
}

// person is what a sign-in says of somebody.
type person struct {
	PublicID string `json:"operatorPublicId"`
	Handle   string `json:"handle"`
	IsNew    bool   `json:"isNew"`
}

// mint has the issuer make a login.
func mint(ctx context.Context, d *door, s stack, user string) (subject, login string, err error) {
	var out struct{ Token, Sub string }
	err = d.post(ctx, s.IDP+"/mint", "", map[string]string{"user": user}, http.StatusOK, &out)
	return out.Sub, out.Token, err
}

func authenticate(ctx context.Context, d *door, s stack, login string) (person, error) {
	var out struct{ User person }
	err := d.post(ctx, s.Hub+"/api/auth/privy", login, nil, http.StatusOK, &out)
	return out.User, err
}

// enter signs somebody in and mints one key. direct goes straight for the key,
// which makes the operator as well.
func enter(ctx context.Context, d *door, s stack, user string, direct bool) (who career.Identity, key string, err error) {
	subject, login, err := mint(ctx, d, s, user)
	if err != nil {
		return who, "", err
	}
	var in person
	if !direct {
		if in, err = authenticate(ctx, d, s, login); err != nil {
			return who, "", err
		}
	}
	var minted struct{ Key string }
	err = d.post(ctx, s.Hub+"/api/dev/keys", login, map[string]string{"label": "replay"}, http.StatusCreated, &minted)
	if err != nil {
		return who, "", err
	}
	if direct {
		a := ask{method: http.MethodGet, url: s.Hub + "/api/dev/whoami", bearer: login}
		reply, err := d.do(ctx, a)
		if err == nil {
			err = reply.into(http.StatusOK, &in)
		}
		if err != nil {
			return who, "", fmt.Errorf("GET %s: %w", a.url, err)
		}
	}
	return career.Identity{Subject: subject, PublicID: in.PublicID, Handle: in.Handle}, minted.Key, nil
}

// classify puts an operator where it belongs; people need nothing.
func (r *replay) classify(ctx context.Context, d *door, o career.Operator, handle string) (tier string, isAI bool, err error) {
	body := map[string]any{"handle": handle}
	switch o.Kind {
	case career.Bot:
		body["operatorType"], tier, isAI = "ai_agent", "automated", true
	case career.House:
		body["house"], tier = true, "house"
	default:
		return "independent", false, nil
	}
	reply, err := d.do(ctx, ask{
		method: http.MethodPost, url: r.stack.Hub + "/api/admin/operators", body: body,
		header: map[string]string{"x-admin-secret": r.stack.AdminSecret},
	})
	if err == nil {
		err = reply.into(http.StatusOK, nil)
	}
	return tier, isAI, err
}
