package rows

import (
	"context"
	"fmt"
	"time"

	"github.com/signalcast/signalcast/test/prove/client"
	"github.com/signalcast/signalcast/test/prove/internal/frame"
	"github.com/signalcast/signalcast/test/system/scorer"
)

// a5 lets many resolvers with opposed verdicts race for each market: finalize
// against force on native markets, force against scans on a venue's.
var a5 = frame.Row{
	ID: "A5", Title: "one outcome claim per market",
	Fault: frame.Fault{
		What: "a claim does not look for an earlier one and takes its place",
		SQL: `ALTER TABLE api.market_resolutions DISABLE TRIGGER no_change; ALTER TABLE api.signal_results DISABLE TRIGGER no_change;
			CREATE FUNCTION api.forget_claim() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$ BEGIN
				DELETE FROM api.signal_results r USING api.signals s WHERE s.id = r.signal_id AND s.market_id = NEW.market_id;
				DELETE FROM api.market_resolutions WHERE market_id = NEW.market_id;
				RETURN NEW; END $$;
			CREATE TRIGGER forget_claim BEFORE INSERT ON api.market_resolutions FOR EACH ROW EXECUTE FUNCTION api.forget_claim()`,
	},
	Run: func(ctx context.Context, env *frame.Env) (*frame.Seen, error) {
		seen := frame.NewSeen()
		r := claimRace{env: env, seen: seen, callers: 10, resolvers: 64}
		var err error
		if r.ops, err = pool(ctx, env, "a5", 40, 1); err != nil {
			return nil, err
		}
		natives, err := markets(ctx, env, "A5", env.Of(1, 50, 50))
		if err != nil {
			return nil, err
		}
		venues, err := r.venueMarkets(ctx, env.Of(0, 50, 50))
		if err != nil {
			return nil, err
		}
		all := append(natives, venues...)
		won := 0
		for i, id := range all {
			ok, err := r.run(ctx, i, id, i >= len(natives))
			if err != nil {
				return nil, err
			}
			if ok {
				won++
			}
		}
		if err := r.told(ctx, all); err != nil {
			return nil, err
		}
		seen.Volume("%s resolvers, %s signals", frame.Number(len(all)*r.resolvers), frame.Number(len(all)*r.callers))
		seen.OutOf(len(all), won)
		return seen, nil
	},
}

type claimRace struct {
	env                *frame.Env
	seen               *frame.Seen
	ops                []client.Operator
	callers, resolvers int
}

func (r *claimRace) venueMarkets(ctx context.Context, n int) ([]string, error) {
	ids := make([]string, n)
	for i := range ids {
		var err error
		if ids[i], err = r.env.Client.VenueMarket(ctx, r.env.Stack.Venues, fmt.Sprintf("Does venue market %d resolve once?", i), 0.5); err != nil {
			return nil, err
		}
	}
	return ids, nil
}

// run is one market; it is won when one claim stands and nobody heard otherwise.
func (r *claimRace) run(ctx context.Context, i int, market string, venue bool) (bool, error) {
	env := r.env
	for c := range r.callers {
		op := r.ops[(i*r.callers+c)%len(r.ops)]
		a := env.Client.File(ctx, env.Hub(c/2), op.Keys[0], client.Call{Market: market, Yes: c%2 == 0, Price: 1000 + 800*c})
		if err := a.Into(200, nil); err != nil {
			return false, fmt.Errorf("file on %s: %w", market, err)
		}
	}
	if venue {
		if err := env.Client.VenueResolves(ctx, env.Stack.Venues, market, "YES"); err != nil {
			return false, err
		}
	}
	answers := make([]client.Answer, r.resolvers)
	frame.AtOnce(r.resolvers, func(k int) { answers[k] = r.resolver(ctx, k, market, venue) })
	return r.judge(ctx, market, venue, answers)
}

var verdicts = [...]string{"YES", "NO", "INVALID"}

