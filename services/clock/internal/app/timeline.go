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

// maxMinutes is the maximum length of a printed timeline: one week.
const maxMinutes = 7 * 24 * 60

// timelineConfig contains the settings of the command `timeline`. Printing a stored channel requires the database. Printing a
// computed channel requires the ledger.
type timelineConfig struct {
	Env      config.Env    `env:"ENV"`
	Database config.Secret `env:"DATABASE_URL"`
	service.Reads
	Ledger string         `env:"API_ADDR"`
	Link   config.Secret  `env:"LINK_SECRET"`
	Lanes  []program.Lane `env:"PROGRAM_LANES"`
}

// timelineRequest contains the parsed arguments of the command `timeline`.
type timelineRequest struct {
	at       time.Time
	length   time.Duration
	preset   program.Preset
	spec     program.Spec
	computed bool
	station  string         // id of the station whose stored channel is printed; empty: the default channel
	lanes    []program.Lane // empty: all lanes
}

// timeline prints the segments of a channel in a period, one per line. It does not read the system clock and prints neither
// prices nor counts. The same data therefore always gives the same output.
func timeline(ctx context.Context, args []string, stdout io.Writer) error {
	r, err := parseTimeline(args)
	if err != nil {
		return err
	}
	cfg, err := config.Load[timelineConfig]()
	if err != nil {
		return err
	}
	var segments []program.Segment
	if r.computed {
		segments, err = computedSegments(ctx, &cfg, r)
	} else {
		segments, err = storedSegments(ctx, &cfg, r)
	}
	if err != nil {
		return err
	}
	for i := range segments {
		s := &segments[i]
		if len(r.lanes) > 0 && !slices.Contains(r.lanes, s.Lane) {
			continue
		}
		if _, err := fmt.Fprintf(stdout, "%s\t%s\t%s\t%s\t%s\n",
			protocol.Stamp(s.StartsAt), protocol.Stamp(s.EndsAt), s.ID, s.Market, s.Title); err != nil {
			return err
		}
	}
	return nil
}

func parseTimeline(args []string) (timelineRequest, error) {
	flags := flag.NewFlagSet("timeline", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	at := flags.String("at", "", "")
	minutes := flags.Int("minutes", 60, "")
	preset := flags.String("preset", "", "")
	spec := flags.String("spec", "", "")
	lane := flags.String("lane", "", "")
	station := flags.String("station", "", "")
	if err := flags.Parse(args); err != nil {
		return timelineRequest{}, fmt.Errorf("%w: timeline: %v", service.ErrUsage, err)
	}
	if flags.NArg() > 0 {
		return timelineRequest{}, fmt.Errorf("%w: timeline: unexpected argument %q", service.ErrUsage, flags.Arg(0))
	}
	t, ok := protocol.ParseStamp(*at)
	if !ok || *minutes < 1 || *minutes > maxMinutes {
		return timelineRequest{}, fmt.Errorf("%w: timeline: --at must be an RFC 3339 time and --minutes from 1 to %d",
			service.ErrUsage, maxMinutes)
	}
	s, err := program.ParseSpec(*spec)
	if err != nil {
		return timelineRequest{}, fmt.Errorf("%w: timeline: %v", service.ErrUsage, err)
	}
	p := program.ParsePreset(*preset)
	if *station != "" && (*spec != "" || p != program.Default) {
		return timelineRequest{}, fmt.Errorf("%w: timeline: --station cannot be combined with --preset or --spec", service.ErrUsage)
	}
	return timelineRequest{
		at: t, length: time.Duration(*minutes) * time.Minute, preset: p, spec: s,
		computed: p != program.Default || *spec != "", lanes: program.ParseLanes(*lane), station: *station,
	}, nil
}

// storedSegments returns the segments of a stored channel in the requested period. It reads them from the database.
func storedSegments(ctx context.Context, cfg *timelineConfig, r timelineRequest) ([]program.Segment, error) {
	pool, err := pg.Open(ctx, pg.Config{URL: cfg.Database.Reveal(), MaxConns: 2})
	if err != nil {
		return nil, err
	}
	defer pool.Close()
	if err := pool.Ping(ctx); err != nil { // connect first, because a connection can take longer than the timeout of a read
		return nil, pg.Fault(err)
	}
	channel := program.DefaultChannel
	if r.station != "" {
		channel = program.StationChannel(r.station)
	}
	entries, err := postgres.New(pool, cfg.ReadTime).ListSlots(ctx, channel, program.SlotAt(r.at), program.SlotAt(r.at.Add(r.length)))
	if err != nil {
		return nil, err
	}
	return program.StoredSegments(channel, entries, r.at, r.length), nil
}

// computedSegments returns the segments of a computed channel in the requested period. It computes them from the current markets
// of the ledger.
func computedSegments(ctx context.Context, cfg *timelineConfig, r timelineRequest) ([]program.Segment, error) {
	conn, err := grpcx.Dial(grpcx.DialConfig{Addr: cfg.Ledger, Secret: cfg.Link.Reveal()})
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	var copies program.Copies
	markets := upstream.New(marketv1.NewMarketReadServiceClient(conn), &copies, func() []protocol.MarketID { return nil },
		slog.New(slog.DiscardHandler), func() time.Time { return r.at })
	if err := markets.Refresh(ctx); err != nil {
		return nil, err
	}
	lanes := (&Config{Lanes: cfg.Lanes}).lanes()
	q := program.NewQuery(r.preset, r.spec, nil, lanes)
	return program.ComputedSegments(&q, copies.Markets.Load(), r.at, r.length), nil
}
