package postgres

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/signalcast/signalcast/pkg/pg"
	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/services/api/internal/postgres/db"
	"github.com/signalcast/signalcast/services/api/internal/signal"
)

// Rules are the settings of a Store.
type Rules struct {
	PriceToleranceBps    int
	QuoteMaxAge          time.Duration // greatest age of a quote with which the price of a call is verified
	ConfirmAfter         time.Duration // shortest time from a call to its second quote; 0 means second quotes are off
	RatedMinVolumeUSD    float64       // smallest volume at which the market of a venue is rated
	RatedCreators        []string      // creators on Manifold whose markets are rated; "*" means all
	PastEndIsProvisional bool
	ResolveChunk         int           // largest number of calls that one claim transaction scores
	HubURL               string        // base URL of receipts
	ReadBudget           time.Duration // timeout of a read, including the wait for a connection; 0 means pg.ReadBudget
}

// File queues a call, waits until the call is written or rejected, and returns the answer. Error: signal.ErrBusy if the
// queue is full.
func (s *Store) File(ctx context.Context, caller signal.Caller, draft signal.Draft) (signal.Filing, error) {
	f := newFiling(signal.Call{Caller: caller, Draft: draft})
	f.waitForLock = true
	if s.filings.Add(f) == 0 {
		return signal.Filing{}, signal.ErrBusy
	}
	return f.wait(ctx)
}

// FileMany queues several calls together and waits for the answers to all of them. It does not wait for a market that
// another transaction has locked: the verdict of a call on such a market is signal.VerdictUnknown, as for a market that does
// not exist. The caller must then file that call with File. Calls that do not fit into the queue have the error
// signal.ErrBusy.
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

// fileQuick files calls without waiting for locked markets. It returns the calls that have an answer. A call with
// waitForLock on a market that is locked or does not exist has no answer yet; fileQuick moves it to the queue of its market.
func (s *Store) fileQuick(ctx context.Context, batch []*filing) ([]*filing, error) {
	err := s.file(ctx, batch, func(now time.Time) (filingRun, error) { return s.runFiling(ctx, s.writes, batch, now) })
	if err != nil {
		return batch, err
	}
	return slices.DeleteFunc(slices.Clone(batch), s.requeueLocked), nil
}

// fileWaiting files calls and waits for locked markets. All calls of the batch then have an answer.
func (s *Store) fileWaiting(ctx context.Context, batch []*filing) ([]*filing, error) {
	return batch, s.file(ctx, batch, func(now time.Time) (r filingRun, err error) {
		err = pg.InTx(ctx, s.writes, func(tx pgx.Tx) error {
			if err := lockMarkets(ctx, tx, batch); err != nil {
				return err
			}
			r, err = s.runFiling(ctx, tx, batch, now)
			return err
		})
		return r, err
	})
}

// lockMarkets locks the markets of a batch of calls. It waits for other transactions that hold the locks.
func lockMarkets(ctx context.Context, tx pgx.Tx, batch []*filing) error {
	ids := make([]string, len(batch))
	for i, f := range batch {
		ids[i] = string(f.draft.MarketID)
	}
	return wrap("lock markets for calls", db.New(tx).LockMarketsForCalls(ctx, ids))
}

// file writes a batch of calls with the function run, which sets the answer of every call. It notifies the relay if a call
// was filed, and stores when API keys were last used.
func (s *Store) file(ctx context.Context, batch []*filing, run func(now time.Time) (filingRun, error)) error {
	if err := s.AddTolerance(ctx); err != nil {
		return err
	}
	now := s.now().UTC().Truncate(time.Millisecond)
	r, err := run(now)
	if err != nil {
		return err
	}
	if r.filed {
		s.notifier.Add(struct{}{})
	}
	if len(r.used) > 0 {
		_ = s.wq.MarkKeysUsed(ctx, db.MarkKeysUsedParams{Hashes: r.used, Now: now}) // after an error, the next call of the key stores its use
	}
	if err := settleRaced(ctx, s.writes, &r.rejected); err != nil {
		return err
	}
	return s.readReplayed(ctx, s.writes, batch)
}

// filingRun is the result of one execution of the filing statement.
type filingRun struct {
	filed    bool
	used     [][]byte // hashes of API keys whose time of last use must be stored
	rejected raced
}

