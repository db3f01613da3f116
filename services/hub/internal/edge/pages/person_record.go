package pages

import (
	"cmp"
	"context"
	"net/url"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/pkg/ledgerclient"
	"github.com/signalcast/signalcast/pkg/syntax"
	recordv1 "github.com/signalcast/signalcast/proto/record/v1"
	signalv1 "github.com/signalcast/signalcast/proto/signal/v1"
	"github.com/signalcast/signalcast/services/hub/internal/record"
)

// Sizes of the lists of a record.
const (
	callsOfOne   = 25
	momentsOfOne = 6
)

const (
	partSkill  = "skill"
	partCourse = "course"
	partCalls  = "calls"
)

// standing is what somebody has called, as the head of the page shows it.
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

type recentCall struct {
	ID, Title, Side, SideClass, Price, Status, StatusWord, Score, At, AtISO, Take string
}

func standingOf(r *recordv1.GetOperatorRecordResponse) standing {
	st := r.GetStats()
	total, resolved, pending := st.GetTotal(), record.Resolved(st), record.Pending(st)
	p := standing{
		Title: capital(record.Title(resolved)), Score: signed(int(st.GetScore())), Way: wayOf(st.GetScore()), Total: grouped(total),
		Won: grouped(st.GetWon()), Lost: grouped(st.GetLost()), Void: grouped(st.GetVoid()), Pending: grouped(pending),
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
		p.Best = &bestPart{b.GetSignalId(), orID(b.GetMarketTitle(), b.GetMarketId()), cents(b.GetOddsBps())}
	}
	for _, m := range r.GetMoments() {
		p.Moments = append(p.Moments, momentPart{
			ID: m.GetSignalId(), Tier: capital(m.GetTier()), Class: strings.ToLower(m.GetTier()),
			Title: orID(m.GetMarketTitle(), m.GetMarketId()), Side: m.GetDirection(), SideClass: sideClass(m.GetDirection()),
			Price: cents(m.GetOddsBps()), Score: signed(int(m.GetScore())), At: ledgerclient.Time(m.GetMintedAt()).UTC().Format("2 Jan 2006"),
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

// orID returns the title of a market; its id if the title is empty.
func orID(title, id string) string { return cmp.Or(title, id) }

// capital writes a word in capitals as a word.
func capital(word string) string {
	if word == "" {
		return ""
	}
	return word[:1] + strings.ToLower(word[1:])
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

// recentOf returns calls as the pages show them.
func recentOf(list []*signalv1.Signal) []recentCall {
	out := make([]recentCall, 0, len(list))
	for _, f := range list {
		filed := ledgerclient.Time(f.GetCreatedAt())
		out = append(out, recentCall{
			ID: f.GetId(), Title: orID(f.GetMarketTitle(), f.GetMarketId()), Side: f.GetDirection(), SideClass: sideClass(f.GetDirection()),
			Price: priceOf(f), Status: f.GetStatus(), StatusWord: statusWord(f.GetStatus()), Score: callPoints(f), At: when(filed),
			AtISO: syntax.Stamp(filed), Take: f.GetTextTake(),
		})
	}
	return out
}

// takeAway is how a record leaves the page: as a file, and as a frame of another page.
type takeAway struct {
	Record, CSV, Verify string
	EmbedURL, EmbedCode string
	Card                string
}

func (s *site) takeAwayOf(handle string) takeAway {
	file := "/api/operator/" + handle + "/record"
	frame := s.HubURL + "/operator/" + handle + "/embed"
	return takeAway{
		Record: file, CSV: file + "?format=csv", Verify: "go run ./cmd/signalcast record verify " + s.HubURL + file,
		EmbedURL: frame, Card: "/api/card/operator/" + handle + ".svg",
		EmbedCode: `<iframe src="` + frame + `" width="420" height="220" frameborder="0"` + "\n" +
			`  title="@` + handle + ` on Signalcast" loading="lazy"` + "\n" + `  sandbox="allow-popups allow-popups-to-escape-sandbox"></iframe>`,
	}
}

// gatherRecord asks for everything that somebody has on record.
func (s *site) gatherRecord(g *gather, handle syntax.Handle, cursor string, to *readRecord) {
	ledger := s.Ledger.Records
	ask(g, partRecord, &to.record, func(ctx context.Context) (*recordv1.GetOperatorRecordResponse, error) {
		return ledger.GetOperatorRecord(ctx, recordOf(handle, 0, momentsOfOne))
	})
	ask(g, partCalls, &to.calls, func(ctx context.Context) (*recordv1.ListCallsResponse, error) {
		return ledger.ListCalls(ctx, &recordv1.ListCallsRequest{Handle: string(handle), Limit: callsOfOne, Cursor: cursor})
	})
	ask(g, partSkill, &to.skill, func(ctx context.Context) (*recordv1.GetSkillResponse, error) {
		return s.skills.get(ctx, string(handle), func(ctx context.Context) (*recordv1.GetSkillResponse, error) {
			return ledger.GetSkill(ctx, &recordv1.GetSkillRequest{Handle: string(handle), Window: "all"})
		})
	})
	ask(g, partCourse, &to.course, func(ctx context.Context) (*recordv1.GetCourseResponse, error) {
		return s.courses.get(ctx, string(handle), func(ctx context.Context) (*recordv1.GetCourseResponse, error) {
			return ledger.GetCourse(ctx, &recordv1.GetCourseRequest{Handle: string(handle)})
		})
	})
}

// recordOf asks for the record of a handle with its newest calls and moments.
func recordOf(handle syntax.Handle, recent, moments int32) *recordv1.GetOperatorRecordRequest {
	return &recordv1.GetOperatorRecordRequest{
		By: &recordv1.GetOperatorRecordRequest_Handle{Handle: string(handle)}, Recent: recent, Moments: moments,
	}
}

// readRecord is what was read of somebody's record.
type readRecord struct {
	record *recordv1.GetOperatorRecordResponse
	calls  *recordv1.ListCallsResponse
	skill  *recordv1.GetSkillResponse
	course *recordv1.GetCourseResponse
}

// cursorOf reads a place in a list; what cannot be one is none.
func cursorOf(c echo.Context, name string) string {
	raw := c.QueryParam(name)
	if len(raw) > maxCursor || strings.Trim(raw, cursorLetters) != "" {
		return ""
	}
	return raw
}

func callsBefore(handle, cursor string) string {
	if cursor == "" {
		return personPath + handle + "#calls"
	}
	return personPath + handle + "?before=" + url.QueryEscape(cursor) + "#calls"
}
