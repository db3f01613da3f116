package postgres

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/signalcast/signalcast/pkg/pg"
	"github.com/signalcast/signalcast/pkg/syntax"
	"github.com/signalcast/signalcast/pkg/testkit"
	"github.com/signalcast/signalcast/services/api/internal/signal"
)

func pgTime(t *testing.T) time.Duration {
	out, _ := exec.Command("bash", "-c", `pm=$(head -1 /var/tmp/perfpg/data/postmaster.pid); for p in $pm $(pgrep -P $pm); do awk '{sub(/.*\) /,""); print $12+$13}' /proc/$p/stat; done; awk '{sub(/.*\) /,""); print $14+$15}' /proc/$pm/stat`).Output()
	var n int64
	for _, f := range strings.Fields(string(out)) {
		v, _ := strconv.ParseInt(f, 10, 64)
		n += v
	}
	return time.Duration(n) * 10 * time.Millisecond
}

func TestPerf(t *testing.T) {
	if os.Getenv("PERF") == "" {
		t.Skip()
	}
	db := testkit.Postgres(t, pg.Schema{Name: "api", Files: Migrations()})
	admin := testkit.Pool(t, db.Admin)
	seed, err := os.ReadFile("../../../../test/bench/seed.sql")
	if err != nil {
		t.Fatal(err)
	}
	conn, _ := admin.Acquire(t.Context())
	if _, err := conn.Conn().PgConn().Exec(t.Context(), string(seed)).ReadAll(); err != nil {
		t.Fatal(err)
	}
	conn.Release()
	const ops = 40000
	for _, q := range []string{
		fmt.Sprintf("SELECT bench.add_operators(%d)", ops),
		"SELECT bench.add_markets('kalshi-BENCH-', 'kalshi', 5000)",
		"SELECT bench.add_markets('native-bench-', 'manual', 5000)",
		`INSERT INTO api.operator_keys (id,user_id,hash,prefix,last4,label,permissions,created_at) SELECT id,id,sha256(id::text::bytea),'dk_','abcd','x','{signal}',now() FROM api.users`,
		"VACUUM ANALYZE", "CHECKPOINT",
	} {
		if _, err := admin.Exec(t.Context(), q); err != nil {
			t.Fatal(q, err)
		}
	}
	rows, _ := admin.Query(t.Context(), "SELECT sha256(id::text::bytea) FROM api.users ORDER BY id")
	var hashes [][]byte
	for rows.Next() {
		var h []byte
		_ = rows.Scan(&h)
		hashes = append(hashes, h)
	}
	cfg, _ := pgxpool.ParseConfig(db.URL("api_rw"))
	cfg.MaxConns = 4
	cfg.ConnConfig.RuntimeParams["plan_cache_mode"] = "force_generic_plan"
	cfg.ConnConfig.RuntimeParams["jit"] = "off"
	pool, err := pgxpool.NewWithConfig(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	s := New(pool, Rules{PriceToleranceBps: 1000, PastEndIsProvisional: true, ResolveChunk: 100_000}, time.Now)
	defer s.Close()
	ctx := context.Background()
	_, _ = admin.Exec(ctx, "CREATE EXTENSION IF NOT EXISTS pg_stat_statements")
	next := map[string]int{}
	take := "the order book leans early"
	for _, prefix := range strings.Fields(os.Getenv("PERF")) {
		for _, k := range sizes() {
			total := 12800
			if k == 1 {
				total = 1000
			}
			run := func(n int) {
				for done := 0; done < n; done += k {
					batch := make([]*filing, k)
					for i := range batch {
						x := next[prefix]
						next[prefix]++
						m := (x/ops + (x%ops)*7919) % 5000
						batch[i] = newFiling(signal.Call{Caller: signal.Caller{KeyHash: hashes[x%ops]}, Draft: signal.Draft{
							ID: uuid.Must(uuid.NewV7()).String(), MarketID: syntax.MarketID(prefix + strconv.Itoa(m)), Side: syntax.Yes, Price: 5200, Source: "web", TextTake: &take,
						}})
					}
					if err := s.fileBatch(ctx, batch); err != nil {
						t.Fatal(err)
					}
					for _, f := range batch {
						if f.answer.Verdict != signal.VerdictFiled {
							t.Fatalf("%+v", f.answer)
						}
					}
				}
			}
			run(k * 10)
			best := time.Hour
			for range 2 {
				b := pgTime(t)
				run(total)
				if d := pgTime(t) - b; d < best {
					best = d
				}
			}
			filed := float64(best.Microseconds()) / float64(total)
			// number what was filed
			n, b := 0, pgTime(t)
			for {
				m, err := s.NumberFeed(ctx, 500, func() string { return uuid.Must(uuid.NewV7()).String() })
				if err != nil {
					t.Fatal(err)
				}
				n += m
				if m < 500 {
					break
				}
			}
			numbered := float64((pgTime(t) - b).Microseconds()) / float64(n)
			head, _ := s.FeedHead(ctx)
			b = pgTime(t)
			at := head - int64(n)
			for at < head {
				ev, err := s.ListFeedAfter(ctx, at, 500)
				if err != nil || len(ev) == 0 {
					t.Fatal(err)
				}
				at = ev[len(ev)-1].Seq
			}
			listed := float64((pgTime(t) - b).Microseconds()) / float64(n)
			fmt.Printf("%s batch=%d file=%.1f number=%.1f list=%.1f us of Postgres a row\n", prefix, k, filed, numbered, listed)
			_, _ = admin.Exec(ctx, "VACUUM api.outbox")
		}
	}
}

func sizes() (out []int) {
	for _, s := range strings.Split(os.Getenv("SIZES"), ",") {
		n, _ := strconv.Atoi(s)
		out = append(out, n)
	}
	return out
}
