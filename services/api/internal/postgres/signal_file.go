package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/signalcast/signalcast/pkg/pg"
	"github.com/signalcast/signalcast/pkg/syntax"
	"github.com/signalcast/signalcast/services/api/internal/postgres/db"
	"github.com/signalcast/signalcast/services/api/internal/signal"
)

// Rules are the settings that the filing statement applies.
type Rules struct {
	PriceToleranceBps    int
	QuoteMaxAge          time.Duration // oldest quote that a call is compared with
	ConfirmAfter         time.Duration // from a call to its second quote; 0: second quotes are off
	RatedMinVolumeUSD    float64       // volume from which a venue's market is rated
	RatedCreators        []string      // whose markets on Manifold are rated; "*": everybody's
	PastEndIsProvisional bool
	ResolveChunk         int           // most signals that one claim transaction scores
	HubURL               string        // the base address of receipts
	ReadBudget           time.Duration // how long a read waits for a database that hangs; pg.ReadBudget when zero
}

// File puts a call into the queue and waits for its verdict.
func (s *Store) File(ctx context.Context, caller signal.Caller, draft signal.Draft) (signal.Filing, error) {
	f := newFiling(signal.Call{Caller: caller, Draft: draft})
	f.patient = true
	if s.filings.add(f) == 0 {
		return signal.Filing{}, signal.ErrBusy
	}
	return f.wait(ctx)
}

// FileMany puts calls into the queue together and waits for all their verdicts. A
// market that somebody holds is not waited for: such a call has the verdict unknown,
// as one on a market that is not there, and is to be filed by itself.
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

// fileQuick is the one statement of a filing. It waits for no market that somebody
// holds: calls on those, and on markets that it does not know, are handed on to the
// queue of their market and left unanswered here, when they are patient.
func (s *Store) fileQuick(ctx context.Context, batch []*filing) ([]*filing, error) {
	if err := s.file(ctx, batch, quick); err != nil {
		return batch, err
	}
	return s.queues.takeOver(batch, func(f *filing) bool { return f.patient && f.answer.Verdict == signal.VerdictUnknown }), nil
}

// filePatient is the same statement for calls on one market; it waits for the market.
func (s *Store) filePatient(ctx context.Context, batch []*filing) ([]*filing, error) {
	return batch, s.file(ctx, batch, 0)
}

// file writes a batch and sets the answer of every member.
func (s *Store) file(ctx context.Context, batch []*filing, need parts) error {
	if err := s.NoteTolerance(ctx); err != nil {
		return err
	}
	now := s.now().UTC().Truncate(time.Millisecond)
	r, err := s.runFiling(ctx, s.acts, batch, need, now)
	if err != nil {
		return err
	}
	if r.filed {
		s.bell.touch()
	}
	if len(r.used) > 0 {
		_ = s.aq.MarkKeysUsed(ctx, db.MarkKeysUsedParams{Hashes: r.used, Now: now}) // else the key's next call notes it
	}
	if err := settleRaced(ctx, s.acts, &r.lost); err != nil {
		return err
	}
	return s.readReplayed(ctx, s.acts, batch)
}

// filingRun is what a run of the filing statement did.
type filingRun struct {
	filed bool
	used  [][]byte // keys whose use is to be noted
	lost  raced
}

