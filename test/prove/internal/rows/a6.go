package rows

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/signalcast/signalcast/test/prove/client"
	"github.com/signalcast/signalcast/test/prove/internal/frame"
)

// a6 kills the scorer at random moments, in chunks of a thousand and in one
// transaction, and computes every score again from what was planted.
var a6 = frame.Row{
	ID: "A6", Title: "scoring survives a crash half-way, once each", Limit: 4 * time.Minute,
	Fault: frame.Fault{
		What: "the mark of a chunk runs a hundred operators ahead",
		SQL: `CREATE FUNCTION api.run_ahead() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$ BEGIN
				SELECT max(u::text)::uuid INTO NEW.after_user FROM (SELECT user_id AS u FROM api.signals
					WHERE market_id = NEW.market_id AND user_id > NEW.after_user ORDER BY user_id LIMIT 100) ahead;
				RETURN NEW; END $$;
			CREATE TRIGGER run_ahead BEFORE UPDATE ON api.score_drains FOR EACH ROW EXECUTE FUNCTION api.run_ahead()`,
	},
	Run: func(ctx context.Context, env *frame.Env) (*frame.Seen, error) {
		seen := frame.NewSeen()
		ops, err := pool(ctx, env, "a6", env.Of(3000, 10_000, 10_000), 0)
		if err != nil {
			return nil, err
		}
		k := scorerKills{env: env, seen: seen, ops: ops, r: env.Rand("A6")}
		for _, chunk := range []string{"1000", "100000"} {
			if err := k.run(ctx, chunk, env.Of(0, 13, 73)); err != nil {
				return nil, err
			}
			if env.Size == frame.Small {
				break
			}
		}
		if err := client.Rank(ctx, env.DB); err != nil {
			return nil, err
		}
		wrong, err := scoresMatch(ctx, env, ops)
		if err != nil {
			return nil, err
		}
		seen.Check(wrong == 0, "%d operators' scores are not the sum of their results", wrong)
		seen.Figure("kills", k.kills)
		seen.Volume("%s signals on %d markets, %d kills", frame.Number(k.signals), k.markets, k.kills)
		seen.OutOf(k.signals, k.right)
		return seen, nil
	},
}

type scorerKills struct {
	env  *frame.Env
	seen *frame.Seen
	ops  []client.Operator
	r    *rand.Rand

	markets, kills, signals, right int
	usual                          time.Duration // of a scoring, as far as it is known
}

// run is one large market killed five times, and smaller ones killed twice.
func (k *scorerKills) run(ctx context.Context, chunk string, more int) error {
	l, err := startSide(ctx, k.env, map[string]string{"RESOLVE_CHUNK": chunk})
	if err != nil {
		return err
	}
	defer l.stop()
	k.usual = 300 * time.Millisecond
	if err := k.one(ctx, l, len(k.ops), k.env.Of(1, 5, 5)); err != nil {
		return err
	}
	for range more {
		if err := k.one(ctx, l, len(k.ops)*3/10, 2); err != nil {
			return err
		}
	}
	return nil
}

func (k *scorerKills) one(ctx context.Context, l *sideLedger, signals, kills int) error {
	m, err := plantLarge(ctx, k.env, k.r, "A6", k.ops, signals)
	if err != nil {
		return err
	}
	verdict := verdicts[k.r.IntN(len(verdicts))]
	for range kills {
		if err := k.kill(ctx, l, m, verdict); err != nil {
			return err
		}
	}
	began := time.Now()
	if ok, err := frame.Until(ctx, 20*time.Second, func() (bool, error) { return k.claim(ctx, l, m, verdict).Status == 200, nil }); !ok {
		return fmt.Errorf("the claim on %s is not taken: %w", m.id, err)
	}
	if err := m.drained(ctx, k.env, l); err != nil {
		k.seen.Wrong("%v", err)
	}
	k.usual = max(50*time.Millisecond, min(time.Since(began), 2*time.Second))
	right, unscored, err := m.right(ctx, k.env, verdict)
	k.seen.Check(right == signals, "market %s: %d of %d scored right, %d not scored", m.id, right, signals, unscored)
	k.markets, k.signals, k.right = k.markets+1, k.signals+signals, k.right+right
	return err
}

// kill ends the scorer somewhere in its work and starts it again.
func (k *scorerKills) kill(ctx context.Context, l *sideLedger, m large, verdict string) error {
	done := make(chan struct{})
	go func() {
		defer close(done)
		k.claim(ctx, l, m, verdict)
	}()
	time.Sleep(time.Duration(k.r.Int64N(int64(k.usual))))
	l.api.Kill()
	k.kills++
	<-done
	return l.api.Start(ctx)
}

// claim makes the claim, or goes on with it when it stands.
func (k *scorerKills) claim(ctx context.Context, l *sideLedger, m large, verdict string) client.Answer {
	a := k.env.Client.Finalize(ctx, l.hub.URL, k.env.Admin(), m.id, verdict)
	if a.Status == 409 {
		a = k.env.Client.Scan(ctx, l.hub.URL, k.env.Admin())
	}
	return a
}
