package verbs

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/signalcast/signalcast/cmd/signalcast/internal/ask"
	"github.com/signalcast/signalcast/cmd/signalcast/internal/show"
	"github.com/signalcast/signalcast/sdk/go/client"
)

// Follow is `signalcast follow`.
type Follow struct {
	signedIn
	Handle string `arg:"" help:"Whom."`
	Undo   bool   `help:"No longer follow."`
}

// Run follows. The route takes the session of a browser alone, so one is begun with the
// identity token, and forgotten.
func (f *Follow) Run(ctx context.Context, at *session) error {
	cookies, err := at.begin(ctx)
	if err != nil {
		return err
	}
	own := asBrowser(at.at, cookies)
	var a *http.Response
	if f.Undo {
		a, err = at.Unfollow(ctx, &client.UnfollowParams{Handle: &f.Handle}, own)
	} else {
		a, err = at.Follow(ctx, client.FollowAsk{Handle: f.Handle}, own)
	}
	err = finish(at, a, err, func(n *client.Followed) error {
		word := "No longer followed"
		if n.IsFollowing {
			word = "Followed"
		}
		return show.Pairs(at.out, word, f.Handle, "Followers", strconv.Itoa(n.Followers), "You follow", strconv.Itoa(n.Following))
	})
	err = ask.MayHave(err, "Run the command again: to follow twice is to follow once")
	return known(err, "There is no such operator: look at `signalcast board`")
}

// begin signs in and gives the cookies of the session.
func (s *session) begin(ctx context.Context) (string, error) {
	a, err := s.SignIn(ctx, &client.SignInParams{}, client.SignInJSONRequestBody{})
	if _, err := ask.Read(a, err); err != nil {
		return "", ask.Harmless(err)
	}
	var pairs []string
	for _, c := range a.Cookies() {
		if c.Name == "db_uid" || c.Name == "db_sig" || c.Name == "__Host-db_bind" { // the third in production only
			pairs = append(pairs, c.Name+"="+c.Value)
		}
	}
	if len(pairs) < 2 {
		return "", errors.New("the hub's answer holds no session: look at --hub")
	}
	return strings.Join(pairs, "; "), nil
}

// asBrowser makes a request one of the session: with its cookies, from the hub's own
// origin, and without the token.
func asBrowser(hub, cookies string) client.RequestEditorFn {
	return func(_ context.Context, r *http.Request) error {
		u, err := url.Parse(hub)
		if err != nil {
			return fmt.Errorf("--hub: %w", err)
		}
		r.Header.Del("Authorization")
		r.Header.Set("Cookie", cookies)
		r.Header.Set("Origin", u.Scheme+"://"+u.Host)
		return nil
	}
}
