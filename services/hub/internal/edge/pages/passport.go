package pages

import (
	"context"
	"strconv"

	"github.com/signalcast/signalcast/pkg/syntax"
	boardv1 "github.com/signalcast/signalcast/proto/board/v1"
	"github.com/signalcast/signalcast/services/hub/internal/board"
	"github.com/signalcast/signalcast/services/hub/internal/claim"
	"github.com/signalcast/signalcast/services/hub/internal/follow"
	"github.com/signalcast/signalcast/services/hub/internal/operator"
)

// passport is who somebody is, as the own page and the public one show it.
type passport struct {
	Handle, DisplayName, Face, Bio      string
	Machine                             string // what kind of machine; empty: a person
	Tier, TierText, Since               string
	Links                               []string
	Calls, Won, Lost, Accuracy, Score   string
	RecordAway, FollowsAway, ClaimsAway bool
	Followers, Following                string
	Claims                              []claimRow

	record  *boardv1.GetRecordResponse
	follows follow.Totals
	claims  []claim.Claim
}

type claimRow struct{ Station, Identity, URL, Since string }

const (
	partRecord  = "record"
	partFollows = "follows"
	partClaims  = "claims"
)

func passportOf(a claim.Account) passport {
	p := passport{
		Handle: string(a.Handle), DisplayName: a.DisplayName, Face: face(a.DisplayName), Bio: a.Bio,
		Machine: machineWords[a.Type], Since: a.CreatedAt.UTC().Format("2 January 2006"),
	}
	p.Tier, p.TierText = tierWords[a.Tier].word, tierWords[a.Tier].text
	if p.DisplayName == "" {
		p.DisplayName = "@" + p.Handle
	}
	if p.Face == "" {
		p.Face = face(p.Handle)
	}
	for _, l := range a.Links {
		if l = link(l); l != "" {
			p.Links = append(p.Links, l)
		}
	}
	return p
}

// gatherPassport asks for the parts that the account itself does not hold.
func (s *site) gatherPassport(g *gather, of operator.ID, p *passport) {
	ask(g, partRecord, &p.record, func(ctx context.Context) (*boardv1.GetRecordResponse, error) {
		return s.Ledger.Boards.GetRecord(ctx, &boardv1.GetRecordRequest{OperatorId: string(of)})
	})
	s.gatherTies(g, of, p)
}

// gatherTies asks who follows, and what somebody has proven to be.
func (s *site) gatherTies(g *gather, of operator.ID, p *passport) {
	ask(g, partFollows, &p.follows, func(ctx context.Context) (follow.Totals, error) { return s.People.Follows.Totals(ctx, of) })
	ask(g, partClaims, &p.claims, func(ctx context.Context) ([]claim.Claim, error) { return s.People.Claims.Claims(ctx, of) })
}

// finish puts the parts into words, once all of them are there or missing.
func (p *passport) finish(g *gather) {
	p.RecordAway = g.missing(partRecord)
	if !p.RecordAway {
		r := p.record
		won, lost := r.GetWon(), r.GetLost()
		p.Calls, p.Won, p.Lost, p.Score = digits(r.GetTotal()), digits(won), digits(lost), signed(int(r.GetScore()))
		if won+lost > 0 {
			p.Accuracy = digits(board.Accuracy(won, lost)) + "%"
		}
	}
	p.finishTies(g)
}

// finishTies is finish for what gatherTies asks.
func (p *passport) finishTies(g *gather) {
	p.FollowsAway, p.ClaimsAway = g.missing(partFollows), g.missing(partClaims)
	if !p.FollowsAway {
		p.Followers, p.Following = digits(p.follows.Followers), digits(p.follows.Following)
	}
	if p.ClaimsAway {
		return
	}
	for _, c := range p.claims {
		p.Claims = append(p.Claims, claimRow{Station: c.Station, Identity: c.Identity, URL: link(c.ProfileURL), Since: when(c.VerifiedAt)})
	}
}

func digits(n int64) string { return strconv.FormatInt(n, 10) }

// machineWords label what is no person, on every page that names it.
var machineWords = map[syntax.OperatorType]string{syntax.AIAgent: "AI", syntax.SystemBot: "Bot"}

// tierWords say what a tier means.
var tierWords = map[syntax.Tier]struct{ word, text string }{
	syntax.Independent: {"Independent", "A person outside the operator of this service."},
	syntax.House:       {"House", "A login that the operator of this service runs."},
	syntax.Automated:   {"Automated", "A machine, which no ranking of people counts."},
}
