package postgres

import (
	"context"
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
		_, _ = s.acts.Exec(ctx, query("operator_key_used"), r.used, now) // else the key's next call notes it
	}
	return settleRaced(ctx, s.acts, &r.lost)
}

// filingRun is what a run of the filing statement did.
type filingRun struct {
	filed bool
	used  [][]byte // keys whose use is to be noted
	lost  raced
}

// runFiling runs the filing statement and sets the answer of every member but of those
// that lost to another one.
func (s *Store) runFiling(ctx context.Context, db asker, batch []*filing, need parts, now time.Time) (r filingRun, err error) {
	c := newFilingColumns(len(batch))
	for _, f := range batch {
		c.add(f)
		need |= f.needs()
	}
	rows, err := db.Query(ctx, filingStatements[need], c.id, c.keyHash, c.user, c.market, c.title, c.yes, c.price,
		c.crowd, c.confidence, c.take, c.source, c.ttr, c.channel, c.media, c.reach, c.idemKey, c.bodyHash, c.lean,
		now, s.rules.PriceToleranceBps, s.rules.PastEndIsProvisional, c.venue)
	if err != nil {
		return r, pg.Fault(fmt.Errorf("file signals: %w", err))
	}
	var (
		n       int
		verdict string
		first   *string
		actor   *string
		idle    bool
	)
	_, err = pgx.ForEachRow(rows, []any{&n, &verdict, &first, &actor, &idle}, func() error {
		f := batch[n-1]
		f.answer = signal.Filing{Verdict: signal.Verdict(verdict)}
		if first != nil && !teeth.Bites("B3") {
			f.answer.FirstID = *first
		}
		switch f.answer.Verdict {
		case signal.VerdictFiled:
			r.filed = true
		case verdictRaced, signal.VerdictSettled, signal.VerdictProvisional, signal.VerdictAbsent:
			r.lost.add(f, *actor)
		}
		if idle {
			r.used = append(r.used, f.caller.KeyHash)
		}
		return nil
	})
	if err != nil {
		return r, pg.Fault(fmt.Errorf("file signals: %w", err))
	}
	return r, nil
}

// verdictRaced is that of a filing that lost to one that committed meanwhile.
const verdictRaced signal.Verdict = "raced"

// raced are filings that may have lost to an earlier call that their statement could
// not see yet: what it read is older than the locks that it waited for.
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
func settleRaced(ctx context.Context, db asker, r *raced) error {
	if len(r.list) == 0 {
		return nil
	}
	rows, err := db.Query(ctx, query("signal_file_raced"), r.market, r.actor, r.id, r.key, r.hash)
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
		f.answer = signal.Filing{Verdict: signal.VerdictDuplicate, FirstID: first}
		if teeth.Bites("B3") {
			f.answer.FirstID = ""
		}
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
	id, market, source                         []string
	keyHash, bodyHash                          [][]byte
	user, title, take, channel, media, idemKey []*string
	yes                                        []bool
	price                                      []int32
	crowd, ttr, reach, lean                    []*int32
	confidence                                 []*int16
	venue                                      []int16
}

func newFilingColumns(n int) *filingColumns {
	return &filingColumns{
		id: make([]string, 0, n), market: make([]string, 0, n), source: make([]string, 0, n),
		keyHash: make([][]byte, 0, n), bodyHash: make([][]byte, 0, n), user: make([]*string, 0, n),
		title: make([]*string, 0, n), take: make([]*string, 0, n), channel: make([]*string, 0, n),
		media: make([]*string, 0, n), idemKey: make([]*string, 0, n), yes: make([]bool, 0, n),
		price: make([]int32, 0, n), crowd: make([]*int32, 0, n), ttr: make([]*int32, 0, n),
		reach: make([]*int32, 0, n), lean: make([]*int32, 0, n), confidence: make([]*int16, 0, n),
		venue: make([]int16, 0, n),
	}
}

func (c *filingColumns) add(f *filing) {
	d := &f.draft
	c.id = append(c.id, d.ID)
	c.market = append(c.market, string(d.MarketID))
	c.source = append(c.source, d.Source)
	c.venue = append(c.venue, int16(d.Venue))
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
