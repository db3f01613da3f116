package pages

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/pkg/ledgerclient"
	"github.com/signalcast/signalcast/pkg/protocol"
	recordv1 "github.com/signalcast/signalcast/proto/record/v1"
	"github.com/signalcast/signalcast/services/hub/internal/follow"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/request"
	"github.com/signalcast/signalcast/services/hub/internal/identityclaim"
	"github.com/signalcast/signalcast/services/hub/internal/operator"
	"github.com/signalcast/signalcast/services/hub/internal/record"
)

const personPath = "/u/"

type personPage struct {
	frame
	passport
	Sum         standing
	Own, Follow bool       // it is the viewer's own page; the viewer follows
	SignIn      string     // address at which a visitor signs in to follow; empty: none
	Skill       *skillPart // nil: nothing is decided
	Calibration *calibrationPlot
	Lanes       []laneSpan
	LaneTicks   []chartTick
	Course      coursePlot
	Recent      []callRow
	More, Back  string // addresses of older calls and of the newest
}

// Sizes of the lists of a record.
const (
	callsOfOne   = 25
	momentsOfOne = 6
)

// person is GET /u/{handle}: the record of an operator.
func (s *site) person(c echo.Context) error {
	account, err := s.byHandle(c)
	if err != nil {
		return err
	}
	v, before := s.visit(c), request.Cursor(c.QueryParam("before"))
	ledger, handle, counts := s.Ledger.Records, string(account.Handle), &part[follow.Counts]{}
	g := newGather(c.Request().Context(), partsWithin)
	p := personPage{passport: s.passportOf(g, account), Own: v.who.UserID != "" && v.who.UserID == string(account.ID)}
	sum := askFor(g, "record", ledger.GetOperatorRecord, record.Request(account.Handle, 0, momentsOfOne))
	calls := askFor(g, "calls", ledger.ListCalls, &recordv1.ListCallsRequest{Handle: handle, Limit: callsOfOne, Cursor: before})
	skill := askCached(g, "skill", s.skills, handle, ledger.GetSkill, &recordv1.GetSkillRequest{Handle: handle, Window: "all"})
	course := askCached(g, "course", s.courses, handle, ledger.GetCourse, &recordv1.GetCourseRequest{Handle: handle})
	if v.who.UserID != "" && !p.Own {
		counts = ask(g, "ties", func(ctx context.Context) (follow.Counts, error) {
			return s.People.Follows.Counts(ctx, operator.ID(v.who.UserID), account.Handle)
		})
	}
	away := g.done()
	if sum.Value != nil {
		p.Sum = standingOf(sum.Value)
	}
	report := record.ReportOf(skill.Value.GetReport())
	if p.Skill = skillOf(report); p.Skill != nil {
		p.Calibration = calibrationOf(report.Calibration)
	}
	p.Lanes, p.LaneTicks = lanesOf(skill.Value.GetLanes())
	p.Course, p.Recent = courseOf(course.Value, s.Now()), callsOf(calls.Value.GetSignals())
	if next := calls.Value.GetNextCursor(); next != "" {
		p.More = callsBefore(handle, next)
	}
	if before != "" {
		p.Back = callsBefore(handle, "")
	}
	p.frame = s.frame(c, p.DisplayName+" (@"+handle+")", p.card(), personPath+handle)
	p.shared(s.HubURL, "operator", handle)
	p.Away, p.Kind, p.SignIn, p.Wide, p.Unlisted = away, "profile", p.Account.SignIn, true, before != ""
	p.Follow, p.Away["ties"] = counts.Value.IsFollowing, v.err != nil || away["ties"]
	return s.renderParts(c, g, http.StatusOK, "person", p)
}

// card is the page in one line.
func (p *personPage) card() string {
	text := "@" + p.Handle + " on Signalcast."
	if p.Machine != "" {
		text = "@" + p.Handle + " on Signalcast, a bot (" + p.Machine + ")."
	}
	if p.Sum.calls > 0 {
		text += " " + many(p.Sum.calls, "call") + ", " + p.Sum.Won + " won, " + p.Sum.Lost + " lost, score " + p.Sum.Score + "."
	}
	return text
}

// byHandle is the account that the address names; the name may be written in any case.
func (s *site) byHandle(c echo.Context) (identityclaim.Account, error) {
	handle, err := protocol.ParseHandle(strings.ToLower(c.Param("handle")))
	if err != nil {
		return identityclaim.Account{}, operator.ErrUnknown
	}
	return s.People.Payouts.Accounts.ByHandle(c.Request().Context(), handle)
}

// follow is POST /u/{handle}/follow.
func (s *site) follow(c echo.Context) error { return s.tie(c, s.People.Follows.Follow) }

// unfollow is POST /u/{handle}/unfollow.
func (s *site) unfollow(c echo.Context) error { return s.tie(c, s.People.Follows.Unfollow) }

func (s *site) tie(c echo.Context, change func(context.Context, operator.Operator, protocol.Handle) (follow.Counts, error)) error {
	v, err := s.actor(c)
	if err != nil {
		return err
	}
	handle, err := protocol.ParseHandle(strings.ToLower(c.Param("handle")))
	if err != nil {
		return operator.ErrUnknown
	}
	me := operator.Operator{ID: operator.ID(v.who.UserID), Handle: protocol.Handle(v.handle)}
	if _, err := change(c.Request().Context(), me, handle); err != nil {
		return err
	}
	return done(c, personPath+string(handle))
}

