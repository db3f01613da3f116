package pages

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/pkg/ledgerclient"
	"github.com/signalcast/signalcast/pkg/protocol"
	marketv1 "github.com/signalcast/signalcast/proto/market/v1"
	recordv1 "github.com/signalcast/signalcast/proto/record/v1"
	signalv1 "github.com/signalcast/signalcast/proto/signal/v1"
	"github.com/signalcast/signalcast/services/hub/internal/follow"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/pages/format"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/pages/site"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/request"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/view"
	"github.com/signalcast/signalcast/services/hub/internal/identityclaim"
	"github.com/signalcast/signalcast/services/hub/internal/operator"
	"github.com/signalcast/signalcast/services/hub/internal/record"
)

type personPage struct {
	site.Layout
	passport
	Summary             recordSummary
	Live                bool       // the operator is live
	Own, IsFollowing    bool       // Own: the visitor is the operator; IsFollowing: the visitor follows the operator
	SignIn              string     // URL of the sign-in, for visitors who want to follow; empty: none
	Skill               *skillPart // nil without a resolved call
	Calibration         *calibrationPlot
	Lanes               []laneEdge
	LaneTicks           []chartTick
	Course              coursePlot
	Results             []callRow // results of the newest resolved calls, oldest first
	ResultsLabel        string
	Recent              []callRow
	Tabs                []tab  // calls by state
	State               string // state of the calls that are shown; empty: all
	OlderURL, NewestURL string // URLs of older calls and of the newest calls
}

// Maximum numbers of calls and of long-shot wins on a profile page.
const (
	callsPerPage = 25
	momentsShown = 6
	resultsShown = 20
)

// anyPerson handles GET /u/{handle}. The handle me, which no operator can have, redirects to the page of the visitor.
func (s *server) anyPerson(c echo.Context) error {
	if site.PersonPath+c.Param("handle") != site.OwnPersonPath {
		return s.byHandle(s.person)(c)
	}
	v, ok, err := s.RequireViewer(c, site.OwnPersonPath)
	if !ok {
		return err
	}
	return site.Redirect(c, site.PersonPath+v.Handle)
}

