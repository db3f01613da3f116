package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/google/uuid"

	"github.com/signalcast/signalcast/pkg/config"
	"github.com/signalcast/signalcast/pkg/pg"
	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/services/api/internal/market"
	"github.com/signalcast/signalcast/services/api/internal/operator"
	"github.com/signalcast/signalcast/services/api/internal/postgres"
	"github.com/signalcast/signalcast/services/api/internal/resolution"
	"github.com/signalcast/signalcast/services/api/internal/signal"
)

// seedConfig is the configuration of the command "api seed". The command connects as the owner of the schema, because only the
// owner may store calls with a time in the past.
type seedConfig struct {
	Env     config.Env    `env:"ENV"`
	Admin   config.Secret `env:"MIGRATE_DATABASE_URL"`
	Mask    config.Secret `env:"MASK_SECRET"`
	Scoring scoringConfig
}

// Check implements config.Checker. It rejects ENV=production.
func (c *seedConfig) Check(r *config.Report) {
	if r.Env().Production() {
		r.Fail("ENV", "seed is for development and test installations")
	}
	r.DSN("MIGRATE_DATABASE_URL", c.Admin, "postgres", "postgresql")
	r.Secret("MASK_SECRET", c.Mask)
	c.Scoring.check(r)
}

// seedStep is one line of the input of the command "api seed". Exactly one of Operator, Market, Calls and Resolve is set.
type seedStep struct {
	At       time.Time
	Operator *seedOperator
	Market   *seedMarket
	Calls    []seedCall
	Resolve  *seedOutcome
}

// seedOperator is a step that signs in an operator. Later calls refer to the operator by Name.
type seedOperator struct {
	Issuer      string
	Name        string
	DisplayName string
	Type        protocol.OperatorType // empty: human
	House       bool
}

// seedMarket is a step with the data of an open market, in place of a response of its venue.
type seedMarket struct {
	ID        protocol.MarketID
	Title     string
	EndDate   time.Time
	YesBps    protocol.Bps // middle price of YES
	SpreadBps protocol.Bps // distance between the best bid and the best ask
	VolumeUSD float64
}

type seedCall struct {
	Operator   string
	MarketID   protocol.MarketID
	Direction  protocol.Side
	PriceBps   protocol.Bps
	Confidence *int
	Take       *string
}

type seedOutcome struct {
	MarketID protocol.MarketID
	Verdict  protocol.Verdict
}

// seeder executes the steps of the command "api seed". Its clock shows the time of the current step.
type seeder struct {
	now       time.Time
	operators *operator.Service
	markets   *market.Service
	signals   *signal.Service
	resolves  *resolution.Service
	ids       map[string]string // operator ids by seedOperator.Name
	records   map[protocol.MarketID]market.Record
	calls     int
}

// seed implements the command "api seed". It reads steps as JSON lines, ordered by time, from the reader in. It stores them
// with the services that store live data, so the same rules decide prices, scores and points. The relay of the running
// installation publishes the events later.
func seed(ctx context.Context, in io.Reader, stdout io.Writer) error {
	cfg, err := config.Load[seedConfig]()
	if err != nil {
		return err
	}
	pool, err := pg.Open(ctx, pg.Config{
		URL: cfg.Admin.Reveal(), MaxConns: 4, Params: map[string]string{"search_path": "api", "plan_cache_mode": "force_generic_plan"},
	})
	if err != nil {
		return err
	}
	defer pool.Close()
	s := &seeder{ids: map[string]string{}, records: map[protocol.MarketID]market.Record{}}
	now := func() time.Time { return s.now }
	store := postgres.New(pool, cfg.Scoring.rules(true, 100_000), now)
	defer store.Close()
	s.operators = operator.NewService(store, cfg.Mask.Reveal(), now)
	s.markets = market.NewService(store, market.Venues{}, classify(), true, now)
	s.signals = signal.NewService(store, s.markets, now)
	s.resolves = resolution.NewService(store, now)
	d := json.NewDecoder(in)
	d.DisallowUnknownFields()
	for n := 1; ; n++ {
		var step seedStep
		err := d.Decode(&step)
		if errors.Is(err, io.EOF) {
			break
		}
		if err == nil && step.At.Before(s.now) {
			err = errors.New("steps must be ordered by time")
		}
		if err == nil {
			s.now = step.At.UTC().Truncate(time.Millisecond)
			err = s.apply(ctx, step)
		}
		if err != nil {
			return fmt.Errorf("step %d: %w", n, err)
		}
	}
	_, err = fmt.Fprintf(stdout, "stored %d operators, %d markets, %d calls\n", len(s.ids), len(s.records), s.calls)
	return err
}

