package pages

import (
	"context"
	"net/url"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/pkg/syntax"
	"github.com/signalcast/signalcast/services/hub/internal/record"
	"github.com/signalcast/signalcast/services/hub/internal/signal"
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

func standingOf(r *record.Record) standing {
	st := &r.Stats
	p := standing{
		Title: capital(record.Title(st.Resolved())), Score: signed(int(st.Score)), Way: wayOf(st.Score),
		Total: grouped(st.Total), Won: grouped(st.Won), Lost: grouped(st.Lost), Void: grouped(st.Void), Pending: grouped(st.Pending()),
		None: st.Total == 0, OnlyPending: st.Total > 0 && st.Resolved() == 0,
		calls: st.Total,
	}
	if r.Rank != nil {
		p.Rank = "No. " + grouped(*r.Rank) + " of " + grouped(r.Field)
	}
	if st.Resolved() > 0 {
		p.Right, p.Streak = digits(int64(st.Accuracy))+"%", grouped(st.Streak)
	}
	if st.AvgClv != nil {
		p.Line = pointsOf(int(*st.AvgClv))
	}
	p.Share, p.ShareLabel = sharesOf(st), many(st.Won, "call")+" won, "+digits(st.Lost)+" lost, "+digits(st.Void)+" void, "+digits(st.Pending())+" open"
	if b := r.Best; b != nil {
		p.Best = &bestPart{b.SignalID, orID(b.MarketTitle, b.MarketID), cents(b.Odds)}
	}
	for i := range r.Moments {
		m := &r.Moments[i]
		p.Moments = append(p.Moments, momentPart{
			ID: m.SignalID, Tier: capital(m.Tier), Class: strings.ToLower(m.Tier), Title: orID(m.MarketTitle, m.MarketID), Side: string(m.Direction),
			SideClass: sideClass(m.Direction), Price: cents(m.Odds), Score: signed(int(m.Score)), At: m.MintedAt.UTC().Format("2 Jan 2006"),
		})
	}
	return p
}

func sharesOf(st *record.Stats) []sharePart {
	var out []sharePart
	at := 0.0
	for _, s := range [...]struct {
		class string
		n     int64
	}{{"won", st.Won}, {"lost", st.Lost}, {"void", st.Void}, {"open", st.Pending()}} {
		if s.n <= 0 || st.Total <= 0 {
			continue
		}
		width := float64(s.n) / float64(st.Total)
		out = append(out, sharePart{s.class, share(at), share(width)})
		at += width
	}
	return out
}

func orID(title string, id syntax.MarketID) string {
	if title == "" {
		return string(id)
	}
	return title
}

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

// recentOf are calls in words.
func recentOf(list []signal.Signal) []recentCall {
	out := make([]recentCall, 0, len(list))
	for i := range list {
		f := &list[i]
		row := recentCall{
			ID: f.ID, Title: orID(f.MarketTitle, f.MarketID), Side: string(f.Direction), SideClass: sideClass(f.Direction), Price: priceOf(f),
			Status: string(f.Status), StatusWord: statusWord(f.Status), Score: callPoints(f), At: when(f.CreatedAt), AtISO: syntax.Stamp(f.CreatedAt),
		}
		if f.TextTake != nil {
			row.Take = *f.TextTake
		}
		out = append(out, row)
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
	ask(g, partRecord, &to.record, func(ctx context.Context) (record.Record, error) {
		return s.Records.Operator(ctx, record.Query{Handle: handle, Moments: momentsOfOne})
	})
	ask(g, partCalls, &to.calls, func(ctx context.Context) (record.Calls, error) {
		return s.Records.Calls(ctx, handle, callsOfOne, cursor)
	})
	ask(g, partSkill, &to.skill, func(ctx context.Context) (record.Skill, error) {
		return s.skills.get(ctx, string(handle), func(ctx context.Context) (record.Skill, error) {
			return s.Records.Skill(ctx, handle, "", "all")
		})
	})
	ask(g, partCourse, &to.course, func(ctx context.Context) (record.Course, error) {
		return s.courses.get(ctx, string(handle), func(ctx context.Context) (record.Course, error) {
			return s.Records.Course(ctx, handle)
		})
	})
}

// readRecord is what was read of somebody's record.
type readRecord struct {
	record record.Record
	calls  record.Calls
	skill  record.Skill
	course record.Course
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
