package postgres

import (
	"testing"

	"github.com/signalcast/signalcast/pkg/testkit"
)

// TestEveryStatementPrepares: each statement fits the tables, as the role that runs it.
func TestEveryStatementPrepares(t *testing.T) {
	t.Parallel()
	db := testkit.Postgres(t, Schema(""))
	conn, err := testkit.Pool(t, db.URL("hub_rw")).Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Release()
	if len(queries) < 8 {
		t.Errorf("only %d statements", len(queries))
	}
	for name := range queries {
		if _, err := conn.Conn().Prepare(t.Context(), "", query(name)); err != nil {
			t.Errorf("queries/%s.sql: %v", name, err)
		}
	}
}