// fileSignals executes the filing statement, which has three forms. It selects the form that reads the fewest tables,
// because each further table takes time in every batch even if no call needs it.
func (s *Store) fileSignals(ctx context.Context, on db.DBTX, batch []*filing, now time.Time) ([]db.FileSignalsRow, error) {
	q, p := db.New(on), s.fileSignalsParams(batch, now)
	withKey := false
	for _, f := range batch {
		d := &f.draft
		// A call on a market that may be unconfirmed has the verdict stub until its venue was requested.
		if d.CrowdLean != nil || d.MarketID.IsNative() || d.Venue != signal.VenueNotRequested {
			rows, err := q.FileSignalsFull(ctx, db.FileSignalsFullParams(p))
			return pg.Collect(rows, func(r db.FileSignalsFullRow) db.FileSignalsRow { return db.FileSignalsRow(r) }), err
		}
		withKey = withKey || d.IdempotencyKey != nil
	}
	if withKey {
		rows, err := q.FileSignalsWithKey(ctx, db.FileSignalsWithKeyParams(p))
		return pg.Collect(rows, func(r db.FileSignalsWithKeyRow) db.FileSignalsRow { return db.FileSignalsRow(r) }), err
	}
	return q.FileSignals(ctx, p)
}

// runFiling executes the filing statement and sets the answer of every call of the batch. settleRaced may later replace the
// answers of rejected calls.
func (s *Store) runFiling(ctx context.Context, on db.DBTX, batch []*filing, now time.Time) (r filingRun, err error) {
	rows, err := s.fileSignals(ctx, on, batch, now)
	if err != nil {
		return r, filingFault(err)
	}
	for _, row := range rows {
		f := batch[row.N-1]
		f.answer = signal.Filing{
			Verdict: signal.Verdict(row.Verdict), FirstID: pg.Value(row.FirstID), Actor: pg.Value(row.Actor), Prices: signal.Prices{
				Stated: protocol.Bps(row.PriceBps), Basis: protocol.Bps(row.ScoreBasisBps), Verified: row.PriceVerified, Rated: row.Rated,
				MarketYes: convertInt[protocol.Bps](row.MarketYesBps), Yes: convertInt[protocol.Bps](row.YesPriceBps),
				No: convertInt[protocol.Bps](row.NoPriceBps), QuoteAt: row.QuoteAt,
			},
		}
		switch f.answer.Verdict {
		case signal.VerdictFiled:
			r.filed = true
		case verdictRaced, signal.VerdictSettled, signal.VerdictProvisional, signal.VerdictAbsent,
			signal.VerdictMoved, signal.VerdictUnverified:
			r.rejected.add(f)
		case signal.VerdictQuote, signal.VerdictStub:
			if f.waitForLock { // otherwise the caller files the call again with File
				r.rejected.add(f)
			}
		}
		if row.Idle {
			r.used = append(r.used, f.caller.KeyHash)
		}
	}
	return r, nil
}

// refusedInsert is the SQLSTATE that the database trigger on new calls raises when it refuses a call.
const refusedInsert = "SC001"

// filingFault converts a database error of the filing statement. It returns signal.ErrRefused if the trigger refused a call,
// and otherwise the result of pg.Fault.
func filingFault(err error) error {
	var refused *pgconn.PgError
	if errors.As(err, &refused) && refused.Code == refusedInsert {
		return signal.ErrRefused.Wrap(err)
	}
	return pg.Fault(fmt.Errorf("file signals: %w", err))
}

// readReplayed sets the prices of each replayed call to the prices stored with the first call that had the same idempotency
// key.
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
	stored := indexed(rows, func(r db.ListStoredPricesRow) (string, signal.Prices) {
		return r.ID, signal.Prices{
			Stated: protocol.Bps(r.PriceBps), Basis: protocol.Bps(r.ScoreBasisBps), Verified: r.PriceVerified, Rated: r.Rated,
			MarketYes: convertInt[protocol.Bps](r.MarketYesBps), Yes: convertInt[protocol.Bps](r.YesPriceBps), No: convertInt[protocol.Bps](r.NoPriceBps),
		}
	})
	for _, f := range batch {
		if f.answer.Verdict == signal.VerdictReplay {
			f.answer.Prices = stored[f.answer.FirstID]
		}
	}
	return nil
}

// verdictRaced is the verdict of a call that was rejected only because of an earlier call of its operator on the
// market.
const verdictRaced signal.Verdict = "raced"

// raced contains the rejected calls of a batch for which an earlier call of the same operator on the same market may exist.
// The filing statement does not see an earlier call that was committed during its execution.
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

// settleRaced searches for an earlier call of the same operator on the same market, for each call of r. If there is one, the
// answer becomes a duplicate of the earlier call, or a replay if both are the same request. Other answers do not change.
// settleRaced returns an error if a call with verdictRaced has no earlier call.
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
			return fmt.Errorf("call %s was rejected as a second call, but there is no earlier call", f.draft.ID)
		}
	}
	return nil
}

