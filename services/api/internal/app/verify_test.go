package app

import (
	"bytes"
	"strings"
	"testing"

	"github.com/signalcast/signalcast/pkg/pg"
	"github.com/signalcast/signalcast/pkg/testkit"
	"github.com/signalcast/signalcast/services/api/internal/postgres"
)

// The two commands that compare end with 0 on a ledger that is right, and with 1 and the
// name of what differs on one that is not, until it is filled anew.
func TestCompareCommands(t *testing.T) {
	db := testkit.Postgres(t, pg.Schema{Name: "api", Files: postgres.Migrations()})
	t.Setenv("ENV", "test")
	t.Setenv("DATABASE_URL", db.URL("api_rw"))
	run := func(args ...string) (int, string) {
		var out, failed bytes.Buffer
		return Program().Main(t.Context(), args, &out, &failed), out.String() + failed.String()
	}
	for _, args := range [][]string{{"recount"}, {"boards", "verify"}} {
		if code, said := run(args...); code != 0 || !strings.Contains(said, "equals the") {
			t.Errorf("%v: %d %q", args, code, said)
		}
	}
	if _, err := testkit.Pool(t, db.Admin).Exec(t.Context(), `INSERT INTO api.operator_scores (user_id, streak) VALUES (gen_random_uuid(), 3)`); err != nil {
		t.Fatal(err)
	}
	if code, said := run("recount"); code != 0 {
		t.Errorf("recount: %d %q", code, said)
	}
	if code, said := run("boards", "verify"); code != 1 || !strings.Contains(said, "records ") {
		t.Errorf("boards verify: %d %q", code, said)
	}
	if code, said := run("boards", "fill"); code != 0 {
		t.Errorf("boards fill: %d %q", code, said)
	}
	if code, said := run("boards", "verify"); code != 0 {
		t.Errorf("boards verify, filled anew: %d %q", code, said)
	}
	for _, args := range [][]string{{"boards"}, {"boards", "count"}, {"boards", "fill", "now"}, {"boards", "verify", "now"}} {
		if code, _ := run(args...); code != 2 {
			t.Errorf("%v: %d", args, code)
		}
	}
}
