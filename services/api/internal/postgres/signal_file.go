package postgres

import (
	"context"
	_ "embed" // for the statements in hot
	"errors"
	"fmt"
	"slices"
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
	if s.filings.Add(f) == 0 {
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
	taken := s.filings.Add(batch...)
	filings, errs := make([]signal.Filing, len(calls)), make([]error, len(calls))
	for i, f := range batch {
		if errs[i] = signal.ErrBusy; i < taken {
			filings[i], errs[i] = f.wait(ctx)
		}
	}
	return filings, errs
}

// fileQuick waits for no locked market: calls on those, and on markets that do not exist, are
// passed on to the queue of their market and left unanswered here, when they are patient.
func (s *Store) fileQuick(ctx context.Context, batch []*filing) ([]*filing, error) {
	err := s.file(ctx, batch, func(now time.Time) (filingRun, error) { return s.runFiling(ctx, s.acts, batch, now) })
	if err != nil {
		return batch, err
	}
	return slices.DeleteFunc(slices.Clone(batch), s.handOver), nil
}

// filePatient waits for the markets of the calls.
func (s *Store) filePatient(ctx context.Context, batch []*filing) ([]*filing, error) {
	return batch, s.file(ctx, batch, func(now time.Time) (r filingRun, err error) {
		err = pg.InTx(ctx, s.acts, func(tx pgx.Tx) error {
			if err := lockMarkets(ctx, tx, batch); err != nil {
				return err
			}
			r, err = s.runFiling(ctx, tx, batch, now)
			return err
		})
		return r, err
	})
}

func lockMarkets(ctx context.Context, tx pgx.Tx, batch []*filing) error {
	ids := make([]string, len(batch))
	for i, f := range batch {
		ids[i] = string(f.draft.MarketID)
	}
	return wrap("lock markets for calls", db.New(tx).LockMarketsForCalls(ctx, ids))
}

// file writes a batch with run and sets the answer of every member.
func (s *Store) file(ctx context.Context, batch []*filing, run func(now time.Time) (filingRun, error)) error {
	if err := s.NoteTolerance(ctx); err != nil {
		return err
	}
	now := s.now().UTC().Truncate(time.Millisecond)
	r, err := run(now)
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

// The forms of the filing statement. Each table that a form has costs every batch, whether a call needs it or not.
var (
	//go:embed hot/file_signals.sql
	fileSignals string
	//go:embed hot/file_signals_with_key.sql
	fileSignalsWithKey string
	//go:embed hot/file_signals_full.sql
	fileSignalsFull string
)

// filingStatement returns the form with the fewest parts that a batch needs.
func filingStatement(batch []*filing) string {
	text := fileSignals
	for _, f := range batch {
		d := &f.draft
		// A market that no venue may have confirmed has the verdict stub while the venue was not asked.
		if d.CrowdLean != nil || d.MarketID.IsNative() || d.Venue != signal.VenueSilent {
			text = fileSignalsFull
			break
		}
		if d.IdempotencyKey != nil {
			text = fileSignalsWithKey
		}
	}
	return text
}

// fileSignalsRow is a row of the filing statement.
type fileSignalsRow struct {
	n       int // place in the batch, from 1
	verdict string
	first   *string
	actor   *string
	idle    bool
	prices  signal.Prices
}

func (r *fileSignalsRow) fields() []any {
	p := &r.prices
	return []any{
		&r.n, &r.verdict, &r.first, &r.actor, &r.idle,
		&p.Stated, &p.Basis, &p.Verified, &p.Rated, &p.MarketYes, &p.Yes, &p.No, &p.QuoteAt,
	}
}

// runFiling runs the filing statement and sets the answer of every member but of those
// that lost to another one.
func (s *Store) runFiling(ctx context.Context, on db.DBTX, batch []*filing, now time.Time) (r filingRun, err error) {
	p := newFileSignalsParams(len(batch), now, &s.rules)
	for _, f := range batch {
		p.add(f)
	}
	rows, err := on.Query(ctx, filingStatement(batch), p.args()...)
	if err != nil {
		return r, filingFault(err)
	}
	var row fileSignalsRow
	_, err = pgx.ForEachRow(rows, row.fields(), func() error {
		f := batch[row.n-1]
		f.answer = signal.Filing{
			Verdict: signal.Verdict(row.verdict), FirstID: pg.Value(row.first), Actor: pg.Value(row.actor), Prices: row.prices,
		}
		switch f.answer.Verdict {
		case signal.VerdictFiled:
			r.filed = true
		case verdictRaced, signal.VerdictSettled, signal.VerdictProvisional, signal.VerdictAbsent,
			signal.VerdictMoved, signal.VerdictUnverified:
			r.lost.add(f)
		case signal.VerdictQuote, signal.VerdictStub:
			if f.patient { // else the call is filed alone, and read for there
				r.lost.add(f)
			}
		}
		if row.idle {
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

// readReplayed sets the stored prices of calls that are answered with their first result.
func (s *Store) readReplayed(ctx context.Context, on db.DBTX, batch []*filing) error {
	var ids []string
	for _, f := range batch {
		if f.answer.Verdict == signal.VerdictReplay && f.answer.FirstID != "" {
			ids = append(ids, f.answer.FirstID)
		}
	}
	if len(ids) == 0 {
		return nil
	}
	rows, err := db.New(on).ListStoredPrices(ctx, ids)
	if err != nil {
		return pg.Fault(fmt.Errorf("read the prices of first calls: %w", err))
	}
	stored := make(map[string]signal.Prices, len(rows))
	for _, r := range rows {
		stored[r.ID] = signal.Prices{
			Stated: syntax.Bps(r.PriceBps), Basis: syntax.Bps(r.ScoreBasisBps), Verified: r.PriceVerified, Rated: r.Rated,
			MarketYes: convertInt[syntax.Bps](r.MarketYesBps), Yes: convertInt[syntax.Bps](r.YesPriceBps), No: convertInt[syntax.Bps](r.NoPriceBps),
		}
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
	list []*filing
	find db.FindFirstSignalsParams
}

func (r *raced) add(f *filing) {
	r.list = append(r.list, f)
	p := &r.find
	p.MarketIDs, p.UserIDs, p.IDs = append(p.MarketIDs, string(f.draft.MarketID)), append(p.UserIDs, f.answer.Actor), append(p.IDs, f.draft.ID)
	p.IdemKeys, p.BodyHashes = append(p.IdemKeys, f.draft.IdempotencyKey), append(p.BodyHashes, f.draft.BodyHash)
}

// settleRaced answers the calls that have an earlier call; the others keep the market's refusal.
func settleRaced(ctx context.Context, on db.DBTX, r *raced) error {
	if len(r.list) == 0 {
		return nil
	}
	rows, err := db.New(on).FindFirstSignals(ctx, r.find)
	if err != nil {
		return pg.Fault(fmt.Errorf("read first calls: %w", err))
	}
	for _, row := range rows {
		f := r.list[row.N-1]
		f.answer = signal.Filing{Verdict: signal.VerdictDuplicate, FirstID: row.ID, Actor: f.answer.Actor}
		if row.Same {
			f.answer.Verdict = signal.VerdictReplay
		}
	}
	for _, f := range r.list {
		if f.answer.Verdict == verdictRaced {
			return fmt.Errorf("signal %s was refused but has no earlier call", f.draft.ID)
		}
	}
	return nil
}

// fileSignalsParams are the parameters of the filing statement: arrays with one element for each call, and the settings.
type fileSignalsParams struct {
	id, market, source                  []string
	keyHash, bodyHash                   [][]byte
	user, take, channel, media, idemKey []*string
	yes                                 []bool
	price                               []int32
	crowd, ttr, reach, lean, slippage   []*int32
	confidence                          []*int16
	venue                               []int16
	now                                 time.Time
	rules                               *Rules
}

func newFileSignalsParams(n int, now time.Time, rules *Rules) *fileSignalsParams {
	return &fileSignalsParams{
		id: make([]string, 0, n), market: make([]string, 0, n), source: make([]string, 0, n),
		keyHash: make([][]byte, 0, n), bodyHash: make([][]byte, 0, n), user: make([]*string, 0, n),
		take: make([]*string, 0, n), channel: make([]*string, 0, n),
		media: make([]*string, 0, n), idemKey: make([]*string, 0, n), yes: make([]bool, 0, n),
		price: make([]int32, 0, n), crowd: make([]*int32, 0, n), ttr: make([]*int32, 0, n),
		reach: make([]*int32, 0, n), lean: make([]*int32, 0, n), confidence: make([]*int16, 0, n),
		venue: make([]int16, 0, n), slippage: make([]*int32, 0, n), now: now, rules: rules,
	}
}

// args returns the parameters $1 to $25.
func (p *fileSignalsParams) args() []any {
	return []any{
		p.id, p.keyHash, p.user, p.market, p.yes, p.price, p.crowd, p.confidence, p.take, p.source, p.ttr, p.channel, p.media, p.reach,
		p.idemKey, p.bodyHash, p.lean, p.venue, p.slippage, p.now, p.rules.PriceToleranceBps, p.rules.PastEndIsProvisional,
		p.now.Add(-p.rules.QuoteMaxAge), p.rules.RatedMinVolumeUSD, p.rules.RatedCreators,
	}
}

func (p *fileSignalsParams) add(f *filing) {
	d := &f.draft
	p.id = append(p.id, d.ID)
	p.market = append(p.market, string(d.MarketID))
	p.source = append(p.source, d.Source)
	p.venue = append(p.venue, venueState(d))
	p.keyHash = append(p.keyHash, f.caller.KeyHash)
	p.bodyHash = append(p.bodyHash, d.BodyHash)
	p.take = append(p.take, d.TextTake)
	p.channel = append(p.channel, d.ChannelID)
	p.media = append(p.media, d.MediaAssetID)
	p.idemKey = append(p.idemKey, d.IdempotencyKey)
	p.yes = append(p.yes, d.Side == syntax.Yes)
	p.price = append(p.price, int32(d.Price))
	p.crowd = append(p.crowd, convertInt[int32](d.CrowdYes))
	p.lean = append(p.lean, convertInt[int32](d.CrowdLean))
	p.slippage = append(p.slippage, convertInt[int32](d.MaxSlippage))
	p.ttr = append(p.ttr, convertInt[int32](d.TimeToResolution))
	var user *string
	if f.caller.KeyHash == nil && f.caller.OperatorID != "" {
		user = &f.caller.OperatorID
	}
	p.user = append(p.user, user)
	var reach *int32
	if d.Reach != nil {
		n := int32(min(max(*d.Reach, 0), signal.MaxReach))
		reach = &n
	}
	p.reach = append(p.reach, reach)
	var confidence *int16
	if d.Confidence != nil {
		n := int16(*d.Confidence)
		confidence = &n
	}
	p.confidence = append(p.confidence, confidence)
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
