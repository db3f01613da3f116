package app

import (
	"bytes"
	"strings"
	"testing"

	"github.com/signalcast/signalcast/pkg/pg"
	"github.com/signalcast/signalcast/pkg/testkit"
	"github.com/signalcast/signalcast/services/api/internal/postgres"
)

// TestCompareCommands checks that the commands "recount" and "boards verify" exit with 0 on a consistent ledger. On an
// inconsistent one, "boards verify" must exit with 1 and print the difference, until "boards fill" has run.
func TestCompareCommands(t *testing.T) {
	db := testkit.Postgres(t, pg.Schema{Name: "api", Files: postgres.Migrations()})
	t.Setenv("ENV", "test")
	t.Setenv("DATABASE_URL", db.URL("api_rw"))
	run := func(args ...string) (int, string) {
		var out, failed bytes.Buffer
		return Program().Main(t.Context(), args, &out, &failed), out.String() + failed.String()
	}
	for _, args := range [][]string{{"recount"}, {"boards", "verify"}} {
		if code, output := run(args...); code != 0 || !strings.Contains(output, "equals the") {
			t.Errorf("%v: exit code %d, output %q; want 0", args, code, output)
		}
	}
	if _, err := testkit.Pool(t, db.Admin).Exec(t.Context(), `INSERT INTO api.operator_scores (user_id, streak) VALUES (gen_random_uuid(), 3)`); err != nil {
		t.Fatal(err)
	}
	if code, output := run("recount"); code != 0 {
		t.Errorf("recount: exit code %d, output %q; want 0", code, output)
	}
	if code, output := run("boards", "verify"); code != 1 || !strings.Contains(output, "records ") {
		t.Errorf("boards verify: exit code %d, output %q; want 1 and a difference in records", code, output)
	}
	if code, output := run("boards", "fill"); code != 0 {
		t.Errorf("boards fill: exit code %d, output %q; want 0", code, output)
	}
	if code, output := run("boards", "verify"); code != 0 {
		t.Errorf("boards verify after boards fill: exit code %d, output %q; want 0", code, output)
	}
	for _, args := range [][]string{{"boards"}, {"boards", "count"}, {"boards", "fill", "now"}, {"boards", "verify", "now"}} {
		if code, _ := run(args...); code != 2 {
			t.Errorf("%v: exit code %d; want 2", args, code)
		}
	}
}