func (s *seeder) apply(ctx context.Context, step seedStep) error {
	switch {
	case step.Operator != nil:
		return s.signIn(ctx, *step.Operator)
	case step.Market != nil:
		return s.quote(ctx, *step.Market)
	case step.Calls != nil:
		return s.file(ctx, step.Calls)
	case step.Resolve != nil:
		return s.resolve(ctx, *step.Resolve)
	}
	return errors.New("a step must have one of operator, market, calls and resolve")
}

func (s *seeder) signIn(ctx context.Context, o seedOperator) error {
	op, _, err := s.operators.SignIn(ctx, operator.Identity{Issuer: o.Issuer, Subject: "did:seed:" + o.Name, Primary: true, Username: o.Name, Name: o.DisplayName})
	if err != nil {
		return err
	}
	s.ids[o.Name] = op.ID
	if o.Type == "" && !o.House {
		return nil
	}
	class := operator.Class{Handle: op.Handle, House: &o.House, Actor: "seed"}
	if o.Type != "" {
		class.Type = &o.Type
	}
	_, err = s.operators.Classify(ctx, class)
	return err
}

// quote stores the data of an open market as if its venue had returned it. The bid and the ask have the same distance to the
// middle price.
func (s *seeder) quote(ctx context.Context, m seedMarket) error {
	half := m.SpreadBps / 2
	r := market.Record{
		ID: m.ID, Title: m.Title, EndDate: &m.EndDate, Status: protocol.MarketOpen, Yes: &m.YesBps,
		Volume: &m.VolumeUSD, VolumeUSD: &m.VolumeUSD, VolumeUnit: "usd", FetchedAt: s.now,
		Quote: &market.Quote{Yes: m.YesBps + half, No: protocol.MaxBps - m.YesBps + half, At: s.now, Rule: "seed"},
	}
	s.records[m.ID] = r
	_, err := s.markets.Apply(ctx, []market.Record{r}, true)
	return err
}

func (s *seeder) file(ctx context.Context, list []seedCall) error {
	calls := make([]signal.Call, len(list))
	for i, c := range list {
		id, ok := s.ids[c.Operator]
		if !ok {
			return fmt.Errorf("operator %q is unknown; add a step that signs it in first", c.Operator)
		}
		calls[i] = signal.Call{Caller: signal.Caller{OperatorID: id}, Draft: signal.Draft{
			ID: s.newID(), MarketID: c.MarketID, Side: c.Direction, Price: c.PriceBps, Confidence: c.Confidence, TextTake: c.Take, Source: "api",
		}}
	}
	for i, a := range s.signals.FileMany(ctx, calls) {
		switch {
		case a.Err != nil:
			return fmt.Errorf("call of %s on %s: %w", list[i].Operator, list[i].MarketID, a.Err)
		case a.Alone:
			return fmt.Errorf("call of %s on %s: the market has no quote at the time of the step", list[i].Operator, list[i].MarketID)
		}
		s.calls++
	}
	return nil
}

// newID returns a UUIDv7 with the time of the current step.
func (s *seeder) newID() string {
	id := uuid.Must(uuid.NewV7())
	ms := uint64(s.now.UnixMilli())
	for i := range 6 {
		id[i] = byte(ms >> (8 * (5 - i)))
	}
	return id.String()
}

// resolve stores the final outcome of a market as if its venue had returned it, and resolves the market. If no earlier step
// has added the market, it returns an error.
func (s *seeder) resolve(ctx context.Context, o seedOutcome) error {
	r, ok := s.records[o.MarketID]
	if !ok {
		return fmt.Errorf("market %s is unknown; add a step with the market first", o.MarketID)
	}
	r.Status, r.Provisional, r.Verdict, r.Quote, r.ClosedAt, r.FetchedAt = protocol.MarketResolved, true, &o.Verdict, nil, &s.now, s.now
	if _, err := s.markets.Apply(ctx, []market.Record{r}, false); err != nil {
		return err
	}
	_, err := s.resolves.Claim(ctx, resolution.Claim{
		MarketID: string(o.MarketID), Verdict: o.Verdict, Resolver: "oracle", Source: string(o.MarketID.Provider()),
	})
	return err
}