// resolver is the k-th of them: on a venue's market each fourth one is a scan,
// which says nothing of one market.
func (r *claimRace) resolver(ctx context.Context, k int, market string, venue bool) client.Answer {
	env, hub := r.env, r.env.Hub(k)
	switch {
	case venue && k%8 == 0:
		env.Client.Scan(ctx, hub, env.Admin())
		return client.Answer{}
	case venue && k%8 == 4:
		env.Client.ScanByCron(ctx, hub, env.Stack.CronSecret)
		return client.Answer{}
	case venue:
		return env.Client.Force(ctx, hub, env.Admin(), market, "NO")
	case k%2 == 0:
		return env.Client.Finalize(ctx, hub, env.Admin(), market, verdicts[k/2%3])
	default:
		return env.Client.Force(ctx, hub, env.Admin(), market, verdicts[(k/2+1)%3])
	}
}

type record struct {
	Outcome  string `json:"outcome"`
	Resolver string `json:"resolver"`
}

// judge holds every answer against the one claim on record.
func (r *claimRace) judge(ctx context.Context, market string, venue bool, answers []client.Answer) (bool, error) {
	var kept record
	err := r.env.DB.QueryRow(ctx, "SELECT outcome, resolver FROM api.market_resolutions WHERE market_id = $1", market).Scan(&kept.Outcome, &kept.Resolver)
	if err != nil {
		return false, fmt.Errorf("the claim on %s: %w", market, err)
	}
	winners, strange := 0, 0
	for _, a := range answers {
		var told struct{ Outcome record }
		switch {
		case a.Status == 0 && a.Err == nil: // a scan
		case a.Status == 200 && a.Into(200, &told) == nil:
			winners++
			if told.Outcome != kept {
				strange++
			}
		case a.Status == 409 && a.Code() == "already_resolved" && a.Into(409, &told) == nil && told.Outcome == kept:
		default:
			strange++
			r.seen.Wrong("a resolver of %s was answered %s, on record is %+v", market, a, kept)
		}
	}
	byScan := venue && kept.Resolver == "oracle" && winners == 0
	wrong, err := r.scores(ctx, market, kept.Outcome)
	if err != nil {
		return false, err
	}
	ok := strange == 0 && wrong == 0 && (winners == 1 || byScan)
	r.seen.Check(ok, "market %s (%s by %s): %d resolvers were told that they won, %d answers and %d scores differ from the record",
		market, kept.Outcome, kept.Resolver, winners, strange, wrong)
	return ok, nil
}

// scores counts the calls of a market whose result is not what its outcome makes of them.
func (r *claimRace) scores(ctx context.Context, market, verdict string) (wrong int, err error) {
	rows, err := r.env.DB.Query(ctx, `SELECT s.yes, s.score_basis_bps, r.close_price, coalesce(r.status, 'pending'), coalesce(r.score, -999), r.clv_bps
		FROM api.signals s LEFT JOIN api.signal_results r ON r.signal_id = s.id WHERE s.market_id = $1`, market)
	if err != nil {
		return 0, err
	}
	defer rows.Close()
	n := 0
	for ; rows.Next(); n++ {
		var yes bool
		var basis, score int
		var closing, clv *int
		var status string
		if err := rows.Scan(&yes, &basis, &closing, &status, &score, &clv); err != nil {
			return 0, err
		}
		if want := scorer.Scored(yes, basis, verdict, closing); want.Status != status || want.Score != score || !same(want.CLV, clv) {
			wrong++
		}
	}
	return wrong + r.callers - n, rows.Err()
}

func same(a, b *int) bool { return a == nil && b == nil || a != nil && b != nil && *a == *b }

// told waits for the feed and counts what it says: each market and each of its
// calls is resolved once.
func (r *claimRace) told(ctx context.Context, ids []string) error {
	const sql = `SELECT count(*)::integer, count(DISTINCT signal_id)::integer, count(*) FILTER (WHERE type = 'market.resolved')::integer
		FROM api.protocol_events WHERE market_id = ANY ($1) AND type IN ('signal.resolved', 'market.resolved')`
	var events, signals, resolved int
	want := len(ids) * r.callers
	_, err := frame.Until(ctx, 20*time.Second, func() (bool, error) {
		err := r.env.DB.QueryRow(ctx, sql, ids).Scan(&events, &signals, &resolved)
		return signals >= want && resolved >= len(ids), err
	})
	r.seen.Check(signals == want && events == want+len(ids) && resolved == len(ids),
		"the feed tells of %d markets (of %d) and %d signals (of %d), in %d events", resolved, len(ids), signals, want, events)
	return err
}
