package postgres

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"
	"strconv"
)

func cpu(pid int) time.Duration {
	raw, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	f := strings.Fields(string(raw[strings.LastIndex(string(raw), ")")+2:]))
	u, _ := strconv.Atoi(f[11]); s, _ := strconv.Atoi(f[12])
	return time.Duration(u+s) * 10 * time.Millisecond
}

func TestZZ(t *testing.T) {
	b := setup(t)
	b.exec(`INSERT INTO api.markets (market_id, provider, title, status, end_date, lane, category, event_key, event_title, slug, fetched_at, created_at, updated_at)
		SELECT (500000+i)::text, 'polymarket', 'Will the gauge number ' || i || ' read above six metres?', 'open', $1::timestamptz + (i % 400 + 1) * interval '1 hour', 'SCIENCE', 'science', 'event-' || i/3, 'River levels '||i/3, 'gauge-'||i, $1, $1, $1
		FROM generate_series(1,50000) i`, noon)
	b.exec(`INSERT INTO api.market_quotes (market_id, yes_bps, at, volume, volume_usd, volume24h) SELECT (500000+i)::text, 5000, $1::timestamptz - (i % 540) * interval '1 second', i, i%2000, i FROM generate_series(1,50000) i`, noon)
	for q := 96; q >= 0; q-- {
		b.exec(`INSERT INTO api.market_prices (market_id, at, yes_bps) SELECT (500000+i)::text, $1::timestamptz - $2::integer * interval '15 minutes' - (i % 540) * interval '1 second', 5000 + i * $2 % 97 + CASE WHEN i % 25 = 0 THEN 200 ELSE 0 END FROM generate_series(1,50000) i`, noon, q)
	}
	b.exec(`VACUUM ANALYZE api.markets, api.market_quotes, api.market_prices`)
	conn, err := b.rw.Acquire(t.Context())
	if err != nil { t.Fatal(err) }
	var pid int
	_ = conn.QueryRow(t.Context(), "SELECT pg_backend_pid()").Scan(&pid)
	for _, share := range []int{1000, 0} {
		b.exec(`UPDATE api.market_quotes SET volume_usd = volume_usd + 1000 WHERE $1 = 0`, share)
		for range 4 {
			before, begin := cpu(pid), time.Now()
			rows, err := conn.Query(t.Context(), query("oracle_facts"), noon)
			if err != nil { t.Fatal(err) }
			n := 0
			for rows.Next() { n++ }
			fmt.Println(share, n, "wall", time.Since(begin), "backend cpu", cpu(pid)-before)
		}
	}
}
