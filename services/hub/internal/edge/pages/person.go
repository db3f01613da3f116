package pages

import (
	"context"
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/pkg/syntax"
	"github.com/signalcast/signalcast/services/hub/internal/claim"
	"github.com/signalcast/signalcast/services/hub/internal/follow"
	"github.com/signalcast/signalcast/services/hub/internal/operator"
	"github.com/signalcast/signalcast/services/hub/internal/signal"
)

const personPath = "/u/"

const (
	partRecent = "recent"
	partTies   = "ties"
	newest     = 50 // calls of everybody among which those of one are looked for
	callsOfOne = 10
)

type personPage struct {
	frame
	passport
	Own, Follows bool   // it is the viewer's own page; the viewer follows
	SignIn       string // where somebody who wants to follow begins; empty: nowhere
	TiesAway     bool
	Recent       []recentCall
	RecentAway   bool
}

type recentCall struct {
	ID, Title, Side, SideClass, Price, Status, StatusWord, Score, At string
}

// person is GET /u/{handle}.
func (s *site) person(c echo.Context) error {
	account, err := s.byHandle(c)
	if err != nil {
		return err
	}
	v := s.visit(c)
	var (
		p      personPage
		counts follow.Counts
		feed   []signal.Signal
	)
	p.passport = passportOf(account)
	g := newGather(c.Request().Context())
	s.gatherPassport(g, account.ID, &p.passport)
	ask(g, partRecent, &feed, func(ctx context.Context) ([]signal.Signal, error) {
		return s.Signals.Feed(ctx, signal.FeedRecent, newest)
	})
	p.Own = v.who.UserID != "" && v.who.UserID == string(account.ID)
	if v.who.UserID != "" && !p.Own {
		ask(g, partTies, &counts, func(ctx context.Context) (follow.Counts, error) {
			return s.People.Follows.Counts(ctx, operator.ID(v.who.UserID), account.Handle)
		})
	}
	g.done()
	p.finish(g)
	p.frame = s.frame(c, p.DisplayName+" (@"+p.Handle+")", p.card(), personPath+p.Handle)
	p.shared(s.HubURL, "operator", p.Handle)
	p.Kind, p.SignIn = "profile", p.Account.SignIn
	p.Follows, p.TiesAway, p.RecentAway = counts.IsFollowing, v.err != nil || g.missing(partTies), g.missing(partRecent)
	if !p.RecentAway {
		p.Recent = recentOf(feed, account.PublicID)
	}
	s.lessThanWhole(c, g)
	return s.render(c, http.StatusOK, "person", p)
}

// card is the page in one line.
func (p *passport) card() string {
	text := "@" + p.Handle + " on Signalcast."
	if p.Machine != "" {
		text = "@" + p.Handle + " on Signalcast, a machine (" + p.Machine + ")."
	}
	if !p.RecordAway && p.record.Total > 0 {
		text += " " + many(p.record.Total, "call") + "."
	}
	return text
}

// byHandle is the account that the address names; the name may be written in any case.
func (s *site) byHandle(c echo.Context) (claim.Account, error) {
	handle, err := syntax.ParseHandle(strings.ToLower(c.Param("handle")))
	if err != nil {
		return claim.Account{}, operator.ErrUnknown
	}
	return s.People.Payouts.Finder.AccountByHandle(c.Request().Context(), handle)
}

// recentOf picks the calls of one operator.
func recentOf(feed []signal.Signal, of syntax.PublicID) []recentCall {
	var out []recentCall
	for i := range feed {
		f := &feed[i]
		if f.PublicID != of || len(out) == callsOfOne {
			continue
		}
		row := recentCall{
			ID: f.ID, Title: f.MarketTitle, Side: string(f.Direction), SideClass: sideClass(f.Direction), Price: cents(f.Price),
			Status: string(f.Status), StatusWord: statusWord(f.Status), At: when(f.CreatedAt),
		}
		if row.Title == "" {
			row.Title = string(f.MarketID)
		}
		if f.Score != nil {
			row.Score = signed(int(*f.Score))
		}
		out = append(out, row)
	}
	return out
}

// follow is POST /u/{handle}/follow.
func (s *site) follow(c echo.Context) error { return s.tie(c, s.People.Follows.Follow) }

// unfollow is POST /u/{handle}/unfollow.
func (s *site) unfollow(c echo.Context) error { return s.tie(c, s.People.Follows.Unfollow) }

func (s *site) tie(c echo.Context, change func(context.Context, operator.Operator, syntax.Handle) (follow.Counts, error)) error {
	v, err := s.actor(c)
	if err != nil {
		return err
	}
	handle, err := syntax.ParseHandle(strings.ToLower(c.Param("handle")))
	if err != nil {
		return operator.ErrUnknown
	}
	me := operator.Operator{ID: operator.ID(v.who.UserID), Handle: syntax.Handle(v.handle)}
	if _, err := change(c.Request().Context(), me, handle); err != nil {
		return err
	}
	return done(c, personPath+string(handle))
}
