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
	ReadBudget           time.Duration // time limit of a read, waiting for a connection included; pg.ReadBudget when zero
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

// FileMany puts calls into the queue together and waits for all their verdicts. It does not wait for markets that another
// transaction has locked: a call on such a market has the verdict unknown, as on a market that does not exist. Callers then file
// it with File.
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

// fileQuick files calls without waiting for locked markets. It returns the calls that have an answer. Patient calls on markets
// that are locked or do not exist have none yet: they move to the queue of their market.
func (s *Store) fileQuick(ctx context.Context, batch []*filing) ([]*filing, error) {
	err := s.file(ctx, batch, func(now time.Time) (filingRun, error) { return s.runFiling(ctx, s.acts, batch, now) })
	if err != nil {
		return batch, err
	}
	return slices.DeleteFunc(slices.Clone(batch), s.handOver), nil
}

// filePatient files calls and waits for their markets if those are locked.
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

// lockMarkets locks the markets of calls, and waits for other transactions that have locked them.
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
		s.bell.Add(struct{}{})
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

// fileSignals executes the form of the filing statement with the fewest tables that the calls of a batch need. The forms exist
// because reading a further table takes time in every batch, also if no call of the batch needs that table.
func (s *Store) fileSignals(ctx context.Context, on db.DBTX, batch []*filing, now time.Time) ([]db.FileSignalsRow, error) {
	q, p := db.New(on), s.fileSignalsParams(batch, now)
	withKey := false
	for _, f := range batch {
		d := &f.draft
		// A market that no venue may have confirmed has the verdict stub while the venue was not asked.
		if d.CrowdLean != nil || d.MarketID.IsNative() || d.Venue != signal.VenueSilent {
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

// runFiling executes the filing statement and sets the answer of every call of the batch. settleRaced may replace the answers of
// the calls in lost.
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
			r.lost.add(f)
		case signal.VerdictQuote, signal.VerdictStub:
			if f.patient { // else the call is filed alone, and read for there
				r.lost.add(f)
			}
		}
		if row.Idle {
			r.used = append(r.used, f.caller.KeyHash)
		}
	}
	return r, nil
}

// refusedInsert is the SQLSTATE of the trigger that checks new calls.
const refusedInsert = "SC001"

// filingFault returns the fault of a filing statement that failed.
func filingFault(err error) error {
	var refused *pgconn.PgError
	if errors.As(err, &refused) && refused.Code == refusedInsert {
		return signal.ErrRefused.Wrap(err)
	}
	return pg.Fault(fmt.Errorf("file signals: %w", err))
}

// readReplayed sets the prices of replayed calls to those stored with the first call of the key.
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

// verdictRaced is the verdict of a call that only an earlier call of its operator on the market prevents.
const verdictRaced signal.Verdict = "raced"

// raced has the calls of a batch that were not filed and may have an earlier call of the same operator, which the filing
// statement did not see if it was committed meanwhile.
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

// settleRaced sets the answer of each call that has an earlier call: a duplicate, or a replay of it. The others keep their
// verdict.
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

// fileSignalsParams returns the parameters of the filing statement: arrays with one element for each call, and the settings.
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

// column returns one member of the drafts of a batch.
func column[T any](batch []*filing, member func(d *signal.Draft) T) []T {
	return pg.Collect(batch, func(f *filing) T { return member(&f.draft) })
}

// userOf returns the user of a call without a key; nil for a call with one.
func userOf(f *filing) *string {
	if f.caller.KeyHash != nil || f.caller.OperatorID == "" {
		return nil
	}
	return &f.caller.OperatorID
}

// storedReach returns the audience that a draft states, within the bounds of the ledger.
func storedReach(d *signal.Draft) *int32 {
	if d.Reach == nil {
		return nil
	}
	n := int32(min(max(*d.Reach, 0), signal.MaxReach))
	return &n
}

// venueState returns the state of the request to the venue for the filing statement. A draft that allows an unverified call has
// the state of a dry run once its venue was asked: MaxSlippage then refuses a worse price, and not the lack of a quote. Before
// that it has VenueSilent, because a quote may still be read.
func venueState(d *signal.Draft) int16 {
	if d.AllowUnverified && d.Venue == signal.VenueAsked {
		return int16(signal.VenueSkipped)
	}
	return int16(d.Venue)
}

// noteTime is the time limit of NoteTolerance, for which calls wait.
const noteTime = 5 * time.Second

// noted holds whether this process has added its setting to the history of tolerances.
type noted struct {
	mu   sync.Mutex
	done bool
}

// NoteTolerance adds the price tolerance to its history if it differs from the newest entry. Every filing calls it first, so
// that no call is stored under a tolerance that is not recorded; it writes once. Fault: db_unavailable.
func (s *Store) NoteTolerance(ctx context.Context) error {
	s.noted.mu.Lock()
	defer s.noted.mu.Unlock()
	if s.noted.done {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, noteTime)
	defer cancel()
	err := inTx(ctx, s.pool, func(q *db.Queries) error {
		if err := q.LockTolerances(ctx); err != nil {
			return err
		}
		return q.NoteTolerance(ctx, db.NoteToleranceParams{
			Bps: int32(s.rules.PriceToleranceBps), Now: s.now().UTC().Truncate(time.Millisecond),
		})
	})
	if err != nil {
		return pg.Fault(fmt.Errorf("note price tolerance: %w", err))
	}
	s.noted.done = true
	return nil
}
