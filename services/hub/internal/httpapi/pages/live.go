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
	signalv1 "github.com/signalcast/signalcast/proto/signal/v1"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/pages/format"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/pages/site"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/request"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/view"
	"github.com/signalcast/signalcast/services/hub/internal/identityclaim"
	"github.com/signalcast/signalcast/services/hub/internal/livestream"
)

// broadcastState is the live data of an operator. It is empty unless an administrator has approved the operator.
type broadcastState struct {
	Approved bool
	Session  livestream.Session // newest session
	Viewers  int64
	Overlay  livestream.Overlay // market shown in the overlay; without a market id, there is no overlay
}

// stateStarting is the state of a broadcast that the operator has started and whose video has not arrived.
const stateStarting = "starting"

// state returns the state of the newest broadcast of the operator: live with video, starting without video, or ended. It returns idle if
// the operator has no broadcast.
func (a *broadcastState) state() string {
	switch {
	case a.Session.Live():
		return livestream.StateLive
	case a.Session.Open():
		return stateStarting
	case a.Session.ID != "" && !a.Session.Open():
		return livestream.StateEnded
	}
	return livestream.StateIdle
}

// readBroadcast returns the broadcast state of an operator. If the operator is not approved, the state is empty. Error:
// db_unavailable.
func (s *server) readBroadcast(ctx context.Context, handle protocol.Handle) (out broadcastState, err error) {
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
	site.Layout
	Handle, Heading                string
	Avatar                         site.Avatar
	State, StateLabel, Text        string
	OnAir, Approved                bool
	Stream, Started, Viewers       string
	Origins                        string
	Name, MarketURL, Note, Yes, No string
	MarketID, YesName, NoName      string // market of the overlay, and the names of its sides
	UpdatedAt                      string
	IsFollowing, CanFollow         bool         // CanFollow: the visitor has a session and is not the operator
	Offline                        *offlinePart // nil during a broadcast, except for a recap
	IsRecap                        bool         // the page shows the recap of the session in its URL
	Calls                          []liveCall   // newest calls of the newest session
	calls                          []*signalv1.Signal
	Clips                          []clipRow // of the market during a broadcast, else of the session on the page
}

// stateTexts has the label and the text of each session state. The script of the page has the same texts.
var stateTexts = map[string][2]string{
	livestream.StateIdle:  {"Offline", "The broadcast is offline."},
	livestream.StateEnded: {"Ended", "The broadcast has ended. Its calls stay on the record."},
	stateStarting:         {"Live, no picture yet", "No picture yet. The video appears here when it arrives."},
	livestream.StateLive:  {"Live", ""},
}

// recapOf returns the canonical id of a session of an operator that was on air and has ended. It returns "" for a session without
// a recap, whose address leads to the page of the operator: one that is open or was not on air. Errors: livestream.ErrNoShow,
// db_unavailable.
func (s *server) recapOf(ctx context.Context, handle protocol.Handle, showID string) (string, error) {
	id, ok := request.ParseUUID(showID)
	if !ok {
		return "", livestream.ErrNoShow
	}
	session, found, err := s.OnAir.Store.Find(ctx, handle, id)
	switch {
	case err == nil && !found:
		return "", livestream.ErrNoShow
	case err != nil || !session.Aired || session.At(s.Now()).Open():
		return "", err
	}
	return id, nil
}

