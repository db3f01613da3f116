package rows

import (
	"context"
	"fmt"
	"net/http"

	"github.com/signalcast/signalcast/test/prove/client"
	"github.com/signalcast/signalcast/test/prove/internal/frame"
)

// j5 races renewals of one refresh token over both hubs, and then brings an old one
// again, as a thief would. Hubs without the ten seconds in which an answer may be
// asked for once more take part as well.
var j5 = frame.Row{
	ID: "J5", Title: "refresh rotates; reuse kills the family",
	Fault: frame.Fault{What: "a used refresh token gives its successor for ever"},
	Run: func(ctx context.Context, env *frame.Env) (*frame.Seen, error) {
		seen := frame.NewSeen()
		n := env.Of(1, 4, 20)
		p, err := signUp(ctx, env, "j5-person", 0)
		if err != nil {
			return nil, err
		}
		f := families{env: env, seen: seen, person: p}
		if f.app, err = newApp(ctx, env, p.login, "public", readsProfile, "offline_access"); err != nil {
			return nil, err
		}
		if f.other, err = newApp(ctx, env, p.login, "public", readsProfile, "offline_access"); err != nil {
			return nil, err
		}
		for range n {
			if err := f.try(ctx, 1); err != nil {
				return nil, err
			}
		}
		if env.Size == frame.Small { // a fault of the reuse shows within the window
			seen.Promise("live tokens after a race ≤ 1", fmt.Sprint(f.most))
			return seen, nil
		}
		strict := *env
		if err := replaceHubs(ctx, &strict, []map[string]string{{"REFRESH_RETRY": "0s"}, {"REFRESH_RETRY": "0s"}}); err != nil {
			return nil, err
		}
		f.env = &strict
		for range n {
			if err := f.race(ctx, 0); err != nil {
				return nil, err
			}
		}
		seen.Promise(fmt.Sprintf("families dead in 1: %d of %d; live tokens after a race ≤ 1", n, n),
			fmt.Sprintf("%d of %d; %d", f.dead, n, f.most))
		seen.Volume("%d races of %d, %d of them without a window", 2*n, renewals, n)
		return seen, nil
	},
}

// renewals is how many race.
const renewals = 50

// families are the tokens of grants.
type families struct {
	env        *frame.Env
	seen       *frame.Seen
	person     person
	app, other app
	dead       int // families that one reuse has ended
	most       int // refresh tokens of one family that were alive after a race
}

// try is a race, then a stranger who has the token, then the reuse.
func (f *families) try(ctx context.Context, live int) error {
	t, err := grantTo(ctx, f.env, f.app, f.person.session, readsProfile+" offline_access")
	if err != nil {
		return fmt.Errorf("grant: %w", err)
	}
	access, next, err := f.raceFor(ctx, t, live)
	if err != nil {
		return err
	}
	stolen := f.other.renews(next)
	a := oauth(ctx, f.env, 0, "token", stolen)
	f.seen.Check(a.Status == http.StatusBadRequest && a.Code() == "invalid_grant", "another app's renewal was answered %s", a)
	var last tokens
	if err := oauth(ctx, f.env, 1, "token", f.app.renews(next)).Into(http.StatusOK, &last); err != nil {
		return fmt.Errorf("the successor, after a stranger had tried: %w", err)
	}
	f.seen.Check(last.Refresh != next && last.Refresh != t.Refresh, "the refresh token does not change")

	a = oauth(ctx, f.env, 0, "token", f.app.renews(t.Refresh)) // its successor was used: somebody else has it
	f.seen.Check(a.Status == http.StatusBadRequest && a.Code() == "invalid_grant", "the reuse was answered %s", a)
	alive := 0
	for i, token := range append(access, last.Access, t.Access) {
		if a := whoIs(ctx, f.env, i, token); a.Status != http.StatusUnauthorized {
			alive++
			f.seen.Wrong("an access token is alive after the reuse: answered %s", a)
		}
	}
	for i, token := range []string{t.Refresh, next, last.Refresh} {
		if a := oauth(ctx, f.env, i, "token", f.app.renews(token)); a.Status != http.StatusBadRequest {
			alive++
			f.seen.Wrong("a refresh token is alive after the reuse: answered %s", a)
		}
	}
	if n, err := f.live(ctx, t.Grant); err != nil || n > 0 {
		f.seen.Wrong("%d refresh tokens are alive on record after the reuse", n)
		return err
	}
	if alive == 0 {
		f.dead++
	}
	return nil
}

// race is a race alone.
func (f *families) race(ctx context.Context, live int) error {
	t, err := grantTo(ctx, f.env, f.app, f.person.session, readsProfile+" offline_access")
	if err != nil {
		return fmt.Errorf("grant: %w", err)
	}
	_, _, err = f.raceFor(ctx, t, live)
	return err
}

// raceFor renews one token many times at once. All who are answered get the same
// successor; that many refresh tokens are alive afterwards.
func (f *families) raceFor(ctx context.Context, t tokens, live int) (access []string, next string, err error) {
	answers := make([]client.Answer, renewals)
	frame.AtOnce(renewals, func(i int) { answers[i] = oauth(ctx, f.env, i, "token", f.app.renews(t.Refresh)) })
	successors := map[string]bool{}
	busy := 0
	for _, a := range answers {
		var got tokens
		switch {
		case a.Status == http.StatusOK && a.Into(http.StatusOK, &got) == nil:
			access = append(access, got.Access)
			next = got.Refresh
			successors[next] = true
		case a.Status == http.StatusServiceUnavailable:
			busy++ // it may come again, within the window
		default:
			f.seen.Check(a.Status == http.StatusBadRequest && a.Code() == "invalid_grant" && live == 0, "a renewal in the race was answered %s", a)
		}
	}
	f.seen.Figure("busy", busy)
	served := len(access)
	f.seen.Check(len(successors) == 1 && (served == 1 || live == 1), "%d renewals were served with %d successors", served, len(successors))
	n, err := f.live(ctx, t.Grant)
	f.most = max(f.most, n)
	f.seen.Check(n <= live, "%d refresh tokens are alive after a race", n)
	return access, next, err
}

// live counts refresh tokens of a grant with which somebody could go on.
func (f *families) live(ctx context.Context, grant string) (int, error) {
	return f.env.Count(ctx, `SELECT count(*) FROM hub.refresh_tokens t JOIN hub.grants g ON g.id = t.grant_id
		WHERE g.id = $1 AND g.revoked_at IS NULL AND g.expires_at > now() AND t.used_at IS NULL AND t.expires_at > now()`, grant)
}