// person answers with the profile and record of an operator. The parameter state selects calls: open, resolved or void.
// Operators also see their calls on unconfirmed markets.
func (s *server) person(c echo.Context, account identityclaim.Account) error {
	v, before := s.Viewer(c), request.Cursor(c.QueryParam("before"))
	state, statuses := callState(c.QueryParam("state"))
	ledger, handle, counts := s.Ledger.Records, string(account.Handle), &site.Part[follow.Counts]{}
	g := site.NewPartReader(c.Request().Context(), site.PartsTimeout)
	p := personPage{passport: s.passportOf(g, account), Own: v.Session.UserID != "" && v.Session.UserID == string(account.ID)}
	sum := site.CallPart(g, "record", ledger.GetOperatorRecord, record.Request(account.Handle, 0, momentsShown))
	calls := site.CallPart(g, "calls", ledger.ListCalls, &recordv1.ListCallsRequest{
		Handle: handle, Limit: callsPerPage, Cursor: before, Statuses: statuses, Own: p.Own,
	})
	results := site.CallPart(g, "results", ledger.ListCalls, &recordv1.ListCallsRequest{
		Handle: handle, Limit: resultsShown, Statuses: []string{string(protocol.Won), string(protocol.Lost)}, Own: p.Own,
	})
	skill := site.CallCached(g, "skill", s.skills, handle, ledger.GetSkill, &recordv1.GetSkillRequest{Handle: handle, Window: "all"})
	course := site.CallCached(g, "course", s.courses, handle, ledger.GetCourse, &recordv1.GetCourseRequest{Handle: handle})
	if v.Session.UserID != "" && !p.Own {
		counts = site.ReadPart(g, "following", func(ctx context.Context) (follow.Counts, error) {
			return s.People.Follows.Counts(ctx, operator.ID(v.Session.UserID), account.Handle)
		})
	}
	unavailable := g.Wait()
	named := s.marketsOf(c.Request().Context(), append(view.List(calls.Value.GetSignals(), (*signalv1.Signal).GetMarketId),
		view.List(sum.Value.GetMoments(), (*recordv1.Moment).GetMarketId)...)...)
	if sum.Value != nil {
		p.Summary = summaryOf(sum.Value, named)
	}
	report := record.ReportOf(skill.Value.GetReport())
	if p.Skill = skillOf(report); p.Skill != nil {
		p.Calibration = calibrationOf(report.Calibration)
	}
	p.Lanes, p.LaneTicks = lanesOf(skill.Value.GetLanes())
	p.Course, p.Recent = newCoursePlot(course.Value), callsOf(calls.Value.GetSignals(), named)
	p.Results, p.ResultsLabel = resultsOf(results.Value.GetSignals())
	p.State, p.Tabs = state, callTabs(handle, state, sum.Value.GetStats())
	if next := calls.Value.GetNextCursor(); next != "" {
		p.OlderURL = callsURL(handle, state, next)
	}
	if before != "" {
		p.NewestURL = callsURL(handle, state, "")
	}
	p.Layout = s.NewLayout(c, p.DisplayName+" (@"+handle+")", p.card(), site.PersonPath+handle)
	p.AddPreview(s.HubURL, "operator", handle)
	p.Unavailable, p.OGType, p.SignIn, p.Wide, p.Unlisted = unavailable, "profile", p.Account.SignInURL, true, before != "" || state != ""
	_, p.Live = s.liveNow(c.Request().Context())[handle]
	p.Feed = atomPath(site.PersonPath + handle)
	if p.Own {
		p.Nav = "mine"
	}
	p.IsFollowing, p.Unavailable["following"] = counts.Value.IsFollowing, v.Err != nil || unavailable["following"]
	status := http.StatusOK
	if account.Handle.IsDeleted() {
		status, p.Unlisted, p.SignIn = http.StatusGone, true, ""
	}
	return s.RenderParts(c, g, status, "person", p)
}

// resultsOf returns the rows of resolved calls, oldest first, and a label for them. It returns nothing for fewer than two calls.
func resultsOf(newest []*signalv1.Signal) (rows []callRow, label string) {
	if len(newest) < 2 {
		return nil, ""
	}
	rows = callsOf(newest, nil)
	slices.Reverse(rows)
	won := int64(0)
	for _, r := range rows {
		if r.Status == string(protocol.Won) {
			won++
		}
	}
	return rows, "Last " + strconv.Itoa(len(rows)) + " results, oldest first: " + format.Digits(won) + " won, " +
		format.Digits(int64(len(rows))-won) + " lost"
}

// card returns a one-line description of the operator for link previews.
func (p *personPage) card() string {
	text := "@" + p.Handle + " on Signalcast."
	if p.BotLabel != "" {
		text = "@" + p.Handle + " on Signalcast, a bot (" + p.BotLabel + ")."
	}
	if p.Summary.calls > 0 {
		text += " " + format.CountOf(p.Summary.calls, "call") + ", " + p.Summary.Won + " won, " + p.Summary.Lost + " lost, " +
			p.Summary.Score + " " + p.Summary.ScoreUnit + "."
	}
	return text
}

// byHandle returns a handler that passes the account with the handle in the path, in upper or lower case, to the function do. It
// redirects from a former handle to the present one. Error: not_found.
func (s *server) byHandle(do func(echo.Context, identityclaim.Account) error) echo.HandlerFunc {
	return func(c echo.Context) error {
		account, err := s.accountOf(c.Request().Context(), c.Param("handle"))
		switch {
		case err != nil:
			return err
		case isFormer(c, account):
			return redirectFormer(c, account)
		}
		return do(c, account)
	}
}

// isFormer reports whether the handle in the path is a former one of the account.
func isFormer(c echo.Context, a identityclaim.Account) bool {
	return !strings.EqualFold(c.Param("handle"), string(a.Handle))
}

