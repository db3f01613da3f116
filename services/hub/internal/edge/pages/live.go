package pages

import (
	"context"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/pkg/syntax"
)

const (
	livePath = "/live/"
	partAir  = "air"
)

// OnAir is what the live page of an operator shows. It is empty unless an administrator
// approved the operator.
type OnAir struct {
	Approved  bool
	State     string // idle, live, ended
	HLSURL    string // empty: none
	StartedAt time.Time
	Viewers   int64
	Signal    OverlaySignal
}

// OverlaySignal is the market that an operator has on the air; without an id it is none.
type OverlaySignal struct {
	MarketID   marketID
	Name, Note string
	YesPct     *float64 // 0-100
	ClosesAt   time.Time
}

// Air tells what an operator has on the air. Fault: db_unavailable.
type Air func(ctx context.Context, handle syntax.Handle) (OnAir, error)

type livePage struct {
	frame
	Handle, Heading                    string
	State, Word, Text                  string
	OnAir, Approved                    bool
	Stream, Started, Viewers           string
	Origins, Socket                    string
	Library, Line, Player, HLS, Script string
	Name, MarketURL, Note, Yes, No     string
	Calls                              []recentCall
	Read                               string
}

// airWords are what the page says of a state, as its script does.
var airWords = map[string][2]string{
	"idle":  {"Offline", "Nothing is on the air. This page goes on by itself when that changes."},
	"ended": {"Ended", "The broadcast is over. The calls that were made in it stay."},
	"live":  {"Live", ""},
}

// live is GET /live/{handle}: the stream of an operator, and what is called in it.
func (s *site) live(c echo.Context) error {
	account, err := s.byHandle(c)
	if err != nil {
		return err
	}
	handle, name := account.Handle, account.DisplayName
	if name == "" {
		name = "@" + string(handle)
	}
	air := OnAir{State: "idle"}
	g := newGather(c.Request().Context())
	if s.Air != nil {
		ask(g, partAir, &air, func(ctx context.Context) (OnAir, error) { return s.Air(ctx, handle) })
	}
	g.done()
	if _, known := airWords[air.State]; !known {
		air.State = "idle"
	}
	p := livePage{
		frame:  s.frame(c, name+" live", name+" (@"+string(handle)+") live on Signalcast.", livePath+string(handle)),
		Handle: string(handle), Heading: name, State: air.State, Word: airWords[air.State][0], Text: airWords[air.State][1], OnAir: air.State == "live",
		Approved: air.Approved, Viewers: grouped(air.Viewers), Started: stampOf(air.StartedAt), Socket: s.socket,
		Library: s.scripts["signalcast-feed.js"], Line: s.scripts["line.js"], Player: s.scripts["player.js"], HLS: s.scripts[hlsFile], Script: s.scripts["live.js"],
		Read: s.Now().UTC().Format("15:04:05 UTC"),
	}
	p.Wide, p.Kind = true, "video.other"
	p.shared(s.HubURL, "operator", p.Handle)
	if p.OnAir {
		p.Stream = air.HLSURL
	}
	p.fillSignal(air.Signal)
	origins := s.videoOrigins(air.HLSURL)
	p.Origins = strings.Join(origins, " ")
	c.Response().Header().Set("Content-Security-Policy", s.watching(origins))
	s.lessThanWhole(c, g)
	return s.render(c, http.StatusOK, "live", p)
}

func (p *livePage) fillSignal(o OverlaySignal) {
	p.Yes, p.No, p.MarketURL = "–", "–", marketsPath
	if o.MarketID == "" {
		return
	}
	p.Name, p.Note, p.MarketURL = o.Name, o.Note, marketPath+string(o.MarketID)
	if p.Name == "" {
		p.Name = "Market " + string(o.MarketID)
	}
	if o.YesPct != nil {
		yes := int(*o.YesPct*100 + 0.5)
		p.Yes, p.No = cents(yes), cents(10000-yes)
	}
}

func stampOf(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return syntax.Stamp(t)
}

// plainHost is a host that stands in a policy as it is: nothing in it ends a directive.
var plainHost = regexp.MustCompile(`^([a-z0-9]([a-z0-9.-]*[a-z0-9])?|\[[0-9a-f:]+\])(:[0-9]{1,5})?$`)

// videoOrigins are where a page may load pictures from: the hosts of the setting, and
// those of the streams that are on now.
func (s *site) videoOrigins(streams ...string) []string {
	var out, all []string
	for _, host := range s.Videos {
		all = append(all, "https://"+host)
	}
	for _, raw := range append(all, streams...) {
		u, err := url.Parse(raw)
		if err != nil || u.Scheme != "https" && u.Scheme != "http" {
			continue
		}
		host := strings.ToLower(u.Host)
		if origin := u.Scheme + "://" + host; plainHost.MatchString(host) && !slices.Contains(out, origin) {
			out = append(out, origin)
		}
	}
	return out
}

// watching is the policy of a page that plays streams of these origins. What the player
// puts together from them is a blob.
func (s *site) watching(origins []string) string {
	from := ""
	if len(origins) > 0 {
		from = " " + strings.Join(origins, " ")
	}
	return policy + "; script-src 'self'; media-src 'self' blob:" + from + "; connect-src 'self'" + s.socketSource() + from
}
