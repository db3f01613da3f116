package edge_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc"

	"github.com/signalcast/signalcast/services/hub/internal/caller"
	"github.com/signalcast/signalcast/services/hub/internal/claim"
	"github.com/signalcast/signalcast/services/hub/internal/digest"
	"github.com/signalcast/signalcast/services/hub/internal/edge"
	"github.com/signalcast/signalcast/services/hub/internal/follow"
	"github.com/signalcast/signalcast/services/hub/internal/operator"
	"github.com/signalcast/signalcast/services/hub/internal/profile"
	"github.com/signalcast/signalcast/services/hub/internal/upstream"
)

const (
	wallet = "0x52908400098527886E0F7030069857D2E4169EE7"
	usdc   = "0x3333333333333333333333333333333333333333"
)

// people is what a bench keeps about people, and what its identity provider says.
type people struct {
	mu      sync.Mutex
	follows map[[2]operator.ID]bool
	claims  map[operator.ID][]claim.Claim
	days    map[string]bool
	letters []digest.Letter
	fail    error               // of every store
	unsent  error               // of the sender
	linked  map[string][]string // wallets by subject
	away    error               // of the provider
	seen    string              // identity token that came along
}

// wirePeople gives the routes about people what they ask.
func wirePeople(deps *edge.Deps, conn grpc.ClientConnInterface, now func() time.Time) *people {
	p := &people{
		follows: map[[2]operator.ID]bool{}, claims: map[operator.ID][]claim.Claim{}, days: map[string]bool{},
		linked: map[string][]string{},
	}
	accounts := upstream.NewAccounts(conn)
	deps.Accounts = edge.Accounts{
		Follows: follow.NewService(upstream.NewOperators(conn), p, now),
		Claims:  claim.NewService([]claim.Station{{Name: "partner", Profile: "https://partner.example/u/"}}, accounts, p, p, now),
		Payouts: claim.Payouts{Money: claim.Money{ChainID: 31337, Label: "devnet", USDC: usdc}, Finder: accounts},
		People:  accounts, Profiles: profile.NewService(upstream.NewOperators(conn), (&sequence{}).next, now),
		Digests: digest.NewService(p, p, now), Beside: p.beside,
	}
	return p
}

func (p *people) do(act func()) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.fail != nil {
		return p.fail
	}
	act()
	return nil
}

func (p *people) Follow(_ context.Context, from, to operator.Operator, _ time.Time) error {
	a, b := from.ID, to.ID
	return p.do(func() { p.follows[[2]operator.ID{a, b}] = true })
}

func (p *people) Unfollow(_ context.Context, a, b operator.ID) error {
	return p.do(func() { delete(p.follows, [2]operator.ID{a, b}) })
}

func (p *people) FollowCounts(_ context.Context, viewer, of operator.ID) (c follow.Counts, err error) {
	err = p.do(func() {
		for f := range p.follows {
			if f[1] == of {
				c.Followers++
			}
			if viewer != "" && f[0] == viewer {
				c.Following++
			}
		}
		c.IsFollowing = p.follows[[2]operator.ID{viewer, of}]
	})
	return c, err
}

func (p *people) FollowTotals(_ context.Context, of operator.ID) (out follow.Totals, err error) {
	err = p.do(func() {
		for pair := range p.follows {
			if pair[0] == of {
				out.Following++
			}
			if pair[1] == of {
				out.Followers++
			}
		}
	})
	return out, err
}

func (p *people) Followers(_ context.Context, of []operator.ID) (out map[operator.ID]int64, err error) {
	err = p.do(func() {
		out = map[operator.ID]int64{}
		for pair := range p.follows {
			if slices.Contains(of, pair[1]) {
				out[pair[1]]++
			}
		}
	})
	return out, err
}

func (p *people) KeepClaim(_ context.Context, owner operator.ID, c claim.Claim) error {
	return p.do(func() { p.claims[owner] = []claim.Claim{c} })
}

