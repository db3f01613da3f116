package app

import (
	"context"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"time"

	"github.com/signalcast/signalcast/pkg/config"
	"github.com/signalcast/signalcast/pkg/grpcx"
	"github.com/signalcast/signalcast/pkg/pg"
	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/pkg/service"
	marketv1 "github.com/signalcast/signalcast/proto/market/v1"
	"github.com/signalcast/signalcast/services/clock/internal/postgres"
	"github.com/signalcast/signalcast/services/clock/internal/program"
	"github.com/signalcast/signalcast/services/clock/internal/upstream"
)

// maxMinutes of a printed stretch: a week.
const maxMinutes = 7 * 24 * 60

// timelineConfig is what the command `timeline` needs: the database for the
// stored channel, the ledger for a computed one.
type timelineConfig struct {
	Env      config.Env    `env:"ENV"`
	Database config.Secret `env:"DATABASE_URL"`
	service.Reads
	Ledger string         `env:"API_ADDR"`
	Link   config.Secret  `env:"LINK_SECRET"`
	Lanes  []program.Lane `env:"PROGRAM_LANES"`
}

type stretch struct {
	at       time.Time
	length   time.Duration
	preset   program.Preset
	spec     program.Spec
	computed bool
	station  string         // whose stored channel; empty: the default one
	lanes    []program.Lane // empty: every one
}

// timeline prints a stretch of a channel, one segment a line. It reads no
// clock, and no price or count is printed: the same facts give the same bytes.
func timeline(ctx context.Context, args []string, stdout io.Writer) error {
	st, err := parseStretch(args)
	if err != nil {
		return err
	}
	cfg, err := config.Load[timelineConfig]()
	if err != nil {
		return err
	}
	var segments []program.Segment
	if st.computed {
		segments, err = computed(ctx, &cfg, st)
	} else {
		segments, err = stored(ctx, &cfg, st)
	}
	if err != nil {
		return err
	}
	for i := range segments {
		s := &segments[i]
		if len(st.lanes) > 0 && !slices.Contains(st.lanes, s.Lane) {
			continue
		}
		if _, err := fmt.Fprintf(stdout, "%s\t%s\t%s\t%s\t%s\n",
			protocol.Stamp(s.StartsAt), protocol.Stamp(s.EndsAt), s.ID, s.Market, s.Title); err != nil {
			return err
		}
	}
	return nil
}

func parseStretch(args []string) (stretch, error) {
	flags := flag.NewFlagSet("timeline", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	at := flags.String("at", "", "")
	minutes := flags.Int("minutes", 60, "")
	preset := flags.String("preset", "", "")
	spec := flags.String("spec", "", "")
	lane := flags.String("lane", "", "")
	station := flags.String("station", "", "")
	if err := flags.Parse(args); err != nil || flags.NArg() > 0 {
		return stretch{}, fmt.Errorf("%w: timeline: %v", service.ErrUsage, err)
	}
	t, ok := protocol.ParseStamp(*at)
	if !ok || *minutes < 1 || *minutes > maxMinutes {
		return stretch{}, fmt.Errorf("%w: timeline: --at must be RFC 3339, --minutes from 1 to %d", service.ErrUsage, maxMinutes)
	}
	s, err := program.ParseSpec(*spec)
	if err != nil {
		return stretch{}, fmt.Errorf("%w: timeline: %v", service.ErrUsage, err)
	}
	p := program.ParsePreset(*preset)
	if *station != "" && (*spec != "" || p != program.Default) {
		return stretch{}, fmt.Errorf("%w: timeline: --station has neither --preset nor --spec", service.ErrUsage)
	}
	return stretch{
		at: t, length: time.Duration(*minutes) * time.Minute, preset: p, spec: s,
		computed: p != program.Default || *spec != "", lanes: program.ParseLanes(*lane), station: *station,
	}, nil
}

func stored(ctx context.Context, cfg *timelineConfig, st stretch) ([]program.Segment, error) {
	pool, err := pg.Open(ctx, pg.Config{URL: cfg.Database.Reveal(), MaxConns: 2})
	if err != nil {
		return nil, err
	}
	defer pool.Close()
	if err := pool.Ping(ctx); err != nil { // connecting may take longer than a read may
		return nil, pg.Fault(err)
	}
	channel := program.DefaultChannel
	if st.station != "" {
		channel = program.StationChannel(st.station)
	}
	entries, err := postgres.New(pool, cfg.ReadTime).ListSlots(ctx, channel, program.SlotAt(st.at), program.SlotAt(st.at.Add(st.length)))
	if err != nil {
		return nil, err
	}
	return program.StoredStretch(channel, entries, st.at, st.length), nil
}

func computed(ctx context.Context, cfg *timelineConfig, st stretch) ([]program.Segment, error) {
	conn, err := grpcx.Dial(grpcx.DialConfig{Addr: cfg.Ledger, Secret: cfg.Link.Reveal()})
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	var copies program.Copies
	markets := upstream.New(marketv1.NewMarketReadServiceClient(conn), &copies, func() []protocol.MarketID { return nil },
		slog.New(slog.DiscardHandler), func() time.Time { return st.at })
	if err := markets.Refresh(ctx); err != nil {
		return nil, err
	}
	lanes := (&Config{Lanes: cfg.Lanes}).lanes()
	q := program.NewQuery(st.preset, st.spec, nil, lanes)
	return program.ComputedStretch(&q, copies.Markets.Load(), st.at, st.length), nil
}
