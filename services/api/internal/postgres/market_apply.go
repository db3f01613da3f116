package postgres

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/signalcast/signalcast/pkg/pg"
	"github.com/signalcast/signalcast/pkg/syntax"
	"github.com/signalcast/signalcast/services/api/internal/market"
)

// applyBatch bounds the rows that one transaction holds.
const applyBatch = 500

// ApplyRecords keeps venue answers, each batch in one transaction, and gives
// the number of answers that were newer than what was kept. With every, each
// price of an open market becomes a snapshot.
func (s *Store) ApplyRecords(ctx context.Context, records []market.Record, every bool, now time.Time) (int, error) {
	newer := 0
	for len(records) > 0 {
		n := min(len(records), applyBatch)
		kept, err := s.applyBatch(ctx, records[:n], every, now)
		if err != nil {
			return newer, err
		}
		newer += kept
		records = records[n:]
	}
	return newer, nil
}

func (s *Store) applyBatch(ctx context.Context, records []market.Record, every bool, now time.Time) (newer int, err error) {
	byID := make(map[string]*market.Record, len(records))
	var q quoteColumns
	for i := range records {
		byID[string(records[i].ID)] = &records[i]
		q.add(&records[i], now)
	}
	err = pg.InTx(ctx, s.pool, func(tx pgx.Tx) error {
		rows, err := tx.Query(ctx, query("market_quote"), append(q.args(), now)...)
		if err != nil {
			return fmt.Errorf("write quotes: %w", err)
		}
		ids, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if err != nil {
			return fmt.Errorf("write quotes: %w", err)
		}
		newer = len(ids)
		if newer == 0 {
			return nil
		}
		return keepMarkets(ctx, tx, byID, ids, every, now)
	})
	return newer, err
}

// keepMarkets writes the rows of the answers that won; the quotes' locks, taken
// just before, keep other writers of the same markets waiting.
func keepMarkets(ctx context.Context, tx pgx.Tx, byID map[string]*market.Record, ids []string, every bool, now time.Time) error {
	var c marketColumns
	var p quoteColumns
	for _, id := range ids {
		r := byID[id]
		c.add(r)
		if r.Status == syntax.MarketOpen && r.Yes != nil {
			p.add(r, now)
		}
	}
	if _, err := tx.Exec(ctx, query("market_keep"), append([]any{now}, c.args()...)...); err != nil {
		return fmt.Errorf("write markets: %w", err)
	}
	if err := publishCalls(ctx, tx, ids, now); err != nil {
		return err
	}
	if len(p.id) == 0 {
		return nil
	}
	if _, err := tx.Exec(ctx, query("market_snapshot"), p.id, p.at, p.yes, every); err != nil {
		return fmt.Errorf("write snapshots: %w", err)
	}
	return nil
}

// quoteColumns are the arrays of the quote statement, one element a market.
type quoteColumns struct {
	id                       []string
	at                       []time.Time
	yes                      []*int32
	volume, usd, day, liquid []*float64
	open                     []bool
	quotes                   quotePrices
}

// quotePrices are the arrays of the prices of each side, null for an answer without a quote.
type quotePrices struct {
	yes, no []*int32
	at      []*time.Time
	rule    []*string
	sha     [][]byte
}

func (c *quotePrices) add(q *market.Quote, now time.Time) {
	if q = q.Clean(now); q == nil {
		q = &market.Quote{}
		c.yes, c.no, c.at, c.rule = append(c.yes, nil), append(c.no, nil), append(c.at, nil), append(c.rule, nil)
	} else {
		c.yes, c.no, c.at, c.rule = append(c.yes, narrow(&q.Yes)), append(c.no, narrow(&q.No)), append(c.at, &q.At), append(c.rule, &q.Rule)
	}
	c.sha = append(c.sha, q.SHA256)
}

func (c *quoteColumns) add(r *market.Record, now time.Time) {
	c.id = append(c.id, string(r.ID))
	c.at = append(c.at, r.FetchedAt)
	c.yes = append(c.yes, narrow(r.Yes))
	c.volume = append(c.volume, r.Volume)
	c.usd = append(c.usd, r.VolumeUSD)
	c.day = append(c.day, r.Volume24h)
	c.liquid = append(c.liquid, r.Liquidity)
	c.open = append(c.open, r.Status == syntax.MarketOpen)
	c.quotes.add(r.Quote, now)
}