// live handles GET /live/{handle}, the page of a live broadcast with its calls.
func (s *server) live(c echo.Context, account identityclaim.Account) error {
	handle, name := account.Handle, format.NameOf(account.DisplayName, string(account.Handle))
	read, g := &site.Part[broadcastState]{}, site.NewPartReader(c.Request().Context(), site.PartsTimeout)
	if s.OnAir != nil {
		read = site.ReadPart(g, "air", func(ctx context.Context) (broadcastState, error) { return s.readBroadcast(ctx, handle) })
	}
	unavailable := g.Wait()
	air, state := read.Value, read.Value.state()
	path := site.LivePath + string(handle)
	showID := c.QueryParam("show")
	if showID != "" && s.OnAir != nil && !unavailable["air"] {
		id, err := s.recapOf(c.Request().Context(), handle, showID)
		if err != nil {
			return err
		}
		if !air.Approved {
			return livestream.ErrNoShow
		}
		if showID = id; showID != "" {
			path = recapPath(handle, showID)
		}
	}
	addParts := func(*livePage) {}
	if s.OnAir != nil && !unavailable["air"] {
		g = site.NewPartReader(c.Request().Context(), site.PartsTimeout)
		addParts = s.readLiveParts(g, account, s.Viewer(c), &air, showID)
	}
	p := livePage{
		Layout: s.NewLayout(c, name+" · Broadcasts", "Broadcasts of "+name+" (@"+string(handle)+") on Signalcast.", path),
		Handle: string(handle), Heading: name, Avatar: site.AvatarOf(account.Operator),
		State: state, StateLabel: stateTexts[state][0], Text: stateTexts[state][1],
		Approved: air.Approved, Viewers: format.Grouped(air.Viewers),
		UpdatedAt: s.Now().UTC().Format("15:04:05 UTC"), IsRecap: showID != "",
	}
	if p.OnAir = state == livestream.StateLive; p.OnAir {
		p.Title, p.Description = name+" live · Signalcast", name+" (@"+string(handle)+") is live on Signalcast."
	}
	p.Unavailable = g.Wait()
	if addParts(&p); p.IsRecap && p.Offline != nil && p.Offline.Last != nil {
		last := p.Offline.Last
		p.Title = "Broadcast of " + name + ", " + last.EndedAt.UTC().Format("2 January 2006") + " · Signalcast"
		p.Description = format.CountOf(last.Count, "call") + ", " + last.Score + " points, " + last.Peak + "."
	}
	p.Wide, p.OGType, p.Nav = true, "video.other", "live"
	p.AddPreview(s.HubURL, "operator", p.Handle)
	if shown := cmp.Or(showID, air.Session.ID); air.Approved && shown != "" && (p.OnAir || p.IsRecap) {
		p.AddPreview(s.HubURL, "broadcast", p.Handle+"."+shown)
	}
	if p.OnAir {
		p.Stream, p.Started = air.Session.URL, protocol.Stamp(air.Session.StartedAt)
	}
	p.fillSignal(&air.Overlay)
	named := s.marketsOf(c.Request().Context(), append(view.List(p.calls, (*signalv1.Signal).GetMarketId), p.MarketID)...)
	m := named[p.MarketID]
	p.Calls = liveCallsOf(p.calls, named)
	p.YesName, p.NoName = view.SideName(m, string(protocol.Yes)), view.SideName(m, string(protocol.No))
	origins := s.videoOrigins(append(view.List(p.Clips, func(clip clipRow) string { return clip.URL }), p.Stream)...)
	p.Origins = strings.Join(origins, " ")
	c.Response().Header().Set("Content-Security-Policy", s.videoPolicy(origins))
	return s.RenderParts(c, g, http.StatusOK, "live", p)
}

func (p *livePage) fillSignal(o *livestream.Overlay) {
	p.Yes, p.No, p.MarketURL = "–", "–", site.MarketsPath
	if o.MarketID == "" {
		return
	}
	p.MarketID, p.MarketURL = string(o.MarketID), site.MarketPath+string(o.MarketID)
	p.Name = cmp.Or(o.Name, "Market "+p.MarketID)
	if o.Annotation != nil {
		p.Note = *o.Annotation
	}
	if o.YesPct != nil {
		yes := int(*o.YesPct*100 + 0.5)
		p.Yes, p.No = format.Cents(yes), format.Cents(10000-yes)
	}
}

// hostPattern matches hosts that need no escaping in a Content-Security-Policy.
var hostPattern = regexp.MustCompile(`^([a-z0-9]([a-z0-9.-]*[a-z0-9])?|\[[0-9a-f:]+\])(:[0-9]{1,5})?$`)

// videoOrigins returns the origins from which a page may load video: the configured video hosts and the hosts of the given stream
// URLs.
func (s *server) videoOrigins(streams ...string) []string {
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
		if origin := u.Scheme + "://" + host; hostPattern.MatchString(host) && !slices.Contains(out, origin) {
			out = append(out, origin)
		}
	}
	return out
}

// videoPolicy returns the Content-Security-Policy of a page that plays video from the given origins. It allows blob URLs, which
// the player creates.
func (s *server) videoPolicy(origins []string) string {
	from := ""
	if len(origins) > 0 {
		from = " " + strings.Join(origins, " ")
	}
	return site.Policy + "; script-src 'self'; media-src 'self' blob:" + from + "; connect-src 'self'" + s.socketSource() + from
}