// fileSignalsParams returns the parameters of the filing statement: arrays with one element for each call, and the settings
// of the store.
func (s *Store) fileSignalsParams(batch []*filing, now time.Time) db.FileSignalsParams {
	return db.FileSignalsParams{
		IDs:               column(batch, func(d *signal.Draft) string { return d.ID }),
		KeyHashes:         pg.Collect(batch, func(f *filing) []byte { return f.caller.KeyHash }),
		UserIDs:           pg.Collect(batch, userOf),
		MarketIDs:         column(batch, func(d *signal.Draft) string { return string(d.MarketID) }),
		Yes:               column(batch, func(d *signal.Draft) bool { return d.Side == protocol.Yes }),
		Prices:            column(batch, func(d *signal.Draft) int32 { return int32(d.Price) }),
		Crowds:            column(batch, func(d *signal.Draft) *int32 { return convertInt[int32](d.CrowdYes) }),
		Confidences:       column(batch, func(d *signal.Draft) *int16 { return convertInt[int16](d.Confidence) }),
		Takes:             column(batch, func(d *signal.Draft) *string { return d.TextTake }),
		Sources:           column(batch, func(d *signal.Draft) string { return d.Source }),
		TimesToResolution: column(batch, func(d *signal.Draft) *int32 { return convertInt[int32](d.TimeToResolution) }),
		Channels:          column(batch, func(d *signal.Draft) *string { return d.ChannelID }),
		MediaAssets:       column(batch, func(d *signal.Draft) *string { return d.MediaAssetID }),
		Reaches:           column(batch, storedReach),
		IdemKeys:          column(batch, func(d *signal.Draft) *string { return d.IdempotencyKey }),
		BodyHashes:        column(batch, func(d *signal.Draft) []byte { return d.BodyHash }),
		Leans:             column(batch, func(d *signal.Draft) *int32 { return convertInt[int32](d.CrowdLean) }),
		Venues:            column(batch, venueState),
		Slippages:         column(batch, func(d *signal.Draft) *int32 { return convertInt[int32](d.MaxSlippage) }),

		Now: now, Tolerance: int32(s.rules.PriceToleranceBps), PastEndIsProvisional: s.rules.PastEndIsProvisional,
		OldestQuote: now.Add(-s.rules.QuoteMaxAge), RatedVolume: s.rules.RatedMinVolumeUSD, RatedCreators: s.rules.RatedCreators,
	}
}

// column returns one SQL array parameter. It contains the result of the function member for each draft of a batch.
func column[T any](batch []*filing, member func(d *signal.Draft) T) []T {
	return pg.Collect(batch, func(f *filing) T { return member(&f.draft) })
}

// userOf returns the operator id of a call, or nil if the call has an API key or no operator.
func userOf(f *filing) *string {
	if f.caller.KeyHash != nil || f.caller.OperatorID == "" {
		return nil
	}
	return &f.caller.OperatorID
}

// storedReach returns the audience size that a draft states, limited to 0 to signal.MaxReach, or nil if it states none.
func storedReach(d *signal.Draft) *int32 {
	if d.Reach == nil {
		return nil
	}
	n := int32(min(max(*d.Reach, 0), signal.MaxReach))
	return &n
}

// venueState returns the value of d.Venue for the filing statement. For a draft that allows an unverified call,
// VenueRequested becomes VenueSkipped. A missing quote is then accepted, but MaxSlippage still rejects a worse price.
func venueState(d *signal.Draft) int16 {
	if d.AllowUnverified && d.Venue == signal.VenueRequested {
		return int16(signal.VenueSkipped)
	}
	return int16(d.Venue)
}

// toleranceTimeout is the timeout of AddTolerance. No call is filed until AddTolerance has returned.
const toleranceTimeout = 5 * time.Second

// toleranceState records whether this process has added its price tolerance to the stored history of tolerances.
type toleranceState struct {
	mu   sync.Mutex
	done bool
}

// AddTolerance adds Rules.PriceToleranceBps to the stored history of price tolerances if it differs from the newest entry.
// Every filing runs it first, so no call is stored with a tolerance that the history lacks. After its first success,
// AddTolerance does nothing. Error: db_unavailable.
func (s *Store) AddTolerance(ctx context.Context) error {
	s.tolerance.mu.Lock()
	defer s.tolerance.mu.Unlock()
	if s.tolerance.done {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, toleranceTimeout)
	defer cancel()
	err := inTx(ctx, s.pool, func(q *db.Queries) error {
		if err := q.LockTolerances(ctx); err != nil {
			return err
		}
		return q.AddTolerance(ctx, db.AddToleranceParams{
			Bps: int32(s.rules.PriceToleranceBps), Now: s.now().UTC().Truncate(time.Millisecond),
		})
	})
	if err != nil {
		return pg.Fault(fmt.Errorf("add price tolerance: %w", err))
	}
	s.tolerance.done = true
	return nil
}
