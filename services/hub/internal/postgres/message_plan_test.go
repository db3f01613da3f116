package postgres_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/signalcast/signalcast/pkg/testkit"
	"github.com/signalcast/signalcast/services/hub/internal/postgres"
)

// TestMessagePagesReadOneIndex checks that a page of messages is read from one index in its order, even with the generic query
// plan of Postgres.
func TestMessagePagesReadOneIndex(t *testing.T) {
	t.Parallel()
	db := testkit.Postgres(t, postgres.Schema(""))
	conn, err := testkit.Pool(t, db.Admin).Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Release()
	run := func(sql string) string {
		t.Helper()
		results, err := conn.Conn().PgConn().Exec(t.Context(), sql).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		var lines []string
		for _, row := range results[len(results)-1].Rows {
			lines = append(lines, string(row[0]))
		}
		return strings.Join(lines, "\n")
	}
	run(`SET search_path = hub; SET plan_cache_mode = force_generic_plan;
		INSERT INTO messages (id, type, denpa_id, public_key, nonce, body, attested, status, attempt, received_at, tried_at, accepted_at)
		SELECT 'msg_' || encode(sha256(n::text::bytea), 'hex'), 'signal.create', lpad((n % 10)::text, 32, '0')::uuid, repeat('a', 64),
			lpad(n::text, 16, '0'), '{}', false, 'accepted', gen_random_uuid(), now() - n * interval '1 second', now(), now()
		FROM generate_series(1, 5000) n;
		ANALYZE messages`)
	statements, err := os.ReadFile("db/messages.sql.go")
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"ListMessages('0001-01-01Z', '9999-01-01Z', '', NULL, 'signal.create', 51)":                                     "messages_new",
		"ListMessagesOfPassport(lpad('7', 32, '0')::uuid, '0001-01-01Z', '9999-01-01Z', '', NULL, 'signal.create', 51)": "messages_of_passport",
	} {
		statement, _, _ := strings.Cut(name, "(")
		text := regexp.MustCompile("(?s)`-- name: " + statement + " :many\n(.*?)`").FindSubmatch(statements)
		if text == nil {
			t.Fatalf("no statement %s", statement)
		}
		run("PREPARE " + statement + " AS " + string(text[1]))
		if plan := run("EXPLAIN EXECUTE " + name); !strings.Contains(plan, "Index Scan using "+want) || strings.Contains(plan, "Sort") {
			t.Errorf("%s does not read the index %s in order:\n%s", statement, want, plan)
		}
	}
}