// redirectFormer redirects to the same page of the present handle. Browsers repeat the request after a minute, because the owner
// can take a former handle back.
func redirectFormer(c echo.Context, a identityclaim.Account) error {
	to := url.URL{Path: strings.Replace(c.Path(), ":handle", string(a.Handle), 1), RawQuery: c.Request().URL.RawQuery}
	c.Response().Header().Set("Cache-Control", "public, max-age=60")
	return c.Redirect(http.StatusMovedPermanently, to.String())
}

// accountOf returns the account that has or had a handle, in upper or lower case. Error: not_found.
func (s *server) accountOf(ctx context.Context, raw string) (identityclaim.Account, error) {
	handle, err := protocol.ParseHandle(strings.ToLower(raw))
	if err != nil {
		return identityclaim.Account{}, operator.ErrUnknown
	}
	return s.People.Payouts.Accounts.ByHandle(ctx, handle)
}

// follow handles POST /u/{handle}/follow, which makes the visitor follow the operator.
func (s *server) follow(c echo.Context) error { return s.changeFollow(c, s.People.Follows.Follow) }

// unfollow handles POST /u/{handle}/unfollow, which makes the visitor stop following the operator.
func (s *server) unfollow(c echo.Context) error { return s.changeFollow(c, s.People.Follows.Unfollow) }

func (s *server) changeFollow(
	c echo.Context, change func(context.Context, operator.Operator, protocol.Handle) (follow.Counts, error),
) error {
	v, _, err := s.ReadForm(c)
	if err != nil {
		return err
	}
	handle, err := protocol.ParseHandle(strings.ToLower(c.Param("handle")))
	if err != nil {
		return operator.ErrUnknown
	}
	me := operator.Operator{ID: operator.ID(v.Session.UserID), Handle: protocol.Handle(v.Handle)}
	switch _, err := change(c.Request().Context(), me, handle); {
	case errors.Is(err, follow.ErrSelf):
		return follow.ErrSelf.WithText("You cannot follow yourself.")
	case err != nil:
		return err
	}
	return site.Redirect(c, site.PersonPath+string(handle))
}

// recordSummary has the totals of an operator as formatted texts.
type recordSummary struct {
	Level, Rank            string
	Score, ScoreUnit       string
	Trend                  string
	Total, Won, Lost       string
	Void, Pending, WinRate string
	Streak, CLV            string
	Share                  []sharePart // sections of the bar that shows all calls by result
	ShareLabel             string
	Best                   *bestPart
	Moments                []momentPart
	None, OnlyPending      bool
	calls                  int64
}

// sharePart is a section of the bar that shows all calls by result. X and Width are in percent.
type sharePart struct{ Class, X, Width string }

type bestPart struct{ ID, Title, Price string }

type momentPart struct {
	ID, Tier, Class, Title, Side, SideClass, Price, Score, At string
}

// summaryOf returns the totals of an operator. named has the markets of the moments, by id.
func summaryOf(r *recordv1.GetOperatorRecordResponse, named map[string]*marketv1.Market) recordSummary {
	st := r.GetStats()
	total, resolved, pending := st.GetTotal(), record.Resolved(st), record.Pending(st)
	p := recordSummary{
		Level: "Level " + strconv.Itoa(record.Level(resolved)), Score: format.Signed(int(st.GetScore())), ScoreUnit: view.PointsUnit(st.GetScore()),
		Trend: trendOf(st.GetScore()),
		Total: format.Grouped(total),
		Won:   format.Grouped(st.GetWon()), Lost: format.Grouped(st.GetLost()), Void: format.Grouped(st.GetVoid()), Pending: format.Grouped(pending),
		None: total == 0, OnlyPending: total > 0 && resolved == 0,
		calls: total,
	}
	if r.Rank != nil {
		p.Rank = format.Grouped(*r.Rank) + " of " + format.Grouped(r.GetField())
	}
	if resolved > 0 {
		p.WinRate, p.Streak = format.Digits(int64(st.GetAccuracy()))+"%", format.Grouped(st.GetStreak())
	}
	if clv := record.AvgClv(st); clv != nil {
		p.CLV = format.Signed(int(*clv))
	}
	p.Share = sharesOf(st)
	p.ShareLabel = format.CountOf(st.GetWon(), "call") + " won, " + format.Digits(st.GetLost()) + " lost, " + format.Digits(st.GetVoid()) + " void, " +
		format.Digits(pending) + " open"
	if b := r.GetBest(); b != nil {
		p.Best = &bestPart{b.GetSignalId(), cmp.Or(b.GetMarketTitle(), b.GetMarketId()), format.Cents(b.GetOddsBps())}
	}
	for _, m := range r.GetMoments() {
		p.Moments = append(p.Moments, momentPart{
			ID: m.GetSignalId(), Tier: format.TitleCase(m.GetTier()), Class: strings.ToLower(m.GetTier()),
			Title: cmp.Or(m.GetMarketTitle(), m.GetMarketId()), SideClass: format.SideClass(m.GetDirection()),
			Side: view.SideName(named[m.GetMarketId()], m.GetDirection()), Price: format.Cents(m.GetOddsBps()),
			Score: view.PointsLabel(int64(m.GetScore())), At: ledgerclient.Time(m.GetMintedAt()).UTC().Format("2 Jan 2006"),
		})
	}
	return p
}

