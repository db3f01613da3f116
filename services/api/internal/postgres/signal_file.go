package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/signalcast/signalcast/pkg/pg"
	"github.com/signalcast/signalcast/pkg/syntax"
	"github.com/signalcast/signalcast/pkg/teeth"
	"github.com/signalcast/signalcast/services/api/internal/signal"
)

// Rules are the settings that the filing statement applies.
type Rules struct {
	PriceToleranceBps    int
	PastEndIsProvisional bool
	ResolveChunk         int           // most signals that one claim transaction scores
	ReadBudget           time.Duration // how long a read waits for a database that hangs; pg.ReadBudget when zero
}

// File puts a call into the queue and waits for its verdict.
func (s *Store) File(ctx context.Context, caller signal.Caller, draft signal.Draft) (signal.Filing, error) {
	f := newFiling(signal.Call{Caller: caller, Draft: draft})
	if s.filings.add(f) == 0 {
		return signal.Filing{}, signal.ErrBusy
	}
	return f.wait(ctx)
}

// FileMany puts calls into the queue together and waits for all their verdicts.
func (s *Store) FileMany(ctx context.Context, calls []signal.Call) ([]signal.Filing, []error) {
	batch := make([]*filing, len(calls))
	for i, c := range calls {
		batch[i] = newFiling(c)
	}
	taken := s.filings.add(batch...)
	filings, errs := make([]signal.Filing, len(calls)), make([]error, len(calls))
	for i, f := range batch {
		if errs[i] = signal.ErrBusy; i < taken {
			filings[i], errs[i] = f.wait(ctx)
		}
	}
	return filings, errs
}

// fileBatch is the one statement of a filing; it answers every member.
func (s *Store) fileBatch(ctx context.Context, batch []*filing) error {
	now := s.now().UTC().Truncate(time.Millisecond)
	c := newFilingColumns(len(batch))
	var need parts
	for _, f := range batch {
		c.add(f)
		need |= f.needs()
	}
	rows, err := s.acts.Query(ctx, filingStatements[need], c.id, c.keyHash, c.user, c.market, c.title, c.yes, c.price,
		c.crowd, c.confidence, c.take, c.source, c.ttr, c.channel, c.media, c.reach, c.idemKey, c.bodyHash, c.lean,
		now, s.rules.PriceToleranceBps, s.rules.PastEndIsProvisional)
	if err != nil {
		return pg.Fault(fmt.Errorf("file signals: %w", err))
	}
	var (
		n       int
		verdict string
		first   *string
		actor   *string
		raced   []int
		filed   bool
	)
	_, err = pgx.ForEachRow(rows, []any{&n, &verdict, &first, &actor}, func() error {
		f := batch[n-1]
		f.answer = signal.Filing{Verdict: signal.Verdict(verdict)}
		filed = filed || f.answer.Verdict == signal.VerdictFiled
		if first != nil && !teeth.Bites("B3") {
			f.answer.FirstID = *first
		}
		if verdict == "raced" {
			raced = append(raced, n-1)
			f.caller.OperatorID = *actor
		}
		return nil
	})
	if err != nil {
		return pg.Fault(fmt.Errorf("file signals: %w", err))
	}
	if filed {
		s.bell.touch()
	}
	for _, i := range raced {
		if err := s.settleRaced(ctx, batch[i]); err != nil {
			return err
		}
	}
	return nil
}

// settleRaced answers a filing that lost to one that committed meanwhile.
func (s *Store) settleRaced(ctx context.Context, f *filing) error {
	var same bool
	err := s.acts.QueryRow(ctx, query("signal_file_raced"), string(f.draft.MarketID), f.caller.OperatorID,
		f.draft.ID, f.draft.IdempotencyKey, f.draft.BodyHash).Scan(&f.answer.FirstID, &same)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return fmt.Errorf("signal %s was refused but nothing stands in its place", f.draft.ID)
	case err != nil:
		return pg.Fault(fmt.Errorf("read first call: %w", err))
	case same:
		f.answer.Verdict = signal.VerdictReplay
	default:
		f.answer.Verdict = signal.VerdictDuplicate
	}
	return nil
}

// filingColumns are the arrays of the statement, one element a call.
type filingColumns struct {
	id, market, source                         []string
	keyHash, bodyHash                          [][]byte
	user, title, take, channel, media, idemKey []*string
	yes                                        []bool
	price                                      []int32
	crowd, ttr, reach, lean                    []*int32
	confidence                                 []*int16
}

func newFilingColumns(n int) *filingColumns {
	return &filingColumns{
		id: make([]string, 0, n), market: make([]string, 0, n), source: make([]string, 0, n),
		keyHash: make([][]byte, 0, n), bodyHash: make([][]byte, 0, n), user: make([]*string, 0, n),
		title: make([]*string, 0, n), take: make([]*string, 0, n), channel: make([]*string, 0, n),
		media: make([]*string, 0, n), idemKey: make([]*string, 0, n), yes: make([]bool, 0, n),
		price: make([]int32, 0, n), crowd: make([]*int32, 0, n), ttr: make([]*int32, 0, n),
		reach: make([]*int32, 0, n), lean: make([]*int32, 0, n), confidence: make([]*int16, 0, n),
	}
}

func (c *filingColumns) add(f *filing) {
	d := &f.draft
	c.id = append(c.id, d.ID)
	c.market = append(c.market, string(d.MarketID))
	c.source = append(c.source, d.Source)
	c.keyHash = append(c.keyHash, f.caller.KeyHash)
	c.bodyHash = append(c.bodyHash, d.BodyHash)
	c.title = append(c.title, d.MarketTitle)
	c.take = append(c.take, d.TextTake)
	c.channel = append(c.channel, d.ChannelID)
	c.media = append(c.media, d.MediaAssetID)
	c.idemKey = append(c.idemKey, d.IdempotencyKey)
	c.yes = append(c.yes, d.Side == syntax.Yes)
	c.price = append(c.price, int32(d.Price))
	c.crowd = append(c.crowd, narrow(d.CrowdYes))
	c.lean = append(c.lean, narrow(d.CrowdLean))
	c.ttr = append(c.ttr, narrow(d.TimeToResolution))
	var user *string
	if f.caller.KeyHash == nil && f.caller.OperatorID != "" {
		user = &f.caller.OperatorID
	}
	c.user = append(c.user, user)
	var reach *int32
	if d.Reach != nil {
		n := int32(min(max(*d.Reach, 0), signal.MaxReach))
		reach = &n
	}
	c.reach = append(c.reach, reach)
	var confidence *int16
	if d.Confidence != nil {
		n := int16(*d.Confidence)
		confidence = &n
	}
	c.confidence = append(c.confidence, confidence)
}

func narrow[T ~int](n *T) *int32 {
	if n == nil {
		return nil
	}
	v := int32(*n)
	return &v
}
