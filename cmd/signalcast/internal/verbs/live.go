package verbs

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/signalcast/signalcast/cmd/signalcast/internal/settings"
	"github.com/signalcast/signalcast/cmd/signalcast/internal/show"
	"github.com/signalcast/signalcast/pkg/dbtime"
	"github.com/signalcast/signalcast/sdk/go/client"
)

// Live groups the commands of `signalcast live`, which control the session and the overlay of a live operator.
type Live struct {
	Set   liveSet   `cmd:"" help:"Show a market on your overlay."`
	Clear liveClear `cmd:"" help:"Clear your overlay."`
	On    liveOn    `cmd:"" help:"Go live and send heartbeats until Ctrl-C, which ends the session."`
	Off   liveOff   `cmd:"" help:"End your session."`
	Me    liveMe    `cmd:"" help:"Show the state of your session."`
}

type liveSet struct {
	settings.Flags
	Market     string   `arg:"" help:"Id of the market."`
	Name       string   `help:"Title on the overlay. Default: the question of the market."`
	Yes        *float32 `help:"Price of YES in cents, 0 to 100. Default: no price." placeholder:"CENTS"`
	Annotation string   `help:"Line below the title, up to 180 characters."`
}

// Run shows the market on the overlay of the caller.
func (l *liveSet) Run(ctx context.Context, s *Streams) error {
	if l.Yes != nil && (*l.Yes < 0 || *l.Yes > 100) {
		return errors.New("--yes must be 0 to 100")
	}
	at, err := openWithKey(&l.Flags, s)
	if err != nil {
		return err
	}
	if l.Name == "" {
		if l.Name, err = l.question(ctx, s); err != nil {
			return err
		}
	}
	a, err := at.SetOverlaySignal(ctx, client.OverlayWrite{
		MarketID: l.Market, Name: l.Name, YesPct: l.Yes, Annotation: optional(l.Annotation),
	})
	return showResponse(at, a, err, func(o *client.OverlaySet) error {
		return show.Pairs(at.out, "Shown", o.Signal.Name, "Market", o.Signal.MarketID, "Page", at.at+"/overlay/"+o.Signal.StreamerID)
	})
}

// question returns the question of the market, shortened to 200 characters.
func (l *liveSet) question(ctx context.Context, s *Streams) (string, error) {
	hub, err := openPublic(&l.Flags, s)
	if err != nil {
		return "", err
	}
	m, err := decoded[client.Market](hub.GetMarket(ctx, l.Market))
	return show.Short(m.Question, 200), adviseNotFound(err, findMarketID)
}

type liveClear struct{ keyed }

// Run removes the market from the overlay of the caller.
func (l *liveClear) Run(ctx context.Context, at *session) error {
	a, err := at.ClearOverlaySignal(ctx)
	return showResponse(at, a, err, func(*client.OverlayCleared) error { return show.Pairs(at.out, "Shown", "nothing") })
}

type liveOn struct {
	settings.Flags
	Market string `help:"Id of the market that the session is about."`
	Count  *int   `help:"Number of heartbeats; the session then stays live for at most 45 seconds. Default: until Ctrl-C." bounds:"of at least 1" placeholder:"N"`
}

// offlineTimeout is the time limit of the request that ends the session after Ctrl-C.
const offlineTimeout = 5 * time.Second

// Run sends heartbeats at the interval that the hub requests. After Ctrl-C it ends the live session and returns the error of
// that request. If Count is set, it returns after Count heartbeats without ending the session.
func (l *liveOn) Run(ctx context.Context, s *Streams) error {
	if err := checkCount(l.Count); err != nil {
		return err
	}
	at, err := openWithKey(&l.Flags, s)
	if err != nil {
		return err
	}
	wait := s.Wait
	if wait == nil {
		wait = dbtime.Sleep
	}
	for n := 1; ; n++ {
		every, err := l.sendHeartbeat(ctx, at)
		if ctx.Err() == nil && (err != nil || l.Count != nil && n == *l.Count) {
			return err
		}
		if ctx.Err() != nil || wait(ctx, every) != nil {
			last, cancel := context.WithTimeout(context.WithoutCancel(ctx), offlineTimeout)
			defer cancel()
			return at.offline(last)
		}
	}
}

// sendHeartbeat sends one heartbeat, shows the response, and returns the time until the next heartbeat, which is 1 to 45 seconds.
func (l *liveOn) sendHeartbeat(ctx context.Context, at *session) (time.Duration, error) {
	a, err := at.SendHeartbeat(ctx, client.HeartbeatSend{MarketID: optional(l.Market)})
	var next struct{ IntervalS int }
	err = showResponse(at, a, err, func(h *client.Heartbeat) error {
		return show.Pairs(at.out, "Live", sessionText(h.ShowID), "Watching", strconv.Itoa(h.Viewers))
	}, &next)
	return time.Duration(min(max(next.IntervalS, 1), 45)) * time.Second, err
}

// sessionText returns the text for the id of a live session, or "no session" for nil.
func sessionText[T interface{ String() string }](id *T) string {
	if id == nil {
		return "no session"
	}
	return "session " + (*id).String()
}

// offline ends the live session of the caller.
func (s *session) offline(ctx context.Context) error {
	state := client.HeartbeatSendState("offline")
	a, err := s.SendHeartbeat(ctx, client.HeartbeatSend{State: &state})
	return showResponse(s, a, err, func(*client.Heartbeat) error { return show.Pairs(s.out, "Live", "no") })
}

type liveOff struct{ keyed }

// Run ends the live session of the caller.
func (l *liveOff) Run(ctx context.Context, at *session) error {
	return at.offline(ctx)
}

type liveMe struct{ keyed }

// Run shows whether the caller is live, with the status and the number of followers.
func (l *liveMe) Run(ctx context.Context, at *session) error {
	a, err := at.GetOwnStreamer(ctx)
	return showResponse(at, a, err, func(m *client.OwnStreamer) error {
		live := "no"
		if m.Live {
			live = sessionText(m.ShowID)
		}
		return show.Pairs(at.out, "Handle", m.Handle, "Status", string(m.Status), "Live", live,
			"Followers", strconv.Itoa(m.Followers))
	})
}