func sharesOf(st *recordv1.Stats) []sharePart {
	var out []sharePart
	at := 0.0
	for _, s := range [...]struct {
		class string
		n     int64
	}{{"won", st.GetWon()}, {"lost", st.GetLost()}, {"void", st.GetVoid()}, {"open", record.Pending(st)}} {
		if s.n <= 0 || st.GetTotal() <= 0 {
			continue
		}
		width := float64(s.n) / float64(st.GetTotal())
		out = append(out, sharePart{s.class, percentAttr(at), percentAttr(width)})
		at += width
	}
	return out
}

func trendOf(n int64) string {
	switch {
	case n > 0:
		return "up"
	case n < 0:
		return "down"
	}
	return "flat"
}

// passport is the public identity of an operator, for the profile page and for the account page of the visitor.
type passport struct {
	Handle, DisplayName, Bio string
	Avatar                   site.Avatar
	BotLabel                 string // AI or Bot; empty for a person
	Tier, TierText, Since    string
	Links                    []string
	Follows                  *site.Part[follow.Totals]
	Claims                   *site.Part[[]identityclaim.Claim]
}

// passportOf returns the passport of an account. It starts to read the followers and claims, which are complete after g.wait.
func (s *server) passportOf(g *site.PartReader, a identityclaim.Account) passport {
	p := passport{
		Handle: string(a.Handle), DisplayName: format.NameOf(a.DisplayName, string(a.Handle)), Bio: a.Bio,
		Avatar:   site.AvatarOf(a.Operator),
		BotLabel: botLabels[a.Type], Since: a.CreatedAt.UTC().Format("2 January 2006"),
		Tier: tierLabels[a.Tier].word, TierText: tierLabels[a.Tier].text,
		Follows: site.ReadPart(g, "follows", func(ctx context.Context) (follow.Totals, error) {
			return s.People.Follows.Totals(ctx, a.ID)
		}),
		Claims: site.ReadPart(g, "claims", func(ctx context.Context) ([]identityclaim.Claim, error) {
			return s.People.Claims.Claims(ctx, a.ID)
		}),
	}
	p.Avatar.Size = "big"
	for _, l := range a.Links {
		if l = format.Link(l); l != "" {
			p.Links = append(p.Links, l)
		}
	}
	return p
}

// botLabels has the badge of each operator type that is not a person.
var botLabels = map[protocol.OperatorType]string{protocol.AIAgent: "AI", protocol.SystemBot: "Bot"}

// tierLabels has the label and the description of each tier.
var tierLabels = map[protocol.Tier]struct{ word, text string }{
	protocol.Independent: {"People", "Independent forecaster."},
	protocol.House:       {"House", "An account that the administrators of this service run."},
	protocol.Automated:   {"Bots", "A bot. Rankings of people exclude it."},
}
