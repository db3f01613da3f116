package rows

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"

	"github.com/signalcast/signalcast/test/prove/client"
	"github.com/signalcast/signalcast/test/prove/internal/frame"
	"github.com/signalcast/signalcast/test/system/scorer"
)

// a9 compares the product's prices and scores with a second implementation: the
// pure rules on many cases, and the statements of the database on calls that were
// filed and resolved through the doors.
var a9 = frame.Row{
	ID: "A9", Title: "price convention and score are exact",
	Fault: frame.Fault{
		What: "a lost call of a round price costs a cent less",
		SQL: `CREATE FUNCTION api.soften() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
				IF NEW.status = 'lost' AND NEW.score % 10 = 0 THEN NEW.score := NEW.score + 1; END IF;
				RETURN NEW; END $$;
			CREATE TRIGGER soften BEFORE INSERT ON api.signal_results FOR EACH ROW EXECUTE FUNCTION api.soften()`,
	},
	Run: func(ctx context.Context, env *frame.Env) (*frame.Seen, error) {
		seen := frame.NewSeen()
		pure, differ, err := pureCases(ctx, env, env.Of(0, 100_000, 1_000_000))
		if err != nil {
			return nil, err
		}
		seen.Check(differ == 0, "%d of %d pure cases differ", differ, pure)
		s := sample{env: env, seen: seen, r: env.Rand("A9")}
		if s.ops, err = pool(ctx, env, "a9", 100, 1); err != nil {
			return nil, err
		}
		for i := range env.Of(5, 120, 300) {
			if err := s.market(ctx, i); err != nil {
				return nil, err
			}
		}
		seen.Volume("%s cases, %s through the database", frame.Number(pure), frame.Number(s.n))
		seen.Promise("differences 0", fmt.Sprintf("differences %d", differ+s.differ))
		return seen, nil
	},
}

var casesLine = regexp.MustCompile(`(\d+) cases, (\d+) differ`)

// pureCases hands cases to the test of the product's pure rules.
func pureCases(ctx context.Context, env *frame.Env, n int) (cases, differ int, err error) {
	if n == 0 {
		return 0, 0, nil
	}
	var lines bytes.Buffer
	for r := env.Rand("A9 pure"); n > 0; n-- {
		c := scorer.Random(r)
		lines.WriteString(scorer.Line(c, scorer.Of(c)) + "\n")
	}
	path := filepath.Join(env.Stack.Dir(), "cases.txt")
	if err := os.WriteFile(path, lines.Bytes(), 0o600); err != nil {
		return 0, 0, err
	}
	cmd := exec.CommandContext(ctx, "go", "test", "-count=1", "-v", "-run", "^TestCases$", "./services/api/internal/resolve")
	cmd.Dir, cmd.Env = env.Root, append(os.Environ(), "SCORE_CASES="+path)
	out, failed := cmd.CombinedOutput()
	m := casesLine.FindSubmatch(out)
	if m == nil {
		return 0, 0, fmt.Errorf("the pure rules were not tested: %w\n%s", failed, out)
	}
	cases, _ = strconv.Atoi(string(m[1])) // digits, as the pattern says
	differ, _ = strconv.Atoi(string(m[2]))
	return cases, differ, nil
}

// sample files calls on markets of a venue and resolves them.
type sample struct {
	env       *frame.Env
	seen      *frame.Seen
	r         *rand.Rand
	ops       []client.Operator
	n, differ int
}