// standing has the totals of an operator for the head of the page.
type standing struct {
	Title, Rank          string
	Score, Way           string
	Total, Won, Lost     string
	Void, Pending, Right string
	Streak, Line         string
	Share                []sharePart // of all calls, for the bar
	ShareLabel           string
	Best                 *bestPart
	Moments              []momentPart
	None, OnlyPending    bool
	calls                int64
}

// sharePart is a stretch of the bar of all calls.
type sharePart struct{ Class, X, Width string }

type bestPart struct{ ID, Title, Price string }

type momentPart struct {
	ID, Tier, Class, Title, Side, SideClass, Price, Score, At string
}

func standingOf(r *recordv1.GetOperatorRecordResponse) standing {
	st := r.GetStats()
	total, resolved, pending := st.GetTotal(), record.Resolved(st), record.Pending(st)
	p := standing{
		Title: capital(record.Title(resolved)), Score: signed(int(st.GetScore())), Way: wayOf(st.GetScore()),
		Total: grouped(total),
		Won:   grouped(st.GetWon()), Lost: grouped(st.GetLost()), Void: grouped(st.GetVoid()), Pending: grouped(pending),
		None: total == 0, OnlyPending: total > 0 && resolved == 0,
		calls: total,
	}
	if r.Rank != nil {
		p.Rank = "No. " + grouped(*r.Rank) + " of " + grouped(r.GetField())
	}
	if resolved > 0 {
		p.Right, p.Streak = digits(int64(st.GetAccuracy()))+"%", grouped(st.GetStreak())
	}
	if clv := record.AvgClv(st); clv != nil {
		p.Line = pointsOf(int(*clv))
	}
	p.Share = sharesOf(st)
	p.ShareLabel = many(st.GetWon(), "call") + " won, " + digits(st.GetLost()) + " lost, " + digits(st.GetVoid()) + " void, " +
		digits(pending) + " open"
	if b := r.GetBest(); b != nil {
		p.Best = &bestPart{b.GetSignalId(), cmp.Or(b.GetMarketTitle(), b.GetMarketId()), cents(b.GetOddsBps())}
	}
	for _, m := range r.GetMoments() {
		p.Moments = append(p.Moments, momentPart{
			ID: m.GetSignalId(), Tier: capital(m.GetTier()), Class: strings.ToLower(m.GetTier()),
			Title: cmp.Or(m.GetMarketTitle(), m.GetMarketId()), Side: m.GetDirection(), SideClass: sideClass(m.GetDirection()),
			Price: cents(m.GetOddsBps()), Score: signed(int(m.GetScore())),
			At: ledgerclient.Time(m.GetMintedAt()).UTC().Format("2 Jan 2006"),
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
		out = append(out, sharePart{s.class, share(at), share(width)})
		at += width
	}
	return out
}

func wayOf(n int64) string {
	switch {
	case n > 0:
		return "up"
	case n < 0:
		return "down"
	}
	return "flat"
}

func callsBefore(handle, cursor string) string {
	if cursor == "" {
		return personPath + handle + "#calls"
	}
	return personPath + handle + "?before=" + url.QueryEscape(cursor) + "#calls"
}

// passport is the identity of a person, as the own page and the public one show it.
type passport struct {
	Handle, DisplayName, Face, Bio string
	Machine                        string // what kind of machine; empty: a person
	Tier, TierText, Since          string
	Links                          []string
	Follows                        *part[follow.Totals]
	Claims                         *part[[]identityclaim.Claim]
}

// passportOf returns the passport of an account and starts to read the parts that the account does not have.
func (s *site) passportOf(g *gather, a identityclaim.Account) passport {
	p := passport{
		Handle: string(a.Handle), DisplayName: nameOf(a.DisplayName, string(a.Handle)), Bio: a.Bio,
		Face:    cmp.Or(face(a.DisplayName), face(string(a.Handle))),
		Machine: machineWords[a.Type], Since: a.CreatedAt.UTC().Format("2 January 2006"),
		Tier: tierWords[a.Tier].word, TierText: tierWords[a.Tier].text,
		Follows: ask(g, "follows", func(ctx context.Context) (follow.Totals, error) { return s.People.Follows.Totals(ctx, a.ID) }),
		Claims:  ask(g, "claims", func(ctx context.Context) ([]identityclaim.Claim, error) { return s.People.Claims.Claims(ctx, a.ID) }),
	}
	for _, l := range a.Links {
		if l = link(l); l != "" {
			p.Links = append(p.Links, l)
		}
	}
	return p
}

// machineWords label what is no person, on every page that names it.
var machineWords = map[protocol.OperatorType]string{protocol.AIAgent: "AI", protocol.SystemBot: "Bot"}

// tierWords say what a tier means.
var tierWords = map[protocol.Tier]struct{ word, text string }{
	protocol.Independent: {"Independent", "Independent forecaster."},
	protocol.House:       {"House", "An account that the administrators of this service run."},
	protocol.Automated:   {"Automated", "A bot. Rankings of people exclude it."},
}
