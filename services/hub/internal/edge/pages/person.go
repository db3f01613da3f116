package pages

import (
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/pkg/syntax"
	"github.com/signalcast/signalcast/services/hub/internal/claim"
	"github.com/signalcast/signalcast/services/hub/internal/follow"
	"github.com/signalcast/signalcast/services/hub/internal/operator"
	"github.com/signalcast/signalcast/services/hub/internal/record"
)

const personPath = "/u/"

const partTies = "ties"

type personPage struct {
	frame
	passport
	takeAway
	Sum          standing
	Own, Follows bool   // it is the viewer's own page; the viewer follows
	SignIn       string // where somebody who wants to follow begins; empty: nowhere
	TiesAway     bool
	Skill        *skillPart // nil: nothing is decided
	Calibration  *calibrationPlot
	Lanes        []laneSpan
	LaneTicks    []chartTick
	SkillAway    bool
	Course       coursePlot
	CourseAway   bool
	Recent       []recentCall
	More, Back   string // addresses of older calls and of the newest
	RecentAway   bool
}

// person is GET /u/{handle}: somebody's record.
func (s *site) person(c echo.Context) error {
	account, err := s.byHandle(c)
	if err != nil {
		return err
	}
	v, before := s.visit(c), cursorOf(c, "before")
	var (
		p      personPage
		counts follow.Counts
		read   readRecord
	)
	p.passport = passportOf(account)
	g := newGather(c.Request().Context())
	s.gatherTies(g, account.ID, &p.passport)
	s.gatherRecord(g, account.Handle, before, &read)
	p.Own = v.who.UserID != "" && v.who.UserID == string(account.ID)
	if v.who.UserID != "" && !p.Own {
		ask(g, partTies, &counts, func(ctx context.Context) (follow.Counts, error) {
			return s.People.Follows.Counts(ctx, operator.ID(v.who.UserID), account.Handle)
		})
	}
	g.done()
	p.finishTies(g)
	p.fill(g, &read, s.Now())
	p.frame = s.frame(c, p.DisplayName+" (@"+p.Handle+")", p.card(), personPath+p.Handle)
	p.shared(s.HubURL, "operator", p.Handle)
	p.takeAway = s.takeAwayOf(p.Handle)
	p.Kind, p.SignIn, p.Wide, p.Unlisted = "profile", p.Account.SignIn, true, before != ""
	p.Follows, p.TiesAway = counts.IsFollowing, v.err != nil || g.missing(partTies)
	if before != "" {
		p.Back = callsBefore(p.Handle, "")
	}
	s.lessThanWhole(c, g)
	return s.render(c, http.StatusOK, "person", p)
}

// fill puts what was read into words and plots.
func (p *personPage) fill(g *gather, read *readRecord, now time.Time) {
	p.RecordAway, p.SkillAway, p.CourseAway, p.RecentAway = g.missing(partRecord), g.missing(partSkill), g.missing(partCourse), g.missing(partCalls)
	if !p.RecordAway {
		p.Sum = standingOf(read.record)
	}
	if !p.SkillAway {
		report := record.ReportOf(read.skill.GetReport())
		if p.Skill = skillOf(report); p.Skill != nil {
			p.Calibration = calibrationOf(report.Calibration)
		}
		p.Lanes, p.LaneTicks = lanesOf(read.skill.GetLanes())
	}
	p.Course = courseOf(read.course, now)
	p.Recent = recentOf(read.calls.GetSignals())
	if next := read.calls.GetNextCursor(); next != "" {
		p.More = callsBefore(p.Handle, next)
	}
}

// card is the page in one line.
func (p *personPage) card() string {
	text := "@" + p.Handle + " on Signalcast."
	if p.Machine != "" {
		text = "@" + p.Handle + " on Signalcast, a machine (" + p.Machine + ")."
	}
	if !p.RecordAway && !p.Sum.None {
		text += " " + many(p.Sum.calls, "call") + ", " + p.Sum.Won + " won, " + p.Sum.Lost + " lost, score " + p.Sum.Score + "."
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