func (s *sample) market(ctx context.Context, i int) error {
	env := s.env
	id, err := env.Client.VenueMarket(ctx, env.Stack.Venues, fmt.Sprintf("Is venue market %d priced right?", i), float64(s.r.IntN(10001))/10000)
	if err != nil {
		return err
	}
	const perMarket = 10
	filed := map[string]scorer.Case{}
	for k := range perMarket {
		c := scorer.Random(s.r)
		op := s.ops[(i*perMarket+k)%len(s.ops)]
		before, err := s.snap(ctx, id)
		if err != nil {
			return err
		}
		a := env.Client.File(ctx, env.Hub(k), op.Keys[0], client.Call{Market: id, Yes: c.Yes, Price: c.Price})
		if err := a.Into(200, nil); err != nil {
			return err
		}
		if c.Snap, err = s.snap(ctx, id); err != nil {
			return err
		}
		// The first call brings the market in; a price that moved meanwhile says nothing.
		if k == 0 || same(before, c.Snap) {
			if c.Tolerance, err = s.belowMiddle(ctx, id, c); err != nil {
				return err
			}
			filed[a.Text("id")] = c
		}
		if k == perMarket/2 { // the second half is filed without a snapshot
			if _, err := env.DB.Exec(ctx, "DELETE FROM api.market_quotes WHERE market_id = $1", id); err != nil {
				return err
			}
		}
	}
	verdict := verdicts[s.r.IntN(len(verdicts))]
	if _, err := env.DB.Exec(ctx, "INSERT INTO api.market_prices (market_id, at, yes_bps) VALUES ($1, now(), $2)", id, s.r.IntN(10001)); err != nil {
		return err
	}
	if err := env.Client.Force(ctx, env.Hub(i), env.Admin(), id, verdict).Into(200, nil); err != nil {
		return err
	}
	return s.compare(ctx, id, verdict, filed)
}

// snap is the market's newest snapshot, nil when there is none.
func (s *sample) snap(ctx context.Context, market string) (yes *int, err error) {
	err = s.env.DB.QueryRow(ctx, "SELECT max(yes_bps) FROM api.market_quotes WHERE market_id = $1", market).Scan(&yes)
	return yes, err
}

// belowMiddle is how far below the middle of the market the price of a side is: less than zero
// with a spread. Without a quote the stated price is the scoring price, however low.
func (s *sample) belowMiddle(ctx context.Context, market string, c scorer.Case) (bps int, err error) {
	var yes, no *int
	err = s.env.DB.QueryRow(ctx, "SELECT max(yes_price_bps), max(no_price_bps) FROM api.market_quotes WHERE market_id = $1", market).Scan(&yes, &no)
	switch {
	case err != nil || c.Snap == nil || yes == nil:
		return 10_000, err
	case c.Yes:
		return *c.Snap - *yes, nil
	}
	return 10_000 - *c.Snap - *no, nil
}

func (s *sample) compare(ctx context.Context, market, verdict string, filed map[string]scorer.Case) error {
	rows, err := s.env.DB.Query(ctx, `SELECT s.id::text, s.price_bps, s.score_basis_bps, r.status, r.score, r.outcome, r.clv_bps,
			(SELECT p.yes_bps FROM api.market_prices p WHERE p.market_id = s.market_id AND p.at <= r.resolved_at ORDER BY p.at DESC LIMIT 1)
		FROM api.signals s JOIN api.signal_results r ON r.signal_id = s.id WHERE s.market_id = $1`, market)
	if err != nil {
		return err
	}
	defer rows.Close()
	found := 0
	for rows.Next() {
		var id string
		var got scorer.Result
		var closing *int
		if err := rows.Scan(&id, &got.Price, &got.Basis, &got.Status, &got.Score, &got.Outcome, &got.CLV, &closing); err != nil {
			return err
		}
		c, ours := filed[id]
		if !ours {
			continue
		}
		found++
		c.Verdict, c.Close = verdict, closing
		if want := scorer.Of(c); scorer.Line(c, want) != scorer.Line(c, got) {
			s.differ++
			s.seen.Wrong("the record has %s, the second implementation %s", scorer.Line(c, got), scorer.Line(c, want))
		}
	}
	s.n += found
	s.seen.Check(found == len(filed), "market %s: %d of %d calls have a result", market, found, len(filed))
	return rows.Err()
}