// runFiling runs the filing statement and sets the answer of every member but of those
// that lost to another one.
func (s *Store) runFiling(ctx context.Context, on asker, batch []*filing, need parts, now time.Time) (r filingRun, err error) {
	c := newFilingColumns(len(batch))
	for _, f := range batch {
		c.add(f)
		need |= f.needs()
	}
	rows, err := on.Query(ctx, filingStatements[need], c.id, c.keyHash, c.user, c.market, c.yes, c.price,
		c.crowd, c.confidence, c.take, c.source, c.ttr, c.channel, c.media, c.reach, c.idemKey, c.bodyHash, c.lean,
		c.venue, now, s.rules.PriceToleranceBps, s.rules.PastEndIsProvisional, c.slippage,
		now.Add(-s.rules.QuoteMaxAge), s.rules.RatedMinVolumeUSD, s.rules.RatedCreators)
	if err != nil {
		return r, filingFault(err)
	}
	var (
		n       int
		verdict string
		first   *string
		actor   *string
		idle    bool
		prices  signal.Prices
	)
	fields := append([]any{&n, &verdict, &first, &actor, &idle}, priceFields(&prices)...)
	_, err = pgx.ForEachRow(rows, append(fields, &prices.QuoteAt), func() error {
		f := batch[n-1]
		f.answer = signal.Filing{Verdict: signal.Verdict(verdict), Prices: prices}
		if actor != nil {
			f.answer.Actor = *actor
		}
		if first != nil {
			f.answer.FirstID = *first
		}
		switch f.answer.Verdict {
		case signal.VerdictFiled:
			r.filed = true
		case verdictRaced, signal.VerdictSettled, signal.VerdictProvisional, signal.VerdictAbsent,
			signal.VerdictMoved, signal.VerdictUnverified:
			r.lost.add(f, *actor)
		case signal.VerdictQuote, signal.VerdictStub:
			if f.patient { // else the call is filed alone, and read for there
				r.lost.add(f, *actor)
			}
		}
		if idle {
			r.used = append(r.used, f.caller.KeyHash)
		}
		return nil
	})
	if err != nil {
		return r, filingFault(err)
	}
	return r, nil
}

// refusedInsert is the SQLSTATE of the trigger that checks new calls.
const refusedInsert = "SC001"

// filingFault gives the fault of a filing statement that failed.
func filingFault(err error) error {
	var refused *pgconn.PgError
	if errors.As(err, &refused) && refused.Code == refusedInsert {
		return signal.ErrRefused.Wrap(err)
	}
	return pg.Fault(fmt.Errorf("file signals: %w", err))
}

// priceFields are the places of the columns that each statement lists for the prices of a call.
func priceFields(p *signal.Prices) []any {
	return []any{&p.Stated, &p.Basis, &p.Verified, &p.Rated, &p.MarketYes, &p.Yes, &p.No}
}

// readReplayed sets the stored prices of calls that are answered with their first result.
func (s *Store) readReplayed(ctx context.Context, on asker, batch []*filing) error {
	var ids []string
	for _, f := range batch {
		if f.answer.Verdict == signal.VerdictReplay && f.answer.FirstID != "" {
			ids = append(ids, f.answer.FirstID)
		}
	}
	if len(ids) == 0 {
		return nil
	}
	rows, err := on.Query(ctx, query("signal_file_replayed"), ids)
	if err != nil {
		return pg.Fault(fmt.Errorf("read the prices of first calls: %w", err))
	}
	var id string
	var prices signal.Prices
	stored := make(map[string]signal.Prices, len(ids))
	if _, err = pgx.ForEachRow(rows, append([]any{&id}, priceFields(&prices)...), func() error {
		stored[id] = prices
		return nil
	}); err != nil {
		return pg.Fault(fmt.Errorf("read the prices of first calls: %w", err))
	}
	for _, f := range batch {
		if f.answer.Verdict == signal.VerdictReplay {
			f.answer.Prices = stored[f.answer.FirstID]
		}
	}
	return nil
}

// verdictRaced is that of a filing that lost to one that committed meanwhile.
const verdictRaced signal.Verdict = "raced"

// raced are calls that are not filed, each of which may have an earlier call before it. The
// filing statement may have read before that call was committed.
type raced struct {
	list              []*filing
	market, actor, id []string
	key               []*string
	hash              [][]byte
}

func (r *raced) add(f *filing, actor string) {
	r.list = append(r.list, f)
	r.market, r.actor, r.id = append(r.market, string(f.draft.MarketID)), append(r.actor, actor), append(r.id, f.draft.ID)
	r.key, r.hash = append(r.key, f.draft.IdempotencyKey), append(r.hash, f.draft.BodyHash)
}