func (c *quoteColumns) args() []any {
	return []any{
		c.id, c.at, c.yes, c.volume, c.usd, c.day, c.liquid, c.open,
		c.quotes.yes, c.quotes.no, c.quotes.at, c.quotes.rule, c.quotes.sha,
	}
}

// labelBreak parts the two outcome labels inside one array element.
const labelBreak = "\x1f"

// marketColumns are the arrays of the keep statement, one element a market.
type marketColumns struct {
	id, provider, title, description, status, lane, category, slug, eventKey []string
	eventTitle, condition, token, labels, image, url, unit                   []string
	at                                                                       []time.Time
	end                                                                      []*time.Time
	provisional, short, guessed                                              []bool
	verdict, payout                                                          []*string
	yesIndex                                                                 []int16
	creator                                                                  []string
	closed                                                                   []*time.Time
}

func (c *marketColumns) add(r *market.Record) {
	c.id = append(c.id, string(r.ID))
	c.provider = append(c.provider, string(r.ID.Provider()))
	c.title = append(c.title, r.Title)
	c.description = append(c.description, r.Description)
	c.status = append(c.status, string(r.Status))
	c.lane = append(c.lane, string(r.Lane))
	c.category = append(c.category, r.Category)
	c.slug = append(c.slug, r.Slug)
	c.eventKey = append(c.eventKey, r.EventKey)
	c.eventTitle = append(c.eventTitle, r.EventTitle)
	c.condition = append(c.condition, r.ConditionID)
	c.token = append(c.token, r.ClobTokenID)
	c.labels = append(c.labels, strings.Join(r.Outcomes, labelBreak))
	c.image = append(c.image, r.ImageURL)
	c.url = append(c.url, r.URL)
	c.unit = append(c.unit, r.VolumeUnit)
	c.at = append(c.at, r.FetchedAt)
	c.end = append(c.end, r.EndDate)
	c.provisional = append(c.provisional, r.Provisional)
	c.verdict = append(c.verdict, (*string)(r.Verdict))
	c.payout = append(c.payout, r.Payout)
	c.yesIndex = append(c.yesIndex, int16(r.YesIndex))
	c.short = append(c.short, r.Short)
	c.guessed = append(c.guessed, r.Guessed)
	c.creator = append(c.creator, r.Creator)
	c.closed = append(c.closed, r.ClosedAt)
}

// args follow the statement's parameters from $2 on.
func (c *marketColumns) args() []any {
	return []any{
		c.id, c.at, c.provider, c.title, c.description, c.status, c.provisional,
		c.end, c.verdict, c.payout, c.lane, c.category, c.slug, c.eventKey,
		c.eventTitle, c.condition, c.token, c.yesIndex, c.labels, c.image, c.url, c.unit, c.short, c.guessed, c.creator, c.closed,
	}
}

// InsertStub stores a market that no venue has confirmed, once, for a call of an operator. Its
// title is its id. stored is false, and nothing is written, where market.MaxUnconfirmed calls
// of the operator are on such markets.
func (s *Store) InsertStub(ctx context.Context, id syntax.MarketID, operator string, now time.Time) (stored bool, err error) {
	var waiting int
	if err := s.pool.QueryRow(ctx, query("unconfirmed_count"), operator).Scan(&waiting); err != nil {
		return false, pg.Fault(fmt.Errorf("count unconfirmed calls: %w", err))
	}
	if waiting >= market.MaxUnconfirmed {
		return false, nil
	}
	return true, insertStub(ctx, s.pool, id, now)
}

func insertStub(ctx context.Context, db interface {
	Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error)
}, id syntax.MarketID, now time.Time,
) error {
	if _, err := db.Exec(ctx, query("market_stub"), string(id), string(id.Provider()), now); err != nil {
		return pg.Fault(fmt.Errorf("insert stub: %w", err))
	}
	return nil
}

// InsertNative creates a native market with its first quote and snapshot.
func (s *Store) InsertNative(ctx context.Context, m market.Market) error {
	if _, err := s.pool.Exec(ctx, query("market_native"), nativeArgs(m)...); err != nil {
		return pg.Fault(fmt.Errorf("insert native market: %w", err))
	}
	return nil
}

func nativeArgs(m market.Market) []any {
	return []any{
		string(m.ID), m.Title, m.Description, m.EndDate, string(m.Lane),
		m.Category, m.ResolvesBy, m.ResolutionSource, narrow(m.InitialYes), m.CreatedBy, m.CreatedAt,
	}
}
