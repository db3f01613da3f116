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

// Follow is the command `signalcast follow`, which follows or unfollows an operator.
type Follow struct {
	signedIn
	Handle string `arg:"" help:"Handle of the operator."`
	Undo   bool   `help:"Unfollow the operator."`
}

// Run follows or unfollows the operator. The route accepts only a browser session, so Run signs in with the identity token and
// uses the session for one request.
func (f *Follow) Run(ctx context.Context, at *session) error {
	cookies, err := at.signIn(ctx)
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
	err = showResponse(at, a, err, func(n *client.Followed) error {
		word := "No longer followed"
		if n.IsFollowing {
			word = "Followed"
		}
		return show.Pairs(at.out, word, f.Handle, "Followers", strconv.Itoa(n.Followers), "You follow", strconv.Itoa(n.Following))
	})
	err = ask.AdviseUnknown(err, "Run the command again: a repetition has no further effect")
	return ask.Advise(err, map[string]ask.Advice{
		"403": {Do: "Set --hub to the address of the pages of the hub, such as http://127.0.0.1:8080 instead of http://localhost:8080"},
		"404": {Why: "The operator does not exist", Do: "Find a handle with `signalcast board`"},
	})
}

// signIn signs in with the identity token of s and returns the cookies of the browser session as a header value.
func (s *session) signIn(ctx context.Context) (string, error) {
	a, err := s.SignIn(ctx, &client.SignInParams{}, client.SignInJSONRequestBody{})
	if _, err := ask.Read(a, err); err != nil {
		return "", ask.AsRead(err)
	}
	var pairs []string
	for _, c := range a.Cookies() {
		if c.Name == "db_uid" || c.Name == "db_sig" || c.Name == "__Host-db_bind" { // only production sets the third
			pairs = append(pairs, c.Name+"="+c.Value)
		}
	}
	if len(pairs) < 2 {
		return "", errors.New("the response of the hub contains no session; check --hub")
	}
	return strings.Join(pairs, "; "), nil
}

// asBrowser returns a function that makes a request look like a request of a browser. It sets the cookies of the session and the
// origin of the hub, and removes the bearer token.
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