func (p *people) ListClaims(_ context.Context, owner operator.ID) (out []claim.Claim, err error) {
	err = p.do(func() { out = slices.Clone(p.claims[owner]) })
	return out, err
}

func (p *people) DropClaim(_ context.Context, owner operator.ID, _ string) (had bool, err error) {
	err = p.do(func() { had = len(p.claims[owner]) > 0; delete(p.claims, owner) })
	return had, err
}

func (p *people) TakeDigest(_ context.Context, date string, _ time.Time) (taken bool, err error) {
	err = p.do(func() { taken = !p.days[date]; p.days[date] = true })
	return taken, err
}

func (p *people) EndDigest(context.Context, string, time.Time, int) error { return p.do(func() {}) }

func (p *people) FreeDigest(_ context.Context, date string) error {
	return p.do(func() { delete(p.days, date) })
}

func (p *people) Send(_ context.Context, l digest.Letter) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.unsent != nil {
		return 0, p.unsent
	}
	p.letters = append(p.letters, l)
	return 2, nil
}

// Linked takes id.<subject>.token as the identity token of that subject.
func (p *people) Linked(_ context.Context, _, subject, token string, a claim.Address) (bool, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.seen = token
	if token != "" && token != "id."+subject+".token" {
		return false, caller.ErrUnauthenticated
	}
	if p.away != nil {
		return false, p.away
	}
	return slices.ContainsFunc(p.linked[subject], func(w string) bool { return a.Is(w, "") }), nil
}

func (p *people) beside(_ context.Context, who operator.Identity, token string) (operator.Identity, error) {
	subject, ok := strings.CutSuffix(strings.TrimPrefix(token, "id."), ".token")
	if !ok || subject != who.Subject {
		return operator.Identity{}, caller.ErrUnauthenticated
	}
	return operator.Identity{Subject: subject, Username: "from_token", Name: "From Token"}, nil
}

var errBroken = errors.New("broken")

func withIdentity(token string) header { return with("privy-id-token", token) }

// unnamed is a provider whose logins name nobody.
type unnamed struct{}

func (unnamed) Verify(ctx context.Context, raw string) (operator.Identity, error) {
	who, err := logins{}.Verify(ctx, raw)
	who.Username, who.Name = "", ""
	return who, err
}

// TestNamesOfTheIdentityToken: an identity token beside a login lends its names
// where the login has none, and must be of the same subject.
func TestNamesOfTheIdentityToken(t *testing.T) {
	t.Parallel()
	var b *bench
	b = setup(t)
	sign := func(user string, headers ...header) (int, string) {
		w := b.send("POST", "/api/auth/privy", "", append(headers, byLogin(user))...)
		return w.Code, w.Body.String()
	}
	if status, body := sign("named", withIdentity("id.did:idp:named.token")); status != 200 || !strings.Contains(body, `"handle":"named"`) {
		t.Errorf("the login's own name: %d %s", status, body)
	}
	for name, headers := range map[string][]header{
		"somebody else's": {withIdentity("id.did:idp:bob.token")},
		"no token":        {withIdentity("x")},
		"an empty one":    {withIdentity("")},
		"two":             {withIdentity("id.did:idp:named.token"), withIdentity("id.did:idp:named.token")},
	} {
		if status, body := sign("named", headers...); status != 401 || strings.Contains(body, "denpaId") {
			t.Errorf("%s: %d %s", name, status, body)
		}
	}
	b = setup(t, func(_ *edge.Config, d *edge.Deps) {
		d.Callers = caller.New(caller.Deps{Sessions: d.Sessions, Logins: unnamed{}, Limiter: newLimiter(d.Now), Now: d.Now})
	})
	if status, body := sign("quiet", withIdentity("id.did:idp:quiet.token")); status != 200 || !strings.Contains(body, `"handle":"from_token"`) {
		t.Errorf("names of the token: %d %s", status, body)
	}
	// An identity token is no credential, wherever it stands.
	want(t, b.send("POST", "/api/auth/privy", "", withIdentity("id.did:idp:quiet.token")), 401, "unauthenticated")
}
