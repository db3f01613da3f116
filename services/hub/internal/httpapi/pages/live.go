package pages

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/services/hub/internal/livestream"
)

const livePath = "/live/"

// airNow is what the live page of an operator shows. It is empty unless an administrator approved the operator.
type airNow struct {
	Approved bool
	Session  livestream.Session // the newest one
	Viewers  int64
	Overlay  livestream.Overlay // without a market: none
}

// state returns whether the operator is live, was live, or neither.
func (a *airNow) state() string {
	switch {
	case a.Session.Live():
		return livestream.StateLive
	case a.Session.ID != "" && !a.Session.Open():
		return livestream.StateEnded
	}
	return livestream.StateIdle
}

// readAir returns what an approved operator broadcasts now. Fault: db_unavailable.
func (s *site) readAir(ctx context.Context, handle protocol.Handle) (out airNow, err error) {
	if streamer, err := s.OnAir.Store.Streamer(ctx, handle); err != nil || streamer.Status != livestream.Approved {
		return out, err
	}
	out.Approved = true
	if out.Session, _, err = s.OnAir.Last(ctx, handle); err != nil {
		return out, err
	}
	if out.Session.Live() {
		out.Viewers = s.OnAir.Viewers(ctx, handle)
	}
	out.Overlay, _, err = s.OnAir.Overlay(ctx, handle)
	return out, err
}

type livePage struct {
	frame
	Handle, Heading                string
	State, Word, Text              string
	OnAir, Approved                bool
	Stream, Started, Viewers       string
	Origins                        string
	Name, MarketURL, Note, Yes, No string
	Read                           string
}

// airWords are the word and the text of each state. The script of the page has the same.
var airWords = map[string][2]string{
	livestream.StateIdle:  {"Offline", "Offline. This page updates when the broadcast starts."},
	livestream.StateEnded: {"Ended", "The broadcast has ended. Its calls stay on the record."},
	livestream.StateLive:  {"Live", ""},
}

// live is GET /live/{handle}: the stream of an operator, and what is called in it.
func (s *site) live(c echo.Context) error {
	account, err := s.byHandle(c)
	if err != nil {
		return err
	}
	handle, name := account.Handle, nameOf(account.DisplayName, string(account.Handle))
	read, g := &part[airNow]{}, newGather(c.Request().Context(), partsWithin)
	if s.OnAir != nil {
		read = ask(g, "air", func(ctx context.Context) (airNow, error) { return s.readAir(ctx, handle) })
	}
	g.done()
	air, state := read.Value, read.Value.state()
	p := livePage{
		frame:  s.frame(c, name+" live", name+" (@"+string(handle)+") live on Signalcast.", livePath+string(handle)),
		Handle: string(handle), Heading: name, State: state, Word: airWords[state][0], Text: airWords[state][1],
		OnAir: state == livestream.StateLive, Approved: air.Approved, Viewers: grouped(air.Viewers),
		Read: s.Now().UTC().Format("15:04:05 UTC"),
	}
	p.Wide, p.Kind = true, "video.other"
	p.shared(s.HubURL, "operator", p.Handle)
	if p.OnAir {
		p.Stream, p.Started = air.Session.URL, protocol.Stamp(air.Session.StartedAt)
	}
	p.fillSignal(&air.Overlay)
	origins := s.videoOrigins(p.Stream)
	p.Origins = strings.Join(origins, " ")
	c.Response().Header().Set("Content-Security-Policy", s.watching(origins))
	return s.renderParts(c, g, http.StatusOK, "live", p)
}

func (p *livePage) fillSignal(o *livestream.Overlay) {
	p.Yes, p.No, p.MarketURL = "–", "–", marketsPath
	if o.MarketID == "" {
		return
	}
	p.Name, p.MarketURL = cmp.Or(o.Name, "Market "+string(o.MarketID)), marketPath+string(o.MarketID)
	if o.Annotation != nil {
		p.Note = *o.Annotation
	}
	if o.YesPct != nil {
		yes := int(*o.YesPct*100 + 0.5)
		p.Yes, p.No = cents(yes), cents(10000-yes)
	}
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