// settleRaced answers those that lost; a market's refusal stands where there is no
// earlier call.
func settleRaced(ctx context.Context, on asker, r *raced) error {
	if len(r.list) == 0 {
		return nil
	}
	rows, err := on.Query(ctx, query("signal_file_raced"), r.market, r.actor, r.id, r.key, r.hash)
	if err != nil {
		return pg.Fault(fmt.Errorf("read first calls: %w", err))
	}
	var (
		n     int
		first string
		same  bool
	)
	_, err = pgx.ForEachRow(rows, []any{&n, &first, &same}, func() error {
		f := r.list[n-1]
		f.answer = signal.Filing{Verdict: signal.VerdictDuplicate, FirstID: first, Actor: f.answer.Actor}
		if same {
			f.answer.Verdict = signal.VerdictReplay
		}
		return nil
	})
	if err != nil {
		return pg.Fault(fmt.Errorf("read first calls: %w", err))
	}
	for _, f := range r.list {
		if f.answer.Verdict == verdictRaced {
			return fmt.Errorf("signal %s was refused but nothing stands in its place", f.draft.ID)
		}
	}
	return nil
}

// filingColumns are the arrays of the statement, one element a call.
type filingColumns struct {
	id, market, source                  []string
	keyHash, bodyHash                   [][]byte
	user, take, channel, media, idemKey []*string
	yes                                 []bool
	price                               []int32
	crowd, ttr, reach, lean, slippage   []*int32
	confidence                          []*int16
	venue                               []int16
}

func newFilingColumns(n int) *filingColumns {
	return &filingColumns{
		id: make([]string, 0, n), market: make([]string, 0, n), source: make([]string, 0, n),
		keyHash: make([][]byte, 0, n), bodyHash: make([][]byte, 0, n), user: make([]*string, 0, n),
		take: make([]*string, 0, n), channel: make([]*string, 0, n),
		media: make([]*string, 0, n), idemKey: make([]*string, 0, n), yes: make([]bool, 0, n),
		price: make([]int32, 0, n), crowd: make([]*int32, 0, n), ttr: make([]*int32, 0, n),
		reach: make([]*int32, 0, n), lean: make([]*int32, 0, n), confidence: make([]*int16, 0, n),
		venue: make([]int16, 0, n), slippage: make([]*int32, 0, n),
	}
}

func (c *filingColumns) add(f *filing) {
	d := &f.draft
	c.id = append(c.id, d.ID)
	c.market = append(c.market, string(d.MarketID))
	c.source = append(c.source, d.Source)
	c.venue = append(c.venue, venueState(d))
	c.keyHash = append(c.keyHash, f.caller.KeyHash)
	c.bodyHash = append(c.bodyHash, d.BodyHash)
	c.take = append(c.take, d.TextTake)
	c.channel = append(c.channel, d.ChannelID)
	c.media = append(c.media, d.MediaAssetID)
	c.idemKey = append(c.idemKey, d.IdempotencyKey)
	c.yes = append(c.yes, d.Side == syntax.Yes)
	c.price = append(c.price, int32(d.Price))
	c.crowd = append(c.crowd, narrow(d.CrowdYes))
	c.lean = append(c.lean, narrow(d.CrowdLean))
	c.slippage = append(c.slippage, narrow(d.MaxSlippage))
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

// venueState returns $18 of the filing statement. A draft that allows an unverified call has the
// state of a dry run once its venue was asked: MaxSlippage then refuses a worse price, and not
// the lack of a quote. Before that it has VenueSilent, because a quote may still be read.
func venueState(d *signal.Draft) int16 {
	if d.AllowUnverified && d.Venue == signal.VenueAsked {
		return int16(signal.VenueSkipped)
	}
	return int16(d.Venue)
}

func narrow[T ~int](n *T) *int32 {
	if n == nil {
		return nil
	}
	v := int32(*n)
	return &v
}
