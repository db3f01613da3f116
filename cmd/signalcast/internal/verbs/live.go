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

// Live are `signalcast live …`.
type Live struct {
	Set   liveSet   `cmd:"" help:"Set the market that is shown over your picture."`
	Clear liveClear `cmd:"" help:"Show none."`
	On    liveOn    `cmd:"" help:"Stay live until Ctrl-C, which ends it."`
	Off   liveOff   `cmd:"" help:"End your session."`
	Me    liveMe    `cmd:"" help:"How you stand."`
}

type liveSet struct {
	settings.Flags
	Market     string   `arg:"" help:"The market's id."`
	Name       string   `help:"What is shown; without it the market's question."`
	Yes        *float32 `help:"Price of YES in cents, 0 to 100. Without it none is shown." placeholder:"CENTS"`
	Annotation string   `help:"A line below, up to 180 characters."`
}

// Run sets.
func (l *liveSet) Run(ctx context.Context, s *Streams) error {
	if l.Yes != nil && (*l.Yes < 0 || *l.Yes > 100) {
		return errors.New("--yes is 0 to 100")
	}
	at, err := writing(&l.Flags, s)
	if err != nil {
		return err
	}
	if l.Name == "" {
		if l.Name, err = l.question(ctx, s); err != nil {
			return err
		}
	}
	a, err := at.SetOverlaySignal(ctx, client.OverlayWrite{MarketID: l.Market, Name: l.Name, YesPct: l.Yes, Annotation: given(l.Annotation)})
	return finish(at, a, err, func(o *client.OverlaySet) error {
		return show.Pairs(at.out, "Shown", o.Signal.Name, "Market", o.Signal.MarketID, "Page", at.at+"/overlay/"+o.Signal.StreamerID)
	})
}

func (l *liveSet) question(ctx context.Context, s *Streams) (string, error) {
	hub, err := reading(&l.Flags, s)
	if err != nil {
		return "", err
	}
	m, err := decoded[client.Market](hub.GetMarket(ctx, l.Market))
	return show.Short(m.Question, 200), known(err, "Find the id with `signalcast market search`")
}

type liveClear struct{ keyed }

// Run clears.
func (l *liveClear) Run(ctx context.Context, at *session) error {
	a, err := at.ClearOverlaySignal(ctx)
	return finish(at, a, err, func(*client.OverlayCleared) error { return show.Pairs(at.out, "Shown", "nothing") })
}

type liveOn struct {
	settings.Flags
	Market string `help:"The market that you speak of."`
	Count  int    `help:"End after this many heartbeats; the session stays live for 45 seconds at most. Without it until Ctrl-C." placeholder:"N"`
}

// farewell is the time limit of the last request after Ctrl-C.
const farewell = 5 * time.Second

// Run beats, as often as the hub says. Ctrl-C is no error.
func (l *liveOn) Run(ctx context.Context, s *Streams) error {
	if l.Count < 0 {
		return errCount
	}
	at, err := writing(&l.Flags, s)
	if err != nil {
		return err
	}
	wait := s.Wait
	if wait == nil {
		wait = dbtime.Sleep
	}
	for n := 1; ; n++ {
		every, err := l.beat(ctx, at)
		if ctx.Err() == nil && (err != nil || n == l.Count) {
			return err
		}
		if ctx.Err() != nil || wait(ctx, every) != nil {
			last, cancel := context.WithTimeout(context.WithoutCancel(ctx), farewell)
			defer cancel()
			return at.offline(last)
		}
	}
}

// beat sends one heartbeat and gives the time to the next one.
func (l *liveOn) beat(ctx context.Context, at *session) (time.Duration, error) {
	a, err := at.SendHeartbeat(ctx, client.HeartbeatSend{MarketID: given(l.Market)})
	var next struct{ IntervalS int }
	err = finish(at, a, err, func(h *client.Heartbeat) error {
		return show.Pairs(at.out, "Live", showOf(h.ShowID), "Watching", strconv.Itoa(h.Viewers))
	}, &next)
	return time.Duration(min(max(next.IntervalS, 1), 45)) * time.Second, err
}

func showOf[T interface{ String() string }](id *T) string {
	if id == nil {
		return "no session"
	}
	return "session " + (*id).String()
}

func (s *session) offline(ctx context.Context) error {
	state := client.HeartbeatSendState("offline")
	a, err := s.SendHeartbeat(ctx, client.HeartbeatSend{State: &state})
	return finish(s, a, err, func(*client.Heartbeat) error { return show.Pairs(s.out, "Live", "no more") })
}

type liveOff struct{ keyed }

// Run ends the session.
func (l *liveOff) Run(ctx context.Context, at *session) error {
	return at.offline(ctx)
}

type liveMe struct{ keyed }

// Run shows the state of the session.
func (l *liveMe) Run(ctx context.Context, at *session) error {
	a, err := at.GetOwnStreamer(ctx)
	return finish(at, a, err, func(m *client.OwnStreamer) error {
		live := "no"
		if m.Live {
			live = showOf(m.ShowID)
		}
		return show.Pairs(at.out, "Handle", m.Handle, "Status", string(m.Status), "Live", live, "Followers", strconv.Itoa(m.Followers))
	})
}
